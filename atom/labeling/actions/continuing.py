"""A task for the items that a publication left out."""

from __future__ import annotations

from django.db import transaction

from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.actions.label_tasks import TaskPlan, create_task, start_task
from atom.labeling.errors import NothingLeftOut, TaskNotPublished
from atom.labeling.models import LabelTask
from atom.labeling.sentences import task_is

_MAX_NAME = 200


@transaction.atomic
def continue_task(task: LabelTask, user: User) -> LabelTask:
    """Make and start a task over the left-out items of a published one; asking again is fine.

    It is over the published version, with the same labels, batches and audit share. Answers
    that were not accepted stay in the history of the old task.

    Raises TaskNotPublished, NothingLeftOut, NoItems when the version has none of them any more.
    """
    locked = LabelTask.objects.select_for_update(of=("self",)).for_display().get(pk=task.pk)
    earlier = LabelTask.objects.for_display().filter(continues=locked).first()
    if earlier is not None:
        return earlier
    version = locked.output_version
    if locked.state != states.PUBLISHED or version is None:
        raise TaskNotPublished(
            task_is(locked.state),
            state=locked.state,
        )
    left_out = locked.items.filter(state=states.LEFT_OUT).values_list("path", flat=True)
    paths = frozenset(left_out)
    if not paths:
        raise NothingLeftOut
    plan = TaskPlan(
        name=_free_name(locked),
        version=version,
        ontology_version=locked.ontology_version,
        modality=locked.modality,
        pre_label=locked.pre_label,
        assignees=list(locked.assignees.all()),
        due_on=locked.due_on,
        priority=locked.priority,
        paths=paths,
        labelled=None,
        batch_size=locked.batch_size,
        audit_percent=locked.audit_percent,
        lease_ttl_s=locked.lease_ttl_s,
    )
    made = create_task(locked.project, user, plan)
    made.continues = locked
    made.save(update_fields=["continues", "updated_at"])
    return start_task(made, user)


def _free_name(task: LabelTask) -> str:
    """Return the task's name with the first number from 2 that the project does not have."""
    taken = set(LabelTask.objects.filter(project=task.project).values_list("name", flat=True))
    number = 2
    while (name := f"{task.name[: _MAX_NAME - 8]} ({number})") in taken:
        number += 1
    return name
