"""LabelX over HTTP, as the portal and the SDK call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from atom.accounts.models import Project
from atom.labeling import states
from atom.labeling.actions import leases
from atom.labeling.models import AnnotationRevision, LabelTask
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.labeling import make_task, unlabelled
from tests.labeling.asking import Api, new_task
from tests.labeling.test_leases import let_expire
from tests.labeling.work import submit_all

pytestmark = pytest.mark.django_db


def test_a_task_is_made_from_unlabelled_files_started_labeled_audited_and_published(
    project: Project,
    researcher: Api,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    labeler, auditor = (Api(make_member(project, role)) for role in ("labeler", "researcher"))
    made = researcher("POST", f"projects/{project.slug}/labelx/tasks/", new_task(project))
    assert made.status_code == 201
    task = made.json()
    assert task["progress"]["total"] == 3
    assert (task["dataset"], task["dataset_ref"]) == ("digits", "v1")
    assert task["labels"][7]["hotkey"] == "7"
    base = f"labelx/tasks/{task['id']}"
    assert researcher("POST", f"{base}/start/").json()["state"] == "active"

    slots = labeler("POST", f"{base}/lease/?n=25").json()["lease"]
    assert len(slots) == 3
    assert slots[0]["media_url"].startswith("/media/")
    sent = [
        {"slot": s["id"], "lease_no": s["lease_no"], "idempotency_key": s["id"], "label_id": n}
        for n, s in enumerate(slots)
    ]
    answer = labeler("POST", f"{base}/submit-batch/", {"submissions": sent})
    assert [row["ok"] for row in answer.json()["results"]] == [True] * 3

    audits = auditor("POST", f"{base}/audit-lease/?n=25").json()["lease"]
    assert [audit["label_id"] for audit in audits] == [0, 1, 2]
    verdicts = ["return", "accept", "accept"]
    decided = auditor("POST", "labelx/audits/", {"decisions": decisions(audits, verdicts)})
    assert all(row["ok"] for row in decided.json()["results"])

    [returned] = labeler("GET", f"{base}/my-work/").json()["results"]
    assert (returned["state"], returned["returned_comment"]) == ("returned", "look again")
    fix = {"lease_no": returned["lease_no"], "idempotency_key": "fix", "label_id": 9}
    assert labeler("POST", f"labelx/slots/{returned['id']}/submit/", fix).status_code == 201
    [again] = auditor("POST", f"{base}/audit-lease/?n=25").json()["lease"]
    with django_capture_on_commit_callbacks(execute=True):
        auditor("POST", "labelx/audits/", {"decisions": decisions([again], ["accept"])})
    assert researcher("GET", f"{base}/").json()["state"] == "completed"

    with django_capture_on_commit_callbacks(execute=True):
        published = researcher("POST", f"{base}/publish/", {})
    assert published.status_code == 202
    done = researcher("GET", f"{base}/").json()
    assert (done["state"], done["output_version"]["ref"]) == ("published", "v2")
    assert done["progress"]["accepted"] == 3
    [stats] = researcher("GET", f"{base}/stats/").json()["results"]
    assert (stats["submitted"], stats["returned"], stats["accepted"]) == (4, 1, 3)


def decisions(audits: list[dict[str, Any]], verdicts: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "slot": audit["slot_id"],
            "lease_no": audit["lease_no"],
            "revision": audit["revision_id"],
            "verdict": verdict,
            "comment": "look again" if verdict == "return" else "",
        }
        for audit, verdict in zip(audits, verdicts, strict=True)
    ]


def test_tasks_are_found_by_a_part_of_their_name(project: Project, researcher: Api) -> None:
    path = f"projects/{project.slug}/labelx/tasks/"
    body = new_task(project)
    for name in ("Sort shapes", "Name digits"):
        assert researcher("POST", path, {**body, "name": name}).status_code == 201
    found = researcher("GET", f"{path}?q=SHAPE").json()["results"]
    assert [task["name"] for task in found] == ["Sort shapes"]


def test_a_stale_lease_answers_409_and_names_the_stored_revision() -> None:
    task = make_task(1)
    sleeper, other = (make_member(task.project, "labeler") for _ in range(2))
    [slot] = leases.lease_labels(task, sleeper, 1)
    let_expire(task)
    leases.lease_labels(task, other, 1)
    body = {"lease_no": 1, "idempotency_key": "late", "label_id": 2}
    answer = Api(sleeper)("POST", f"labelx/slots/{slot.pk}/submit/", body)
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_lease")
    stored = AnnotationRevision.objects.get(pk=answer.json()["revision"])
    assert stored.accepted is False
    history = Api(sleeper)("GET", f"labelx/items/{slot.work_item_id}/revisions/")
    assert [row["accepted"] for row in history.json()["results"]] == [False]


def test_a_person_is_told_that_an_item_is_open_in_their_other_window() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    api = Api(labeler)
    again, done = leases.lease_labels(task, labeler, 2)
    body = {"lease_no": 1, "idempotency_key": "there", "label_id": 2}
    assert api("POST", f"labelx/slots/{done.pk}/submit/", body).json()["accepted"] is True
    let_expire(task)
    leases.lease_labels(task, labeler, 1)
    codes = {
        path: api("POST", f"labelx/slots/{path}/", {"lease_no": 1}).json()["code"]
        for path in (f"{again.pk}/heartbeat", f"{again.pk}/release", f"{done.pk}/heartbeat")
    }
    assert set(codes.values()) == {"lease_elsewhere"}
    late = api("POST", f"labelx/slots/{done.pk}/submit/", {**body, "idempotency_key": "here"})
    assert (late.status_code, late.json()["code"]) == (409, "lease_elsewhere")
    assert AnnotationRevision.objects.get(pk=late.json()["revision"]).accepted is False


def test_a_label_outside_the_ontology_is_a_field_error() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    body = {"lease_no": 1, "idempotency_key": "k", "label_id": 99}
    answer = Api(labeler)("POST", f"labelx/slots/{slot.pk}/submit/", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_label")
    assert "label_id" in answer.json()["errors"]


def test_drafts_come_back_with_the_work() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    api = Api(labeler)
    saved = api("PUT", f"labelx/slots/{slot.pk}/draft/", {"seq": 3, "document": {"label_id": 4}})
    assert saved.json() == {"seq": 3, "document": {"label_id": 4}}
    [held] = api("GET", f"labelx/tasks/{task.pk}/my-work/").json()["results"]
    assert (held["draft"], held["draft_seq"]) == ({"label_id": 4}, 3)


def test_heartbeat_release_and_skip_answer_by_lease() -> None:
    task = make_task(3)
    labeler = make_member(task.project, "labeler")
    api = Api(labeler)
    one, two, three = (str(s.pk) for s in leases.lease_labels(task, labeler, 3))
    assert api("POST", f"labelx/slots/{one}/heartbeat/", {"lease_no": 1}).status_code == 200
    assert api("POST", f"labelx/slots/{two}/release/", {"lease_no": 1}).status_code == 204
    assert api("POST", f"labelx/slots/{three}/skip/", {"lease_no": 1}).status_code == 204
    stale = api("POST", f"labelx/slots/{two}/heartbeat/", {"lease_no": 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_lease")


def test_auditing_only_ones_own_work_is_told_plainly() -> None:
    task = make_task(1, audit_percent=100)
    labeler = make_member(task.project, "admin")
    submit_all(leases.lease_labels(task, labeler, 1), labeler)
    answer = Api(labeler)("POST", f"labelx/tasks/{task.pk}/audit-lease/")
    assert (answer.status_code, answer.json()["code"]) == (403, "auditor_is_labeler")


def test_a_labeler_passes_nobodys_work() -> None:
    task = make_task(1, audit_percent=100)
    labeler, other = (make_member(task.project, "labeler") for _ in range(2))
    submit_all(leases.lease_labels(task, labeler, 1), labeler)
    refused = Api(other)("POST", f"labelx/tasks/{task.pk}/audit-lease/")
    assert (refused.status_code, refused.json()["code"]) == (403, "role_too_low")
    # Leased while the role was another one.
    [audit] = leases.lease_audits(task, other, 1)
    label = task.slots.get(role=states.LABEL_ROLE)
    decision = {
        "slot": str(audit.pk), "lease_no": 1, "revision": str(label.revision_id),
        "verdict": "accept",
    }  # fmt: skip
    answer = Api(other)("POST", "labelx/audits/", {"decisions": [decision]})
    assert (answer.status_code, answer.json()["code"]) == (403, "role_too_low")
    assert task.items.get().state == states.AUDIT


@pytest.mark.parametrize("second", ["accept", "return"])
def test_two_verdicts_on_one_item_in_one_request_are_refused(second: str) -> None:
    task = make_task(2, audit_percent=100)
    labeler, auditor = (make_member(task.project, "researcher") for _ in range(2))
    submit_all(leases.lease_labels(task, labeler, 2), labeler)
    api = Api(auditor)
    one, two = api("POST", f"labelx/tasks/{task.pk}/audit-lease/?n=2").json()["lease"]
    verdicts = decisions([one, two, one], ["accept", "accept", second])
    answer = api("POST", "labelx/audits/", {"decisions": verdicts})
    assert (answer.status_code, answer.json()["code"]) == (400, "decided_twice")
    assert answer.json()["slots"] == [one["slot_id"]]
    assert set(task.items.values_list("state", flat=True)) == {states.AUDIT}


def test_the_items_of_a_state_come_with_their_labels_in_pages() -> None:
    task = make_task(5)
    labeler = make_member(task.project, "labeler")
    submit_all(leases.lease_labels(task, labeler, 3), labeler, label_id=6)
    api = Api(labeler)
    first = api("GET", f"labelx/tasks/{task.pk}/items/?state=accepted&limit=2").json()
    rest = api("GET", f"labelx/tasks/{task.pk}/items/?state=accepted&cursor={first['next']}")
    rows = first["results"] + rest.json()["results"]
    assert [row["path"] for row in rows] == list(unlabelled(3))
    assert {(row["label_id"], row["labeler"]) for row in rows} == {(6, labeler.username)}
    assert api("GET", f"labelx/tasks/{task.pk}/items/?state=odd").status_code == 400


@pytest.mark.parametrize("n", ["0", "201", "many", "-1"])
def test_a_lease_size_out_of_range_is_refused(n: str) -> None:
    task = make_task(1)
    answer = Api(make_member(task.project, "labeler"))(
        "POST", f"labelx/tasks/{task.pk}/lease/?n={n}"
    )
    assert answer.status_code == 400


def test_an_ontology_in_use_cannot_change_but_gets_versions(
    project: Project, researcher: Api
) -> None:
    body = {"name": "letters", "labels": [{"name": "a"}, {"name": "b"}]}
    made = researcher("POST", f"projects/{project.slug}/labelx/ontologies/", body).json()
    version = made["versions"][0]
    path = f"labelx/ontologies/{made['id']}/versions/"
    more = {"labels": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "guideline": "all three"}
    assert researcher("PUT", f"{path}1/", more).status_code == 200
    task = new_task(project, ontology_version=version["id"])
    del task["labels"]
    started = researcher("POST", f"projects/{project.slug}/labelx/tasks/", task).json()
    researcher("POST", f"labelx/tasks/{started['id']}/start/")
    refused = researcher("PUT", f"{path}1/", more)
    assert (refused.status_code, refused.json()["code"]) == (409, "ontology_locked")
    added = researcher("POST", path, more)
    assert (added.status_code, added.json()["number"]) == (201, 2)
    listed = researcher("GET", f"projects/{project.slug}/labelx/ontologies/").json()["results"]
    assert [v["number"] for v in listed[0]["versions"]] == [2, 1]


WRITES = ["start", "pause", "publish"]


@pytest.mark.parametrize("action", WRITES)
def test_a_labeler_may_not_run_the_task(action: str) -> None:
    task = make_task(1)
    answer = Api(make_member(task.project, "labeler"))(
        "POST", f"labelx/tasks/{task.pk}/{action}/", {}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "role_too_low")


def test_a_viewer_reads_and_does_not_label() -> None:
    task = make_task(1)
    api = Api(make_member(task.project, "viewer"))
    assert api("GET", f"labelx/tasks/{task.pk}/").status_code == 200
    assert api("POST", f"labelx/tasks/{task.pk}/lease/").status_code == 403


def paths_of(task: LabelTask) -> list[tuple[str, str]]:
    slot = task.slots.get()
    base = f"labelx/tasks/{task.pk}"
    reads = [f"{base}/", f"{base}/items/", f"{base}/stats/", f"{base}/my-work/"]
    reads += [f"labelx/items/{slot.work_item_id}/revisions/"]
    reads += [f"projects/{task.project.slug}/labelx/{kind}/" for kind in ("tasks", "ontologies")]
    reads += [f"labelx/ontologies/{task.ontology_version.ontology_id}/"]
    actions = ["start", "pause", "publish", "lease", "submit-batch", "audit-lease"]
    writes = [f"{base}/{action}/" for action in actions]
    steps = ["heartbeat", "release", "skip", "reopen", "submit"]
    writes += [f"labelx/slots/{slot.pk}/{step}/" for step in steps]
    return (
        [("GET", p) for p in reads]
        + [("POST", p) for p in writes]
        + [("PUT", f"labelx/slots/{slot.pk}/draft/")]
    )


def test_strangers_find_nothing_and_nobody_gets_in() -> None:
    task = make_task(1)
    stranger = Api(make_member(make_project(), "admin"))
    for method, path in paths_of(task):
        assert stranger(method, path, {}).status_code == 404, path
        assert Api()(method, path, {}).status_code == 401, path


def test_a_strangers_decision_on_a_foreign_slot_is_not_found() -> None:
    task = make_task(1, audit_percent=100)
    labeler = make_member(task.project, "labeler")
    [outcome] = submit_all(leases.lease_labels(task, labeler, 1), labeler)
    slot = task.slots.get(role=states.AUDIT_ROLE)
    assert outcome.revision is not None
    decision = {
        "slot": str(slot.pk), "lease_no": 0, "revision": str(outcome.revision.pk),
        "verdict": "accept",
    }  # fmt: skip
    answer = Api(make_user())("POST", "labelx/audits/", {"decisions": [decision]})
    assert answer.json()["results"][0]["code"] == "not_found"


def test_lists_cost_the_same_queries_for_one_and_for_twenty_tasks(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    task = make_task(2)
    project = task.project
    api = Api(make_member(project, "viewer"))
    path = f"projects/{project.slug}/labelx/tasks/"
    counts = []
    for n in (0, 19):
        for index in range(n):
            make_task(1, project=project, version=task.dataset_version, name=f"t{index}")
        with django_assert_max_num_queries(50) as queries:
            assert len(api("GET", path).json()["results"]) == 1 + n
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("what", ["lease", "my-work", "items", "audit-lease"])
def test_work_costs_the_same_queries_for_one_and_for_twenty_items(
    what: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    task = make_task(60, audit_percent=100)
    counts = []
    for n in (1, 20):
        labeler, auditor = (make_member(task.project, r) for r in ("labeler", "researcher"))
        held = leases.lease_labels(task, labeler, n)
        if what == "audit-lease":
            submit_all(held, labeler)
        user = auditor if what == "audit-lease" else labeler
        method = "GET" if what in {"my-work", "items"} else "POST"
        query = {"items": f"limit={n}", "my-work": ""}.get(what, f"n={n}")
        with django_assert_max_num_queries(50) as queries:
            answer = Api(user)(method, f"labelx/tasks/{task.pk}/{what}/?{query}").json()
        assert len(answer.get("lease", answer.get("results"))) == n
        counts.append(len(queries))
    assert counts[0] == counts[1]
