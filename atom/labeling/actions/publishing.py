"""Publish accepted labels as the next version of the dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock, outbox
from atom.core.background import enqueue
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.core.storage import project_store
from atom.datasets.catalog.actions.catalogue import unpin
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.models import Version
from atom.labeling import states
from atom.labeling.actions.label_tasks import PIN_HOLDER
from atom.labeling.actions.progress import notify_progress
from atom.labeling.actions.transitions import transition
from atom.labeling.engines import documents, layers, objects, sampling
from atom.labeling.engines.checking import ontology_of
from atom.labeling.errors import NothingToPublish, TaskFilling, UnfinishedItems
from atom.labeling.models import AuditDecision, LabelTask, WorkItem, WorkSlot
from atom.labeling.models.tasks import IMAGE_OBJECTS
from atom_sdk.annotations.layer import PictureRow, rows_table
from atom_sdk.manifests import read_root
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_CURSOR_ROWS = 5000
# By name: tasks import actions, never the reverse.
_PUBLISH_TASK = "atom.labeling.tasks.publish_labels"
AUDITED, CORRECTED, NOT_SAMPLED = "accepted", "corrected", "not_sampled"


def request_publish(task: LabelTask, user: User, *, partial: bool) -> LabelTask:
    """Start publishing in the background; asking again while it runs or is done is fine.

    Raises UnfinishedItems (with their number) unless `partial`, NothingToPublish, TaskFilling.
    """
    with transaction.atomic():
        locked = LabelTask.objects.for_display().select_for_update(of=("self",)).get(pk=task.pk)
        if locked.state in {states.PUBLISHING, states.PUBLISHED}:
            return locked
        transition(locked, states.PUBLISHING, states.TASK_STATES)
        if locked.populated_at is None:
            raise TaskFilling
        _check_items(locked, partial=partial)
        locked.publish_partial, locked.publish_requested_by = partial, user
        locked.publish_requested_at = clock.now()
        locked.publish_error_code = locked.publish_error_detail = ""
        locked.save()
        named = {"name": locked.name, "partial": partial}
        audit.record(user, "label_task.publish_requested", locked, locked.project, **named)
        notify_progress(locked.pk)
        enqueue(_PUBLISH_TASK, str(locked.pk))
    return locked


def publish_task(task_id: UUID) -> None:
    """Publish the labels of a task that is PUBLISHING; return quietly if it is not.

    Safe to run again after a kill at any line: a version that exists already is adopted.
    """
    with only_worker(task_id) as mine:
        task = LabelTask.objects.for_display().filter(pk=task_id).first()
        if not mine or task is None or task.state != states.PUBLISHING:
            return
        try:
            version = _published_version(task) or _publish_layer(task)
        except AtomError as exc:
            _fail(task, exc)
        else:
            root = read_root(bytes.fromhex(version.readable_root), project_store(task.project))
            _finish(task, version, _replaced(task, root))


def _check_items(task: LabelTask, *, partial: bool) -> None:
    unfinished = task.items.exclude(state__in=states.ITEM_FINISHED).count()
    if unfinished and not partial:
        raise UnfinishedItems(
            Sentence(
                "labeling.not_finished",
                "Items that are not finished: {count}.",
                count=unfinished,
            ),
            unfinished=unfinished,
        )
    if not task.items.filter(state=states.ACCEPTED).exists():
        raise NothingToPublish


def _published_version(task: LabelTask) -> Version | None:
    return Version.objects.filter(
        dataset_id=task.dataset_id, provenance__label_task=str(task.pk)
    ).first()


def _publish_layer(task: LabelTask) -> Version:
    # Fixed by the request, so that a second try after a kill writes the same commit.
    created_at = task.publish_requested_at or clock.now()

    def details(root: Root) -> CommitDetails:
        return CommitDetails(
            author=task.publish_requested_by,
            message=f"Labels of {task.name}",
            created_at=created_at,
            provenance=_provenance(task, len(_replaced(task, root))),
        )

    return publish_layer(task.dataset, "main", _layer(task), details)


def _replaced(task: LabelTask, root: Root) -> list[UUID]:
    """Return the accepted items whose picture that version does not have with these bytes."""
    accepted = task.items.filter(state=states.ACCEPTED).values_list("pk", "path", "digest")
    store = project_store(task.project)
    return layers.replaced_pictures(accepted.iterator(_CURSOR_ROWS), root, store)


def _layer(task: LabelTask) -> NamedLayer:
    if task.modality == IMAGE_OBJECTS:
        return NamedLayer(objects.NAME, objects.KIND, rows_table(accepted_pictures(task)))
    return NamedLayer(layers.NAME, layers.KIND, layers.label_table(_rows(task)))


def _provenance(task: LabelTask, replaced: int) -> dict[str, Any]:
    accepted = task.items.filter(state=states.ACCEPTED).count()
    return {
        "label_task": str(task.pk),
        "label_task_name": task.name,
        "source_version": str(task.dataset_version_id),
        "ontology": str(task.ontology_version),
        "pictures": accepted - replaced,
        "replaced": replaced,
    }


def _accepted(task: LabelTask) -> QuerySet[Any]:
    """Return the accepted items in their order, with `audited` and `corrected`."""
    decisions = AuditDecision.objects.filter(verdict=states.ACCEPT)
    return (
        WorkItem.objects.filter(label_task=task, state=states.ACCEPTED)
        .annotate(
            audited=Exists(decisions.filter(revision=OuterRef("final_revision"))),
            corrected=Exists(decisions.filter(correction=OuterRef("final_revision"))),
        )
        .order_by("position", "id")
    )


def accepted_pictures(task: LabelTask) -> Iterator[PictureRow]:
    """Yield the accepted documents through a server-side cursor."""
    version = task.ontology_version
    ontology = ontology_of(version.full_labels, version.full_schema)
    pseudonyms: dict[Any, str] = {}
    rows = _accepted(task).values_list(
        "path", "digest", "final_revision__document", "final_revision__lease_no",
        "final_revision__user", "audited", "corrected",
    )  # fmt: skip
    for path, digest, data, lease_no, user_id, audited, corrected in rows.iterator(_CURSOR_ROWS):
        if user_id not in pseudonyms:
            pseudonyms[user_id] = sampling.pseudonym(task.project_id, user_id)
        yield PictureRow(
            path=path,
            digest=bytes.fromhex(digest),
            document=documents.decode_for_layer(bytes(data)),
            ontology=ontology,
            source=layers.SOURCE,
            revision=lease_no,
            annotator=pseudonyms[user_id],
            audit_state=_audit_state(audited=audited, corrected=corrected),
        )


def _audit_state(*, audited: bool, corrected: bool) -> str:
    if corrected:
        return CORRECTED
    return AUDITED if audited else NOT_SAMPLED


def _rows(task: LabelTask) -> Iterator[layers.LabelRow]:
    """Yield the accepted labels through a server-side cursor."""
    names = task.ontology_version.names_by_id
    items = _accepted(task).select_related("final_revision")
    items = items.defer("media", "final_revision__document")
    for item in items.iterator(chunk_size=_CURSOR_ROWS):
        revision = item.final_revision
        if revision is None or revision.label_id is None:
            raise ValueError(f"the accepted item {item.pk} has no label")
        yield layers.LabelRow(
            path=item.path,
            digest=item.digest,
            label=names[revision.label_id],
            revision=revision.lease_no,
            annotator=sampling.pseudonym(task.project_id, revision.user_id),
            audit_state=_audit_state(audited=item.audited, corrected=item.corrected),
        )


@transaction.atomic
def _finish(task: LabelTask, version: Version, replaced: Sequence[UUID]) -> None:
    locked = LabelTask.objects.select_for_update().get(pk=task.pk)
    transition(locked, states.PUBLISHED, states.TASK_STATES)
    locked.output_version, locked.published_at = version, clock.now()
    locked.save(update_fields=["state", "output_version", "published_at", "updated_at"])
    left_out = _leave_out_the_rest(locked) + _leave_out_replaced(locked, replaced)
    locked.items.filter(state=states.ACCEPTED).update(state=states.PUBLISHED)
    unpin(PIN_HOLDER, str(task.pk))
    named: dict[str, Any] = {
        "name": task.name, "dataset": task.dataset.name, "version": version.ref,
        "left_out": left_out, "replaced": len(replaced),
    }  # fmt: skip
    asked = task.publish_requested_by
    audit.record(asked, "label_task.published", locked, task.project, task.dataset, **named)
    outbox.emit(
        task.project_id,
        "label_task.published",
        people=[task.publish_requested_by_id, task.created_by_id],
        subject=task.pk,
        task=str(task.pk),
        **named,
    )
    notify_progress(task.pk)
    log.info("labels_published", label_task=str(task.pk), version=version.ref)


def _leave_out_the_rest(task: LabelTask) -> int:
    """End what was not accepted: leases, audits and returned work. Returns how many items.

    Each item keeps the state that it had, for the page to say.
    """
    # In the order in which everybody locks: slots by id, then items.
    open_ones = task.slots.filter(state__in=[states.OPEN, *states.SLOT_HELD]).order_by("pk")
    ids = list(open_ones.select_for_update().values_list("pk", flat=True))
    WorkSlot.objects.filter(pk__in=ids).update(
        state=states.CLOSED, user=None, expires_at=None, page="", on_screen=False, seen_at=None,
        lapsed_user=None, updated_at=Now(),
    )  # fmt: skip
    rest = task.items.exclude(state__in=states.ITEM_FINISHED)
    return rest.update(state=states.LEFT_OUT, left_out_from=F("state"), updated_at=Now())


def _leave_out_replaced(task: LabelTask, replaced: Sequence[UUID]) -> int:
    """Leave out accepted items whose picture the version has no more. Returns how many."""
    count = 0
    for start in range(0, len(replaced), _CURSOR_ROWS):
        items = task.items.filter(pk__in=replaced[start : start + _CURSOR_ROWS])
        count += items.filter(state=states.ACCEPTED).update(
            state=states.LEFT_OUT, left_out_from=states.ACCEPTED, updated_at=Now()
        )
    return count


@transaction.atomic
def _fail(task: LabelTask, error: AtomError) -> None:
    """Say why and let it be asked again."""
    locked = LabelTask.objects.select_for_update().get(pk=task.pk)
    unfinished = locked.items.exclude(state__in=states.ITEM_FINISHED).exists()
    transition(locked, states.PAUSED if unfinished else states.COMPLETED, states.TASK_STATES)
    locked.publish_error_code, locked.publish_error_detail = error.code, error.detail
    locked.save()
    outbox.emit(
        task.project_id,
        "label_task.unpublished",
        people=[task.publish_requested_by_id],
        subject=task.pk,
        task=str(task.pk),
        name=task.name,
        code=error.code,
    )
    notify_progress(task.pk)
    log.warning("labels_not_published", label_task=str(task.pk), code=error.code)
