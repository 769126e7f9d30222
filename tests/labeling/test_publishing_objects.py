"""Accepted drawings become the layer `objects` of the next version, and begin later tasks."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from atom.core.storage import project_store
from atom.datasets.models import Version
from atom.labeling import states
from atom.labeling.actions import leases, publishing
from atom.labeling.actions.audits import Decision, decide
from atom.labeling.actions.continuing import continue_task
from atom.labeling.actions.submissions import submit
from atom.labeling.models import AnnotationRevision, LabelTask, WorkItem, WorkSlot
from atom_sdk.annotations.box_columns import BoxDocument
from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.manifests import read_layer, read_root
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import (
    CAR,
    COLOUR,
    LABELS,
    PLATE,
    RED,
    box,
    document,
    drawing,
    drawn_task,
)
from tests.labeling.exchange.transferring import Exchange

pytestmark = pytest.mark.usefixtures("committing_db")

PLATE_SHAPE = {
    "id": "f" * 16, "label": PLATE, "kind": "polygon", "text": "AB-123",
    "parts": [[[1.5, 1, 9, 1, 9, 9.25], [5, 2, 6, 2, 6, 3]]],
}  # fmt: skip


def draw(task: LabelTask, n: int, *objects: dict[str, Any]) -> None:
    labeler = make_member(task.project, "labeler")
    for slot in leases.lease_labels(task, labeler, n):
        [outcome] = submit(task.project, labeler, [drawing(slot, document(*objects))])
        assert outcome.error is None, outcome.error.errors


def publish(task: LabelTask, *, partial: bool = False) -> LabelTask:
    assert task.created_by is not None
    publishing.request_publish(task, task.created_by, partial=partial)
    return LabelTask.objects.select_related("output_version", "created_by").get(pk=task.pk)


def rows_of(version: Version | None) -> tuple[list[dict[str, Any]], list[NamedDocument]]:
    assert version is not None
    store = project_store(version.dataset.project)
    layer = read_root(bytes.fromhex(version.root), store).layer("objects")
    assert layer is not None
    assert layer.kind == "objects"
    table = read_layer(layer, store)
    return table.to_pylist(), list(documents_of(table))


def test_a_finished_task_becomes_a_layer_that_reads_back_exactly() -> None:
    task = drawn_task(3)
    draw(task, 2, box(1, attributes={str(COLOUR): RED}, ignore=True), PLATE_SHAPE)
    draw(task, 1)
    task = publish(task)
    assert task.state == states.PUBLISHED
    rows, documents = rows_of(task.output_version)
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    assert [len(row["objects"]) for row in rows] == [2, 2, 0]
    assert {(row["source"], row["audit_state"]) for row in rows} == {("human", "not_sampled")}
    car, plate = documents[0].objects
    assert (car.label, car.ignore, car.attributes) == ("car", True, {"colour": "red"})
    assert car.geometry.as_json()["box"] == box(1)["box"]
    assert (plate.label, plate.text) == ("plate", "AB-123")
    assert plate.geometry.as_json()["parts"] == PLATE_SHAPE["parts"]
    assert documents[2].objects == ()


def test_boxes_alone_are_published_and_exported_as_they_were_drawn(project: Project) -> None:
    task = drawn_task(2, project=project)
    exact = box(box=[10.5, 20.25, 99.75, 50.5]), box(2, box=[0.125, 0.1, 5.5, 6.3])
    draw(task, 1, *exact)
    draw(task, 1, exact[0], PLATE_SHAPE)
    pictures = [row.document for row in publishing.accepted_pictures(task)]
    assert [isinstance(each, BoxDocument) for each in pictures] == [True, False]
    files = Exchange(project).take(task=str(task.pk), format="atom")
    exported = b"".join(files.values()).decode()
    assert all(text in exported for text in ("99.75", "6.3", "AB-123"))
    _, layer = rows_of(publish(task).output_version)
    assert [it.geometry.as_json()["box"] for it in layer[0].objects] == [it["box"] for it in exact]
    assert [it.geometry.kind for it in layer[1].objects] == ["box", "polygon"]


def test_the_layer_says_that_an_auditor_corrected() -> None:
    task = drawn_task(1, audit_percent=100)
    draw(task, 1, box())
    auditor = make_member(task.project, "researcher")
    [audit] = leases.lease_audits(task, auditor, 1)
    label = WorkSlot.objects.get(role=states.LABEL_ROLE)
    assert label.revision_id is not None
    better = document(box(), box(2))
    [ruling] = decide(task.project, auditor, [
        Decision(audit.pk, audit.lease_no, label.revision_id, states.ACCEPT, document=better)
    ])  # fmt: skip
    assert ruling.error is None
    [row], _ = rows_of(publish(task).output_version)
    assert (row["audit_state"], len(row["objects"])) == ("corrected", 2)


def test_what_was_left_out_is_finished_in_a_task_of_objects() -> None:
    task = drawn_task(2)
    draw(task, 1, box())
    task = publish(task, partial=True)
    assert task.created_by is not None
    more = continue_task(task, task.created_by)
    assert more.modality == "image-objects"
    assert list(more.items.values_list("state", flat=True)) == [states.READY]
    WorkItem.objects.filter(label_task=more).update(width=640, height=480)
    draw(more, 1, box(2))
    rows, _ = rows_of(publish(more).output_version)
    assert [len(row["objects"]) for row in rows] == [1, 1]


def test_objects_of_the_version_are_where_the_next_task_begins() -> None:
    first = drawn_task(2)
    draw(first, 1, box(1, attributes={str(COLOUR): RED}), PLATE_SHAPE)
    first = publish(first, partial=True)
    assert first.output_version is not None
    # Other ids for the same names, no plates, and another colour.
    colour = {"id": 9, "name": "colour", "kind": "choice",
              "choices": [{"id": 7, "name": "red"}]}  # fmt: skip
    labels = [{"id": 30, "name": "car", "tools": ["box"], "attributes": [colour]}]
    task = drawn_task(
        project=first.project, version=first.output_version, name="again", labels=labels,
        labelled=None,
    )  # fmt: skip
    labeler = make_member(task.project, "labeler")
    slots = Api(labeler)("POST", f"labelx/tasks/{task.pk}/lease/?n=5", {}).json()["lease"]
    begun, empty = slots
    assert begun["document"] == document(box(1, label=30, attributes={"9": 7}))
    assert (begun["document_source"], empty["document"]) == ("pre_label", None)
    item = WorkItem.objects.get(pk=begun["item_id"])
    assert item.pre_label is not None
    assert (item.pre_label.source, item.pre_label.accepted) == ("import", False)
    # It counts for nothing until a person submits.
    assert item.state == states.LABELING
    slot = WorkSlot.objects.get(pk=begun["id"])
    [outcome] = submit(task.project, labeler, [drawing(slot, begun["document"])])
    assert outcome.revision is not None
    assert outcome.revision.parent == item.pre_label
    assert AnnotationRevision.objects.filter(accepted=True, work_item=item).count() == 1


def test_labelled_means_objects_for_a_task_of_objects() -> None:
    first = drawn_task(2)
    draw(first, 1, box())
    first = publish(first, partial=True)
    assert first.output_version is not None
    task = drawn_task(project=first.project, version=first.output_version, name="rest")  # fmt: skip
    assert list(task.items.values_list("path", flat=True)) == ["unlabelled/00001.png"]
    path = f"projects/{task.project.slug}/labelx/task-preview/?dataset={task.dataset.name}@v2"
    person = Api(make_member(task.project, "researcher"))
    assert person("GET", f"{path}&modality=image-objects&prefix=unlabelled/").json()["items"] == 1
    assert person("GET", f"{path}&prefix=unlabelled/").json()["items"] == 2


def test_the_labels_of_a_file_show_its_objects() -> None:
    task = drawn_task(1)
    draw(task, 1, box(1), box(2), PLATE_SHAPE)
    item = WorkItem.objects.get()
    path = f"projects/{task.project.slug}/labelx/item-labels/?dataset={task.dataset.name}"
    viewer = Api(make_member(task.project, "viewer"))
    [shown] = viewer("GET", f"{path}&path={item.path}").json()["results"]
    assert (shown["label"], shown["n_objects"]) == (None, 3)
    assert [(one["name"], one["count"]) for one in shown["classes"]] == [("car", 2), ("plate", 1)]
    assert shown["document"]["objects"][0] == box(1)
    assert {label["id"] for label in LABELS} == {CAR, PLATE}
