"""Taking labels in. A submission is stored whatever happened to its lease; it counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from atom.accounts.models import Project, User
from atom.accounts.permissions import role_in
from atom.core import outbox
from atom.core.errors import AtomError, NotFound
from atom.labeling import states
from atom.labeling.actions.answers import Answer, read_answer
from atom.labeling.actions.completion import complete_if_done, emit_if_corrected
from atom.labeling.actions.leases import lost_lease
from atom.labeling.actions.locks import LockedSlots, lock_slots
from atom.labeling.actions.progress import notify_progress
from atom.labeling.actions.transitions import transition
from atom.labeling.engines import documents, sampling
from atom.labeling.engines.edit_distance import pre_label_edits
from atom.labeling.engines.keys import uuid_of_key
from atom.labeling.errors import PictureReplaced, SubmissionKeyReused, TaskNotActive
from atom.labeling.models import AnnotationRevision, Draft, WorkItem, WorkSlot
from atom.labeling.models.tasks import planned_total
from atom.labeling.permissions import AUDIT, may
from atom.labeling.sentences import task_is


@dataclass(frozen=True)
class Submission:
    """One document for one slot, under the lease that the sender believes to hold."""

    slot_id: UUID
    lease_no: int
    idempotency_key: str
    document: dict[str, Any]
    active_ms: int = 0
    # The shown picture's; empty where the sender does not say.
    digest: str = ""

    @property
    def key(self) -> UUID:
        """The key as it is stored."""
        return uuid_of_key(self.idempotency_key)


@dataclass(frozen=True)
class Outcome:
    """The result of one submission; a revision may be stored although there is an error."""

    slot_id: UUID
    revision: AnnotationRevision | None = None
    error: AtomError | None = None


@dataclass
class _Changes:
    """Rows that a batch writes at its end, one statement per kind."""

    revisions: list[AnnotationRevision] = field(default_factory=list)
    slots: list[WorkSlot] = field(default_factory=list)
    items: list[WorkItem] = field(default_factory=list)
    new_audits: list[WorkSlot] = field(default_factory=list)
    done: Q = field(default_factory=lambda: Q(pk__in=[]))
    # Task and person of work that had come back.
    corrected: set[tuple[UUID, UUID]] = field(default_factory=set)
    draws: dict[UUID, sampling.AuditDraw] = field(default_factory=dict)
    pre_labels: dict[UUID, AnnotationRevision] = field(default_factory=dict)

    def is_drawn(self, slot: WorkSlot) -> bool:
        """Return whether the slot's item is drawn for audit."""
        task = slot.label_task
        if task.pk not in self.draws:
            total = planned_total(task)
            self.draws[task.pk] = sampling.AuditDraw(task.pk, task.audit_percent, total)
        return self.draws[task.pk].takes(slot.work_item.position)


def submit(project: Project, user: User, submissions: Sequence[Submission]) -> list[Outcome]:
    """Store every submission and count those whose lease holds; outcomes in the same order.

    Sending one again with the same key answers the same and changes nothing.
    """
    try:
        return _submit_once(project, user, submissions)
    except IntegrityError:
        # A parallel request stored one of these keys after we looked; now we see it.
        return _submit_once(project, user, submissions)


def _submit_once(project: Project, user: User, submissions: Sequence[Submission]) -> list[Outcome]:
    with transaction.atomic():
        slots = lock_slots(project, {s.slot_id for s in submissions})
        # Read after the lock: a repetition that waited for us must find what we stored.
        keys = [s.key for s in submissions]
        known = {
            revision.idempotency_key: revision
            for revision in AnnotationRevision.objects.filter(idempotency_key__in=keys)
        }
        changes = _Changes(pre_labels=_pre_labels(slots))
        outcomes = [_take(s, user, slots, known, changes) for s in submissions]
        _write(changes)
    return outcomes


def _pre_labels(slots: LockedSlots) -> dict[UUID, AnnotationRevision]:
    begun = {slot.begun_with_id for slot in slots.by_id.values() if slot.begun_with_id}
    return AnnotationRevision.objects.in_bulk(begun) if begun else {}


def _take(
    submission: Submission,
    user: User,
    slots: LockedSlots,
    known: dict[UUID, AnnotationRevision],
    changes: _Changes,
) -> Outcome:
    slot = slots.get(submission.slot_id, states.LABEL_ROLE)
    if slot is None:
        return Outcome(submission.slot_id, error=NotFound())
    answer = read_answer(submission.document, slot.label_task, slot.work_item)
    earlier = known.get(submission.key)
    if earlier is not None:
        return _repeat(submission, user, answer, earlier, slot)
    if answer.problem is not None:
        return Outcome(submission.slot_id, error=answer.problem)
    refusal = _refusal(slot, slots.audit_of(slot), user, submission)
    revision = _revision(submission, user, slot, answer, accepted=refusal is None)
    before = changes.pre_labels.get(slot.begun_with_id) if slot.begun_with_id else None
    if before is not None:
        revision.pre_label_edits = pre_label_edits(before.decoded, answer.document)
    known[submission.key] = revision
    changes.revisions.append(revision)
    if refusal is None:
        _count(slot, revision, slots.audit_of(slot), changes)
    return Outcome(submission.slot_id, revision, refusal)


