"""Documents of objects: taken as they are meant, refused with every fault and its place."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image

from atom.core import storage
from atom.core.ids import uuid7
from atom.datasets.keys import pack_key
from atom.labeling import states
from atom.labeling.actions import drafts, leases
from atom.labeling.actions.answers import Answer
from atom.labeling.actions.submissions import submit
from atom.labeling.models import AnnotationRevision, Draft, LabelTask, WorkItem, WorkSlot
from atom.labeling.models.revisions import IMPORT
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import CAR, COLOUR, PLATE, RED, box, document, drawing, drawn_task
from tests.labeling.test_leases import let_expire

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> LabelTask:
    return drawn_task()


def test_a_lease_has_the_picture_and_nothing_to_begin_with(task: LabelTask) -> None:
    api = Api(make_member(task.project, "labeler"))
    [first, _] = api("POST", f"labelx/tasks/{task.pk}/lease/?n=5", {}).json()["lease"]
    assert (first["width"], first["height"]) == (640, 480)
    assert (first["document"], first["document_source"], first["issues"]) == (None, None, [])
    assert first["digest"] == WorkItem.objects.get(pk=first["item_id"]).digest


def test_a_document_is_stored_in_its_canonical_form(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    drawn = document(box(1, attributes={str(COLOUR): RED}), box(2, ignore=False), relations=[])
    [outcome] = submit(task.project, labeler, [drawing(slot, drawn)])
    assert outcome.error is None
    stored = AnnotationRevision.objects.get()
    assert stored.decoded == document(box(1, attributes={str(COLOUR): RED}), box(2))
    assert (stored.n_objects, stored.label_ids, stored.label_id) == (2, [CAR], None)
    assert WorkItem.objects.get(pk=slot.work_item_id).state == states.ACCEPTED


def test_a_picture_without_objects_is_an_answer(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    [outcome] = submit(task.project, labeler, [drawing(slot, document())])
    assert outcome.error is None
    assert AnnotationRevision.objects.get().decoded == document()


CROSSED = {"kind": "polygon", "parts": [[[0, 0, 100, 100, 100, 0, 0, 100]]]}


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"label": 77}, "document/objects/0/label"),
        ({"label": PLATE}, "document/objects/0/kind"),
        ({"box": [10, 10, 0, 5]}, "document/objects/0/box"),
        ({"box": [9_000, 10, 5, 5]}, "document/objects/0/box"),
        ({"box": [10, 10, 5]}, "document/objects/0/box"),
        ({"box": [10, 10, "5", 5]}, "document/objects/0/box"),
        ({"id": "short"}, "document/objects/0/id"),
        ({"attributes": {str(COLOUR): 9}}, f"document/objects/0/attributes/{COLOUR}"),
        ({"attributes": {"77": 1}}, "document/objects/0/attributes/77"),
    ],
)
def test_each_fault_is_named_by_its_pointer(
    task: LabelTask, wrong: dict[str, Any], pointer: str
) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    drafts.save_draft(slot, labeler, 1, document(box()))
    answer = _submit(labeler, slot, document({**box(), **wrong}))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_annotation")
    assert pointer in answer.json()["errors"]
    assert not AnnotationRevision.objects.exists()
    assert Draft.objects.exists()


def _submit(labeler: Any, slot: WorkSlot, drawn: dict[str, Any], **fields: Any) -> Any:
    body = {"lease_no": slot.lease_no, "idempotency_key": "k", "document": drawn, **fields}
    return Api(labeler)("POST", f"labelx/slots/{slot.pk}/submit/", body)


def test_a_crossing_is_shown_in_the_picture(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    shape = {"id": "0" * 16, "label": CAR, **CROSSED}
    answer = _submit(labeler, slot, document(shape)).json()
    [place] = answer["places"]
    assert place["pointer"].startswith("document/objects/0/parts")
    assert place["at"] == pytest.approx([50, 50])
    batch = {"submissions": [{"slot": str(slot.pk), "lease_no": 1, "idempotency_key": "k",
                              "document": document(shape)}]}  # fmt: skip
    path = f"labelx/tasks/{task.pk}/submit-batch/"
    [result] = Api(labeler)("POST", path, batch).json()["results"]
    assert (result["ok"], result["code"]) == (False, "invalid_annotation")
    assert result["places"] == answer["places"]


def test_numbers_that_are_none_never_arrive(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    api = Api(labeler)
    for number in ("NaN", "Infinity", "1e999"):
        sent = {"lease_no": 1, "idempotency_key": "k", "document": {"version": 2, "x": "?"}}
        text = json.dumps(sent).replace('"?"', number)
        answer = api.client.generic(
            "POST", f"/api/v1/labelx/slots/{slot.pk}/submit/", text, "application/json"
        )
        assert answer.status_code == 400, number


def test_a_hundred_thousand_points_are_taken_and_more_are_refused(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    one, two = leases.lease_labels(task, labeler, 2)
    shape = {"id": "0" * 16, "label": CAR, "kind": "polygon"}
    ring = _comb(50_000)
    [taken] = submit(task.project, labeler, [drawing(one, document({**shape, "parts": [[ring]]}))])
    assert taken.error is None
    ring = _comb(100_001)
    [refused] = submit(
        task.project, labeler, [drawing(two, document({**shape, "parts": [[ring]]}))]
    )
    assert refused.error is not None
    assert refused.error.code in {"invalid_annotation", "document_too_large"}


def _comb(points: int) -> list[float]:
    """Return a ring that goes out along the top and back along the bottom."""
    half = points // 2
    out = [(600 * n / half, 100 + n % 2) for n in range(half)]
    back = [(600 * n / half, 200 + n % 2) for n in range(points - half)]
    return [round(value, 4) for point in [*out, *reversed(back)] for value in point]


def test_a_document_of_another_size_is_refused(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    answer = _submit(labeler, slot, {**document(box()), "width": 480, "height": 640})
    assert answer.status_code == 422
    assert "480 by 640" in str(answer.json()["errors"])


def test_a_grid_takes_no_document_of_objects_and_objects_no_class() -> None:
    drawn, labeler = drawn_task(1), None
    labeler = make_member(drawn.project, "labeler")
    [slot] = leases.lease_labels(drawn, labeler, 1)
    answer = Api(labeler)(
        "POST", f"labelx/slots/{slot.pk}/submit/",
        {"lease_no": 1, "idempotency_key": "k", "label_id": CAR},
    )  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_annotation")


def test_another_persons_slot_is_not_found_and_a_lost_one_keeps_the_drawing(
    task: LabelTask,
) -> None:
    sleeper, other = (make_member(task.project, "labeler") for _ in range(2))
    [slot] = leases.lease_labels(task, sleeper, 1)
    stranger = make_member(drawn_task(1).project, "labeler")
    assert _submit(stranger, slot, document(box())).status_code == 404
    let_expire(task)
    leases.lease_labels(task, other, 2)
    answer = _submit(sleeper, slot, document(box()))
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_lease")
    kept = AnnotationRevision.objects.get(pk=answer.json()["revision"])
    assert (kept.accepted, kept.decoded) == (False, document(box()))


def test_a_picture_that_was_replaced_meanwhile_counts_for_nothing(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    shown = slot.work_item.digest
    WorkItem.objects.filter(pk=slot.work_item_id).update(digest="0" * 64)
    answer = _submit(labeler, slot, document(box()), digest=shown)
    assert (answer.status_code, answer.json()["code"]) == (409, "picture_replaced")
    assert AnnotationRevision.objects.get().accepted is False
    assert WorkSlot.objects.get(pk=slot.pk).state == states.LEASED


def test_the_same_drawing_again_answers_the_same(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    sent = drawing(slot, document(box(1, ignore=False)), "again")
    [first] = submit(task.project, labeler, [sent])
    assert submit(task.project, labeler, [sent]) == [first]
    [other] = submit(task.project, labeler, [drawing(slot, document(box(2)), "again")])
    assert other.error is not None
    assert other.error.code == "idempotency_key_reused"


def test_the_size_of_a_turned_picture_is_read_when_somebody_sees_it() -> None:
    task = drawn_task(1)
    item = WorkItem.objects.get()
    picture = Image.new("RGB", (80, 40))
    exif = Image.Exif()
    exif[0x0112] = 6
    file = io.BytesIO()
    picture.save(file, "JPEG", exif=exif)
    media = {**item.media, "size_bytes": len(file.getvalue())}
    WorkItem.objects.update(width=None, height=None, media=media)
    key = storage.project_prefix(task.project) + pack_key(media["pack"])
    storage.objects().put(key, bytes(media["offset"]) + file.getvalue())
    api = Api(make_member(task.project, "labeler"))
    [slot] = api("POST", f"labelx/tasks/{task.pk}/lease/?n=1", {}).json()["lease"]
    assert (slot["width"], slot["height"]) == (40, 80)
    item.refresh_from_db()
    assert (item.width, item.height) == (40, 80)


def test_a_pre_label_of_another_size_is_left_out_and_locks_nobody_out(task: LabelTask) -> None:
    labeler = make_member(task.project, "labeler")
    before, fits = WorkItem.objects.filter(label_task=task).order_by("position")
    for item, sides in ((before, (99, 99)), (fits, (640, 480))):
        drawn = document(box(), width=sides[0], height=sides[1])
        item.pre_label = AnnotationRevision.objects.create(
            work_item=item, slot=item.slots.get(), user=labeler, lease_no=0, source=IMPORT,
            ontology_version_id=task.ontology_version_id, **Answer(drawn).columns,
            accepted=False, idempotency_key=uuid7(),
        )  # fmt: skip
        item.save()
    wrong, right = _lease(labeler, task)
    assert (wrong["document"], wrong["document_source"]) == (None, None)
    assert (wrong["pre_label_left_out"], right["pre_label_left_out"]) == (True, False)
    assert right["document"] == document(box())
    slot = WorkSlot.objects.get(pk=wrong["id"])
    answer = _submit(labeler, slot, document(box(2)))
    assert answer.status_code < 300, answer.content


def _lease(labeler: Any, task: LabelTask) -> list[dict[str, Any]]:
    answer = Api(labeler)("POST", f"labelx/tasks/{task.pk}/lease/?n=5", {}).json()
    return list(answer["lease"])
