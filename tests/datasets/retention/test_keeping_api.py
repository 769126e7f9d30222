"""Garbage runs, retention and legal holds over the API, for administrators."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.actions import grant_role
from atom.accounts.models import AuditEvent
from atom.datasets.models import Dataset, Version
from atom.datasets.retention.actions.garbage import add_garbage_run, collect_garbage
from tests.datasets.pushing import Pusher, class_files, png
from tests.datasets.retention.test_garbage import NO_GRACE, orphan


@pytest.fixture
def admin(pusher: Pusher) -> Pusher:
    """A pusher who administers the project."""
    grant_role(pusher.user, "admin", pusher.project)
    return pusher


def runs_of(pusher: Pusher) -> str:
    return f"/api/v1/projects/{pusher.project.slug}/garbage-runs/"


def test_a_run_is_asked_for_read_and_pardoned(admin: Pusher) -> None:
    admin.push(class_files())
    orphan(admin)

    report = admin.post(runs_of(admin), {})
    assert (report["is_dry_run"], report["state"]) == (True, "done")
    run = add_garbage_run(admin.project, admin.user, is_dry_run=False)
    collect_garbage(run.pk, NO_GRACE)

    listed = admin.client.get(runs_of(admin)).json()["results"]
    assert [row["id"] for row in listed] == [str(run.pk), report["id"]]
    assert (listed[0]["condemned_count"], listed[0]["deleted_count"]) == (1, 0)
    assert admin.post(f"{runs_of(admin)}{run.pk}/pardon/", {})["condemned_count"] == 0
    again = admin.client.post(f"{runs_of(admin)}{run.pk}/pardon/")
    assert (again.status_code, again.json()["code"]) == (409, "pardon_too_late")
    assert AuditEvent.objects.filter(verb="garbage.pardoned").count() == 1


def test_a_list_of_runs_costs_the_same_for_one_and_for_many(
    admin: Pusher, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        collect_garbage(add_garbage_run(admin.project, None, is_dry_run=True).pk)
    with django_assert_max_num_queries(8):
        assert len(admin.client.get(runs_of(admin)).json()["results"]) == 5


def test_a_researcher_may_not_collect_hold_or_let_go(pusher: Pusher) -> None:
    pusher.push(class_files())
    asked = [
        pusher.client.get(runs_of(pusher)),
        pusher.client.post(runs_of(pusher), {}),
        pusher.client.put(f"{pusher.base}retention/", {"kind": "all", "limit": None}),
        pusher.client.post(f"{pusher.base}holds/", {"reason": "x"}),
        pusher.client.post(f"{pusher.base}versions/v1/restore/"),
    ]
    assert {answer.status_code for answer in asked} == {403}


def test_retention_tells_what_it_would_let_go_before_it_does(admin: Pusher) -> None:
    for number in range(3):
        admin.push({f"{number}.png": png(number)})

    answer = admin.client.put(f"{admin.base}retention/", {"kind": "last", "limit": 1})

    assert answer.json() == {"kind": "last", "limit": 1, "due_count": 2, "due": ["v1", "v2"]}
    assert admin.get("retention/") == answer.json()
    assert admin.get("")["retention"] == "last"
    assert not Version.objects.exclude(state="kept").exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "last"}, "limit"),
        ({"kind": "last", "limit": 0}, "limit"),
        ({"kind": "all", "limit": 3}, "limit"),
        ({"kind": "some", "limit": 3}, "kind"),
        ({"kind": "all", "limit": None, "extra": 1}, "extra"),
        ({}, "kind"),
    ],
)
def test_a_wrong_retention_is_refused_and_changes_nothing(
    admin: Pusher, body: dict[str, Any], field: str
) -> None:
    answer = admin.client.put(f"{admin.base}retention/", body)

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert Dataset.objects.get().retention == "all"


def test_a_hold_is_placed_listed_and_released(admin: Pusher) -> None:
    admin.push(class_files())

    hold = admin.post("holds/", {"reason": "a dispute", "ref": "v1"})
    assert (hold["ref"], hold["released_at"]) == ("v1", None)
    released = admin.post(f"holds/{hold['id']}/release/", {})
    again = admin.post(f"holds/{hold['id']}/release/", {})

    assert released["released_at"] == again["released_at"] is not None
    assert [row["reason"] for row in admin.get("holds/")["results"]] == ["a dispute"]
    assert AuditEvent.objects.filter(verb="hold.released").count() == 1
    unknown = admin.client.post(f"{admin.base}holds/{admin.user.pk}/release/")
    assert unknown.status_code == 404