def _repeat(
    submission: Submission,
    user: User,
    answer: Answer,
    earlier: AnnotationRevision,
    slot: WorkSlot,
) -> Outcome:
    # As it came: the ontology that gave it its canonical form may have changed since.
    digests = {answer.encoded.sha256, documents.encode(submission.document).sha256}
    sent = (submission.slot_id, user.pk, submission.lease_no)
    is_same = sent == (earlier.slot_id, earlier.user_id, earlier.lease_no)
    if not is_same or bytes(earlier.sha256) not in digests:
        return Outcome(submission.slot_id, error=SubmissionKeyReused())
    error = None if earlier.accepted else lost_lease(slot, user)
    return Outcome(submission.slot_id, earlier, error)


def _refusal(
    slot: WorkSlot, audit: WorkSlot | None, user: User, submission: Submission
) -> AtomError | None:
    """Return why the submission does not count, or None.

    An expired lease still counts if nobody else took the slot: the row is locked here.
    """
    if slot.label_task.state not in states.TASK_TAKES_WORK:
        return TaskNotActive(
            task_is(slot.label_task.state),
            slot=str(slot.pk),
        )
    held = slot.state in states.SLOT_HELD and slot.user_id == user.pk
    lapsed = slot.state == states.OPEN and slot.lapsed_user_id == user.pk
    audits_it = audit is not None and audit.user_id == user.pk
    if not (held or (lapsed and not audits_it)) or slot.lease_no != submission.lease_no:
        return lost_lease(slot, user)
    if submission.digest and submission.digest != slot.work_item.digest:
        return PictureReplaced(slot=str(slot.pk))
    return None


def _revision(
    submission: Submission,
    user: User,
    slot: WorkSlot,
    answer: Answer,
    *,
    accepted: bool,
) -> AnnotationRevision:
    return AnnotationRevision(
        work_item_id=slot.work_item_id,
        slot=slot,
        user=user,
        lease_no=submission.lease_no,
        parent_id=slot.revision_id or slot.begun_with_id,
        ontology_version_id=slot.label_task.ontology_version_id,
        **answer.columns,
        active_ms=submission.active_ms,
        accepted=accepted,
        idempotency_key=submission.key,
    )


def _count(
    slot: WorkSlot, revision: AnnotationRevision, audit: WorkSlot | None, changes: _Changes
) -> None:
    """Move slot and item on; work that was audited before is audited again."""
    item = slot.work_item
    if slot.state == states.OPEN:
        # The lease ran out, and nobody else took the item.
        transition(slot, states.LEASED, states.SLOT_STATES)
        transition(item, states.LABELING, states.ITEM_STATES)
        slot.user_id = revision.user_id
    if slot.state == states.RETURNED and slot.user_id is not None:
        changes.corrected.add((slot.label_task_id, slot.user_id))
    sampled = audit is not None or changes.is_drawn(slot)
    transition(slot, states.SUBMITTED if sampled else states.ACCEPTED, states.SLOT_STATES)
    transition(item, states.AUDIT if sampled else states.ACCEPTED, states.ITEM_STATES)
    slot.revision, slot.expires_at = revision, None
    slot.page, slot.on_screen, slot.seen_at, slot.lapsed_user = "", False, None, None
    slot.returned_code = slot.returned_comment = ""
    item.final_revision = None if sampled else revision
    if sampled and audit is None:
        changes.new_audits.append(_audit_slot(slot))
    elif audit is not None:
        transition(audit, states.OPEN, states.SLOT_STATES)
        audit.user, audit.page, audit.on_screen, audit.seen_at = None, "", False, None
        changes.slots.append(audit)
    changes.slots.append(slot)
    changes.items.append(item)
    changes.done |= Q(slot=slot, user_id=revision.user_id)


def _audit_slot(label_slot: WorkSlot) -> WorkSlot:
    return WorkSlot(
        work_item_id=label_slot.work_item_id,
        label_task_id=label_slot.label_task_id,
        role=states.AUDIT_ROLE,
        position=label_slot.position,
    )


def _write(changes: _Changes) -> None:
    """Store a batch: six statements, however many submissions."""
    AnnotationRevision.objects.bulk_create(changes.revisions)
    if not changes.slots:
        return
    slot_fields = [
        "state", "user", "expires_at", "revision", "returned_code", "returned_comment", "page",
        "on_screen", "seen_at", "lapsed_user",
    ]  # fmt: skip
    WorkSlot.objects.bulk_update(changes.slots, slot_fields)
    WorkItem.objects.bulk_update(changes.items, ["state", "final_revision"])
    WorkSlot.objects.bulk_create(changes.new_audits)
    Draft.objects.filter(changes.done).delete()
    _notify_auditors(changes)
    for task_id in {slot.label_task_id for slot in changes.slots}:
        notify_progress(task_id)
        complete_if_done(task_id)
    for task_id, user_id in changes.corrected:
        emit_if_corrected(task_id, user_id)


def _notify_auditors(changes: _Changes) -> None:
    """Tell whoever made a task, and may audit it still, how many items wait for an audit now."""
    # The maker's own work does not count: people cannot audit it themselves.
    waiting = Counter(
        slot.label_task
        for slot in changes.slots
        if slot.state == states.SUBMITTED
        and slot.role == states.LABEL_ROLE
        and slot.user_id != slot.label_task.created_by_id
    )
    for task, items in waiting.items():
        if task.created_by is None or not may(role_in(task.created_by, task.project), AUDIT):
            continue
        outbox.emit(
            task.project_id,
            "label_task.submitted",
            people=[task.created_by_id],
            subject=task.pk,
            task=str(task.pk),
            name=task.name,
            items=items,
        )
