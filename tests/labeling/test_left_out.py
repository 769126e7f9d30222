"""An unfinished task that is published: its rest says so, and can be finished later."""

from __future__ import annotations

from collections import Counter

import pytest

from atom.labeling import states
from atom.labeling.actions import leases, publishing
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.test_publishing import labels_of
from tests.labeling.work import rule, submit_all

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture
def published() -> LabelTask:
    """Six items: one accepted, one sent back, one under audit, one in an audit queue, two open."""
    task = make_task(6, audit_percent=100)
    maria, ann = (make_member(task.project, "researcher") for _ in range(2))
    submit_all(leases.lease_labels(task, maria, 4), maria)
    leases.lease_labels(task, maria, 1)
    accepted, back, _ = leases.lease_audits(task, ann, 3)
    rule(accepted, ann, states.ACCEPT)
    rule(back, ann, states.RETURN)
    publishing.request_publish(task, ann, partial=True)
    return LabelTask.objects.for_display().get(pk=task.pk)


def test_what_was_not_accepted_is_left_out_and_the_counts_say_where_it_was(
    published: LabelTask,
) -> None:
    assert published.state == states.PUBLISHED
    states_now = Counter(WorkItem.objects.values_list("state", "left_out_from"))
    assert states_now == {
        (states.PUBLISHED, ""): 1,
        (states.LEFT_OUT, states.AUDIT): 2,
        (states.LEFT_OUT, states.REWORK): 1,
        (states.LEFT_OUT, states.LABELING): 1,
        (states.LEFT_OUT, states.READY): 1,
    }
    assert not WorkSlot.objects.filter(state__in=[states.OPEN, *states.SLOT_HELD]).exists()
    seen = Api(published.created_by)("GET", f"labelx/tasks/{published.pk}/").json()
    assert (
        seen["progress"] | {"total": 6, "accepted": 1, "left_out": 5, "audit": 0}
        == seen["progress"]
    )
    before = {"ready": 1, "labeling": 1, "audit": 2, "rework": 1, "replaced": 0}
    assert seen["left_out_from"] == before


def test_work_on_somebodys_screen_is_kept_and_told_that_the_task_is_over() -> None:
    task = make_task(2)
    maria = make_member(task.project, "labeler")
    done, open_one = leases.lease_labels(task, maria, 2)
    submit_all([done], maria)
    assert task.created_by is not None
    publishing.request_publish(task, task.created_by, partial=True)
    [late] = submit_all([open_one], maria)
    assert late.error is not None
    assert late.error.code == "task_not_active"
    assert late.revision is not None


def test_one_button_makes_a_task_of_what_was_left_out(published: LabelTask) -> None:
    boss, labeler = (make_member(published.project, role) for role in ("researcher", "labeler"))
    at = f"labelx/tasks/{published.pk}"
    assert Api(labeler)("POST", f"{at}/continue/").status_code == 403
    made = Api(boss)("POST", f"{at}/continue/").json()
    assert made["state"] == states.ACTIVE
    assert made["continues"] == {"id": str(published.pk), "name": published.name}
    assert made["progress"]["total"] == 5
    assert made["dataset_ref"] == "v2"
    assert Api(boss)("POST", f"{at}/continue/").json()["id"] == made["id"]
    assert Api(boss)("GET", f"{at}/").json()["continued_by"]["id"] == made["id"]

    task = LabelTask.objects.get(pk=made["id"])
    LabelTask.objects.filter(pk=task.pk).update(audit_percent=0)
    slots = leases.lease_labels(task, labeler, 9)
    submit_all(slots, labeler, 5)
    publishing.request_publish(task, boss, partial=False)
    task = LabelTask.objects.select_related("output_version").get(pk=task.pk)
    assert task.output_version is not None
    assert labels_of(task.output_version).num_rows == 6


def test_a_task_that_left_nothing_out_has_nothing_to_continue() -> None:
    task = make_task(1)
    assert task.created_by is not None
    ask = Api(task.created_by)
    unpublished = ask("POST", f"labelx/tasks/{task.pk}/continue/").json()
    submit_all(leases.lease_labels(task, task.created_by, 1), task.created_by)
    publishing.request_publish(task, task.created_by, partial=False)
    whole = ask("POST", f"labelx/tasks/{task.pk}/continue/").json()
    assert [unpublished["code"], whole["code"]] == ["task_not_published", "nothing_left_out"]
