"""The distance of an answer from its pre-label is stored with it and added up by labeler."""

from __future__ import annotations

from typing import Any

import pytest

from atom.core.ids import uuid7
from atom.labeling import reads
from atom.labeling.actions import leases
from atom.labeling.actions.answers import Answer
from atom.labeling.actions.submissions import submit
from atom.labeling.engines.edit_distance import pre_label_edits
from atom.labeling.models import AnnotationRevision, LabelTask, WorkItem
from atom.labeling.models.revisions import HUMAN, IMPORT
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import CAR, COLOUR, PLATE, RED, box, document, drawing, drawn_task


def _edits(**counts: int) -> dict[str, int]:
    return {"kept": 0, "reshaped": 0, "relabelled": 0, "added": 0, "removed": 0, **counts}


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        (document(), document(), _edits()),
        (document(box(1), box(2)), document(box(2), box(1)), _edits(kept=2)),
        (document(box(1)), document(box(1, box=[1, 2, 3, 4])), _edits(reshaped=1)),
        (document(box(1)), document(box(1, label=PLATE)), _edits(relabelled=1)),
        (
            document(box(1)),
            document(box(1, box=[1, 2, 3, 4], attributes={str(COLOUR): RED})),
            _edits(relabelled=1),
        ),
        (document(box(1)), document(box(2)), _edits(added=1, removed=1)),
        (
            document(labels=[CAR, PLATE]),
            document(labels=[PLATE]),
            _edits(kept=1, removed=1),
        ),
        (document(box(1)), document(box(1), width=99), None),
    ],
)
def test_labels_are_compared_by_their_id(
    before: dict[str, Any], after: dict[str, Any], edits: dict[str, int] | None
) -> None:
    assert pre_label_edits(before, after) == edits


def _with_pre_label(task: LabelTask, user: Any, drawn: dict[str, Any]) -> None:
    """Give the first picture of the task a pre-label."""
    item = WorkItem.objects.filter(label_task=task).order_by("position")[0]
    item.pre_label = AnnotationRevision.objects.create(
        work_item=item, slot=item.slots.get(), user=user, lease_no=0, source=IMPORT,
        ontology_version_id=task.ontology_version_id, **Answer(drawn).columns,
        accepted=False, idempotency_key=uuid7(),
    )  # fmt: skip
    item.save()


@pytest.mark.django_db
def test_a_submission_stores_its_distance_and_the_labeler_its_sum() -> None:
    task = drawn_task(audit_percent=100)
    labeler = make_member(task.project, "labeler")
    _with_pre_label(task, labeler, document(box(1), box(2), box(3)))
    first, second = leases.lease_labels(task, labeler, 2)
    moved = document(box(1), box(2, box=[1, 2, 3, 4]), box(4))
    assert [one.error for one in submit(task.project, labeler, [drawing(first, moved)])] == [None]
    submit(task.project, labeler, [drawing(second, document(box(1)))])

    counted = _edits(kept=1, reshaped=1, added=1, removed=1)
    by_item = AnnotationRevision.objects.filter(source=HUMAN).values_list(
        "work_item", "pre_label_edits"
    )
    assert dict(by_item) == {first.work_item_id: counted, second.work_item_id: None}
    [row] = reads.labeler_stats(task)
    assert row["pre_label_edits"] == counted

    api = Api(make_member(task.project, "researcher"))
    stats = api("GET", f"labelx/tasks/{task.pk}/stats/").json()["results"]
    assert [one["pre_label_edits"] for one in stats] == [counted]
    revisions = api("GET", f"labelx/items/{first.work_item_id}/revisions/").json()["results"]
    assert {one["source"]: one["pre_label_edits"] for one in revisions} == {
        HUMAN: counted,
        IMPORT: None,
    }
    shown = api("POST", f"labelx/tasks/{task.pk}/audit-lease/?n=2", {}).json()["lease"]
    assert [one["pre_label_edits"] for one in shown] == [counted, None]


@pytest.mark.django_db
def test_a_task_without_pre_labels_compares_nothing() -> None:
    task = drawn_task()
    labeler = make_member(task.project, "labeler")
    _with_pre_label(task, labeler, document(box(1)))
    task.pre_label = False
    task.save()
    first = leases.lease_labels(task, labeler, 2)[0]
    submit(task.project, labeler, [drawing(first, document(box(1)))])
    assert AnnotationRevision.objects.get(source=HUMAN).pre_label_edits is None
    [row] = reads.labeler_stats(task)
    assert row["pre_label_edits"] is None
