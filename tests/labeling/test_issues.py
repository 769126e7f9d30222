"""Audits on the picture: pinned issues, comments, corrections by the auditor."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import User
from atom.labeling import reads, states
from atom.labeling.actions import leases
from atom.labeling.actions.submissions import submit
from atom.labeling.models import AnnotationRevision, AuditDecision, Issue, LabelTask, WorkItem
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import box, document, drawing, drawn_task

pytestmark = pytest.mark.django_db

PINNED = {"object": f"{1:016x}", "at": [20.5, 30], "text": "Too wide."}


@pytest.fixture
def task() -> LabelTask:
    return drawn_task(1, audit_percent=100)


@pytest.fixture
def labeler(task: LabelTask) -> User:
    person = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, person, 1)
    [outcome] = submit(task.project, person, [drawing(slot, document(box()))])
    assert outcome.error is None
    return person


@pytest.fixture
def auditor(task: LabelTask, labeler: User) -> Api:
    return Api(make_member(task.project, "researcher"))


def lease(task: LabelTask, auditor: Api) -> dict[str, Any]:
    [slot] = auditor("POST", f"labelx/tasks/{task.pk}/audit-lease/?n=1", {}).json()["lease"]
    assert isinstance(slot, dict)
    return slot


def decide(auditor: Api, slot: dict[str, Any], verdict: str, **fields: Any) -> dict[str, Any]:
    decision = {
        "slot": slot["slot_id"], "lease_no": slot["lease_no"], "revision": slot["revision_id"],
        "verdict": verdict, **fields,
    }  # fmt: skip
    answer = auditor("POST", "labelx/audits/", {"decisions": [decision]})
    assert answer.status_code == 200, answer.json()
    [result] = answer.json()["results"]
    assert isinstance(result, dict)
    return result


def test_an_auditor_sees_the_drawing_and_the_labeler_gets_the_issues_back(
    task: LabelTask, labeler: User, auditor: Api
) -> None:
    slot = lease(task, auditor)
    assert slot["document"] == document(box())
    assert (slot["width"], slot["height"], slot["before"], slot["issues"]) == (640, 480, None, [])
    whole = {"text": "One car is missing."}
    assert decide(auditor, slot, "return", issues=[PINNED, whole])["ok"]
    [held] = Api(labeler)("GET", f"labelx/tasks/{task.pk}/my-work/").json()["results"]
    assert [one["text"] for one in held["issues"]] == ["Too wide.", "One car is missing."]
    assert (held["issues"][0]["object"], held["issues"][0]["at"]) == (f"{1:016x}", [20.5, 30])
    assert (held["issues"][1]["object"], held["issues"][1]["at"]) == (None, None)
    assert (held["document"], held["document_source"]) == (document(box()), "revision")


def test_an_issue_is_answered_settled_and_opened_again(
    task: LabelTask, labeler: User, auditor: Api
) -> None:
    decide(auditor, lease(task, auditor), "return", issues=[PINNED])
    issue = Issue.objects.get()
    api = Api(labeler)
    said = api("POST", f"labelx/issues/{issue.pk}/comments/", {"text": "It is a van."})
    assert (said.status_code, said.json()["author"]["username"]) == (201, labeler.username)
    settled = api("POST", f"labelx/issues/{issue.pk}/resolve/", {}).json()
    assert (settled["state"], settled["resolved_by"]["username"]) == ("resolved", labeler.username)
    assert [one["text"] for one in settled["comments"]] == ["It is a van."]
    again = auditor("POST", f"labelx/issues/{issue.pk}/resolve/", {"resolved": False}).json()
    assert (again["state"], again["resolved_by"], again["resolved_at"]) == ("open", None, None)
    [item] = auditor("GET", f"labelx/tasks/{task.pk}/items/").json()["results"]
    assert item["open_issues"] == 1


def test_anybody_of_the_project_opens_an_issue_and_a_stranger_finds_none(
    task: LabelTask, labeler: User
) -> None:
    item = WorkItem.objects.get()
    path = f"labelx/items/{item.pk}/issues/"
    made = Api(labeler)("POST", path, {"text": "Is this a car?", "at": [1, 2]})
    assert made.status_code == 201
    assert made.json()["revision_id"] == str(AnnotationRevision.objects.get().pk)
    assert [one["id"] for one in Api(labeler)("GET", path).json()["results"]] == [made.json()["id"]]
    viewer = Api(make_member(task.project, "viewer"))
    assert viewer("POST", path, {"text": "Me too"}).status_code == 403
    stranger = Api(make_member(drawn_task(1).project, "researcher"))
    issue = made.json()["id"]
    assert stranger("GET", path).status_code == 404
    assert stranger("POST", f"labelx/issues/{issue}/comments/", {"text": "x"}).status_code == 404
    assert stranger("POST", f"labelx/issues/{issue}/resolve/", {}).status_code == 404


@pytest.mark.parametrize(
    "wrong", [{"object": "x"}, {"at": [1]}, {"at": [1, "a"]}, {"text": ""}, {"unknown": 1}]
)
def test_an_issue_that_is_none_is_refused(
    task: LabelTask, labeler: User, wrong: dict[str, Any]
) -> None:
    path = f"labelx/items/{WorkItem.objects.get().pk}/issues/"
    assert Api(labeler)("POST", path, {"text": "x", **wrong}).status_code == 400


def test_an_auditor_corrects_and_the_labeler_sees_before_and_after(
    task: LabelTask, labeler: User, auditor: Api
) -> None:
    slot = lease(task, auditor)
    better = document(box(), box(2))
    assert decide(auditor, slot, "accept", document=better)["ok"]
    # Sent again, it is no second correction.
    assert decide(auditor, slot, "accept", document=better)["ok"]
    item = WorkItem.objects.get()
    correction, original = AnnotationRevision.objects.order_by("-created_at")
    assert (item.state, item.final_revision) == (states.ACCEPTED, correction)
    assert (correction.parent, correction.decoded) == (original, better)
    assert correction.user != labeler
    assert AuditDecision.objects.get().correction == correction
    history = Api(labeler)("GET", f"labelx/items/{item.pk}/revisions/").json()["results"]
    assert [row["n_objects"] for row in history] == [2, 1]
    assert history[0]["parent"] == history[1]["id"]
    [row] = reads.labeler_stats(task)
    assert (row["labeler"], row["submitted"]) == (labeler.username, 1)
    path = f"labelx/tasks/{task.pk}/corrections/"
    [corrected] = Api(labeler)("GET", path).json()["results"]
    assert (corrected["item_id"], corrected["path"]) == (str(item.pk), item.path)
    assert (corrected["revision"], corrected["correction"]) == (
        str(original.pk),
        str(correction.pk),
    )
    # Work of other people stays theirs.
    assert auditor("GET", path).json()["results"] == []


def test_a_correction_obeys_the_rules_and_is_no_return(
    task: LabelTask, labeler: User, auditor: Api
) -> None:
    slot = lease(task, auditor)
    refused = decide(auditor, slot, "accept", document=document(box(1, label=77)))
    assert (refused["ok"], refused["code"]) == (False, "invalid_annotation")
    assert "document/objects/0/label" in refused["errors"]
    # Other languages read the codes.
    [mistake] = refused["error_codes"]["document/objects/0/label"]
    assert mistake["code"].startswith("annotations.")
    assert WorkItem.objects.get().state == states.AUDIT
    decision = {
        "slot": slot["slot_id"], "lease_no": slot["lease_no"], "revision": slot["revision_id"],
        "verdict": "return", "document": document(),
    }  # fmt: skip
    assert auditor("POST", "labelx/audits/", {"decisions": [decision]}).status_code == 400
    assert AnnotationRevision.objects.count() == 1
