"""Drafts: whole or as patches on the one before, never losing what was drawn."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import User
from atom.core.errors import Invalid
from atom.labeling.actions import drafts, leases
from atom.labeling.actions.drafts import DraftPatch
from atom.labeling.errors import DocumentTooLarge, DraftBaseUnknown
from atom.labeling.models import Draft, WorkSlot
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import box, document, drawn_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def labeler() -> User:
    return make_member(drawn_task(1).project, "labeler")


@pytest.fixture
def slot(labeler: User) -> WorkSlot:
    task = WorkSlot.objects.get().label_task
    [leased] = leases.lease_labels(task, labeler, 1)
    return leased


def add(number: int) -> dict[str, Any]:
    return {"op": "add", "path": "/objects/-", "value": box(number)}


def test_patches_follow_one_another(labeler: User, slot: WorkSlot) -> None:
    path = f"labelx/slots/{slot.pk}/draft/"
    api = Api(labeler)
    whole = {"seq": 1, "document": document(box(1))}
    assert api("PUT", path, whole).json() == whole
    patched = api("PUT", path, {"seq": 2, "base": 1, "patch": [add(2)]})
    assert patched.json() == {"seq": 2, "document": None}
    moved = [{"op": "replace", "path": "/objects/0/box/0", "value": 99.5}]
    assert api("PUT", path, {"seq": 3, "base": 2, "patch": moved}).status_code == 200
    kept = Draft.objects.get().decoded
    assert [one["box"][0] for one in kept["objects"]] == [99.5, 20.5]
    [held] = api("GET", f"labelx/tasks/{slot.label_task_id}/my-work/").json()["results"]
    assert (held["document"], held["document_source"], held["draft_seq"]) == (kept, "draft", 3)


def test_a_patch_sent_again_or_late_changes_nothing(labeler: User, slot: WorkSlot) -> None:
    drafts.save_draft(slot, labeler, 1, document(box(1)))
    for _ in range(2):
        drafts.save_draft(slot, labeler, 2, DraftPatch(1, [add(2)]))
    assert len(Draft.objects.get().decoded["objects"]) == 2
    drafts.save_draft(slot, labeler, 1, DraftPatch(0, [add(3)]))
    assert len(Draft.objects.get().decoded["objects"]) == 2


def test_a_patch_on_an_unknown_draft_asks_for_the_whole(labeler: User, slot: WorkSlot) -> None:
    with pytest.raises(DraftBaseUnknown):
        drafts.save_draft(slot, labeler, 2, DraftPatch(1, [add(2)]))
    drafts.save_draft(slot, labeler, 5, document(box(1)))
    path = f"labelx/slots/{slot.pk}/draft/"
    answer = Api(labeler)("PUT", path, {"seq": 7, "base": 6, "patch": [add(2)]})
    assert (answer.status_code, answer.json()["code"]) == (409, "draft_base_unknown")
    assert answer.json()["seq"] == 5
    assert Draft.objects.get().decoded == document(box(1))


def test_a_patch_that_does_not_fit_names_its_operation(labeler: User, slot: WorkSlot) -> None:
    drafts.save_draft(slot, labeler, 1, document(box(1)))
    wrong = DraftPatch(1, [add(2), {"op": "remove", "path": "/objects/7"}])
    with pytest.raises(Invalid) as refused:
        drafts.save_draft(slot, labeler, 2, wrong)
    assert list(refused.value.errors) == ["patch/1"]
    assert Draft.objects.get().decoded == document(box(1))


@pytest.mark.parametrize(
    "body",
    [
        {"seq": 1},
        {"seq": 1, "document": {}, "patch": [], "base": 0},
        {"seq": 1, "patch": []},
        {"seq": 1, "document": {}, "base": 0},
    ],
)
def test_a_draft_comes_in_one_form(labeler: User, slot: WorkSlot, body: dict[str, Any]) -> None:
    assert Api(labeler)("PUT", f"labelx/slots/{slot.pk}/draft/", body).status_code == 400


def test_a_draft_has_a_limit_however_it_grows(labeler: User, slot: WorkSlot) -> None:
    with pytest.raises(DocumentTooLarge):
        drafts.save_draft(slot, labeler, 1, {"x": "y" * (4 << 20)})
    drafts.save_draft(slot, labeler, 1, {"x": "y" * (3 << 20)})
    grow = [{"op": "add", "path": "/more", "value": "z" * (2 << 20)}]
    with pytest.raises(DocumentTooLarge):
        drafts.save_draft(slot, labeler, 2, DraftPatch(1, grow))
    double = [{"op": "copy", "from": "/x", "path": f"/{n}"} for n in range(30)]
    with pytest.raises(Invalid):
        drafts.save_draft(slot, labeler, 2, DraftPatch(1, double))
    assert Draft.objects.get().seq == 1


@pytest.mark.parametrize("levels", [300, 1500])
def test_a_patch_makes_no_draft_too_deep_to_send(
    labeler: User, slot: WorkSlot, levels: int
) -> None:
    drafts.save_draft(slot, labeler, 1, document(box(1)))
    deeper = [{"op": "add", "path": "/a" * n, "value": {}} for n in range(1, levels)]
    body = {"seq": 2, "base": 1, "patch": deeper}
    refused = Api(labeler)("PUT", f"labelx/slots/{slot.pk}/draft/", body)
    assert refused.status_code == 400
    [where] = refused.json()["errors"]
    assert where.startswith("patch/")
    assert Draft.objects.get().decoded == document(box(1))
