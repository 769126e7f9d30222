"""Settings of a task that change while people work: audit share, people, ontology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.actions.ontologies import lock_version
from atom.labeling.actions.progress import notify_progress
from atom.labeling.actions.usage import refused_answers, used_of
from atom.labeling.engines.checking import ontology_of
from atom.labeling.engines.ontologies import CLASSIFICATION
from atom.labeling.engines.ontology_use import is_tighter, removed_from
from atom.labeling.errors import InvalidLabels, LabelsInUse, OntologyNotNewer, TaskNotActive
from atom.labeling.models import LabelTask, OntologyVersion
from atom.labeling.models.tasks import IMAGE_OBJECTS
from atom.labeling.sentences import task_is
from atom_sdk.sentences import Sentence

_COLUMNS: Final = ("audit_percent", "pre_label", "due_on", "priority")


@transaction.atomic
def change_settings(task: LabelTask, user: User, changes: Mapping[str, Any]) -> LabelTask:
    """Change `audit_percent`, `assignees` (people), `pre_label`, `due_on` or `priority`.

    Another audit share counts for what is submitted from now on; what was drawn or accepted stays.
    `pre_label` counts for pictures without a draft or an answer.
    People who are no longer assigned keep what they hold. Raises TaskNotActive once the task takes
    no more work.
    """
    locked = _lock(task)
    told: dict[str, Any] = {"name": locked.name}
    if "audit_percent" in changes:
        told |= {"before": locked.audit_percent, "after": changes["audit_percent"]}
    for name in _COLUMNS:
        if name in changes:
            setattr(locked, name, changes[name])
            told[name] = str(changes[name])
    locked.save(update_fields=[*_COLUMNS, "updated_at"])
    if "assignees" in changes:
        locked.assignees.set(changes["assignees"])
        told["assignees"] = [person.username for person in changes["assignees"]]
    audit.record(user, "label_task.changed", locked, locked.project, locked.dataset, **told)
    notify_progress(locked.pk)
    return LabelTask.objects.for_display().get(pk=locked.pk)


@transaction.atomic
def move_to_version(task: LabelTask, user: User, version: OntologyVersion) -> LabelTask:
    """Go on with a newer version of the task's ontology; drafts and answers stay as they are.

    Ids keep their meaning over versions, so open work needs no change. Raises OntologyNotNewer,
    LabelsInUse when the version lacks what work of the task uses or refuses a present answer,
    InvalidLabels, TaskNotActive.
    """
    locked = _lock(task)
    before = locked.ontology_version
    if version.pk == before.pk:
        return locked
    if version.ontology_id != before.ontology_id or version.number < before.number:
        raise OntologyNotNewer
    require_tools(version, locked.modality)
    _require_unused(locked, before, version)
    _require_valid_answers(locked, before, version)
    locked.ontology_version = version
    locked.save(update_fields=["ontology_version", "updated_at"])
    if locked.state != states.DRAFT:
        lock_version(version.pk)
    named = {"name": locked.name, "before": before.number, "after": version.number}
    audit.record(user, "label_task.ontology_moved", locked, locked.project, locked.dataset, **named)
    notify_progress(locked.pk)
    return LabelTask.objects.for_display().get(pk=locked.pk)


def require_tools(version: OntologyVersion, modality: str) -> None:
    """Raise InvalidLabels if no label of the version can be used in a task of that modality."""
    if modality == IMAGE_OBJECTS:
        return
    if not any(CLASSIFICATION in label["tools"] for label in version.full_labels):
        sentence = Sentence(
            "labeling.no_class_for_pictures",
            "No label has the tool classification, so a grid has nothing to choose from.",
        )
        raise InvalidLabels(errors={"labels": [sentence]})


def _lock(task: LabelTask) -> LabelTask:
    locked = LabelTask.objects.for_display().select_for_update(of=("self",)).get(pk=task.pk)
    if locked.state not in {states.DRAFT, *states.TASK_TAKES_WORK}:
        raise TaskNotActive(task_is(locked.state), state=locked.state)
    return locked


def _require_unused(task: LabelTask, before: OntologyVersion, after: OntologyVersion) -> None:
    removed = removed_from(
        (before.full_labels, before.full_schema), (after.full_labels, after.full_schema)
    )
    if not removed:
        return
    used = used_of(task, removed)
    if used:
        rows = [{**removed[key], "items": count} for key, count in used.items()]
        names = ", ".join(f"{row['name']} ({row['items']})" for row in rows)
        sentence = Sentence(
            "labeling.labels_in_use", "Missing, with the number of pictures: {names}.", names=names
        )
        raise LabelsInUse(sentence, used=rows)


def _require_valid_answers(
    task: LabelTask, before: OntologyVersion, after: OntologyVersion
) -> None:
    contents = [(one.full_labels, one.full_schema) for one in (before, after)]
    # Every answer is read again, which a version that only adds does not need.
    if task.modality != IMAGE_OBJECTS or not is_tighter(*contents):
        return
    old, new = (ontology_of(labels, schema) for labels, schema in contents)
    refused = refused_answers(task, old, new)
    if refused is not None:
        sentence = Sentence(
            "labeling.answers_refused",
            "Pictures whose answers the new version refuses: {count}. In {path}: {problem}",
            count=refused.items,
            path=refused.path,
            problem=refused.problem.sentence,
        )
        raise LabelsInUse(sentence, used=[], refused=refused.items)
