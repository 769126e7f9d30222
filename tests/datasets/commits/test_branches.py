"""Branches and tags over the API: where they end."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from atom.accounts.models import AuditEvent
from tests.datasets.forks import FILES, paths_of
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member


def test_a_branch_is_deleted_where_it_was_seen_and_nowhere_else(forked: Pusher) -> None:
    seen = forked.head("fix")
    version = forked.push({"a.png": png(1)}, branch="fix")
    address = f"{forked.base}branches/fix/?expected_head="

    moved = forked.client.delete(f"{address}{seen}")
    assert (moved.status_code, moved.json()["code"]) == (409, "branch_moved")
    assert moved.json()["head"] == version["commit"]
    assert forked.client.delete(f"{address}{version['commit']}").status_code == 204
    assert forked.client.get(f"{forked.base}branches/fix/").status_code == 404
    # Its versions stay, and AuditEvent says who did it.
    assert forked.get(f"versions/{version['ref']}/")["commit"] == version["commit"]
    assert AuditEvent.objects.filter(verb="branch.deleted", actor=forked.user).count() == 1


def test_a_branch_of_a_deleted_name_begins_anew(forked: Pusher) -> None:
    first = forked.push({"a.png": png(1)}, branch="fix")
    forked.client.delete(f"{forked.base}branches/fix/?expected_head={first['commit']}")

    forked.post("branches/", {"name": "fix", "at": "v1"})
    second = forked.push({"b.png": png(2)}, branch="fix")

    assert second["parents"] == first["parents"]
    assert paths_of(forked, "fix") == {*FILES, "b.png"}


def test_main_is_never_deleted(forked: Pusher) -> None:
    answer = forked.client.delete(f"{forked.base}branches/main/?expected_head={forked.head()}")

    assert (answer.status_code, answer.json()["code"]) == (409, "branch_protected")


def test_a_tag_is_taken_away_by_administrators_only(forked: Pusher) -> None:
    forked.post("tags/", {"name": "release", "at": "v1"})
    assert forked.client.delete(f"{forked.base}tags/release/").status_code == 403

    admin = Pusher(forked.project, make_member(forked.project, "admin", "boss"))

    assert admin.client.delete(f"{forked.base}tags/release/").status_code == 204
    assert forked.get("tags/")["results"] == []
    event = AuditEvent.objects.get(verb="tag.deleted")
    assert (event.actor_name, event.data["at"]) == ("boss", forked.head())


def test_branches_tell_how_far_they_are_from_main_and_who_made_them(forked: Pusher) -> None:
    forked.push({"a.png": png(1)}, branch="fix")
    forked.push({"b.png": png(2)}, branch="fix")
    forked.push({"c.png": png(3)})

    rows = {row["name"]: row for row in forked.get("branches/")["results"]}
    facts = {name: (row["ahead"], row["behind"]) for name, row in rows.items()}
    assert facts == {"fix": (2, 1), "main": (0, 0)}
    assert rows["fix"]["created_by"] == forked.user.username
    assert forked.get("branches/fix/")["ahead"] == 2


def test_a_list_of_branches_asks_as_much_for_one_as_for_many(
    forked: Pusher, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        forked.post("branches/", {"name": f"b{number}", "at": "v1"})
        forked.post("tags/", {"name": f"t{number}", "at": "v1"})
    for address in ("branches/", "tags/"):
        with CaptureQueriesContext(connection) as one:
            forked.get(address, limit=1)
        with django_assert_max_num_queries(len(one)):
            forked.get(address)


def test_branches_and_tags_are_found_by_a_part_of_their_name(forked: Pusher) -> None:
    forked.post("tags/", {"name": "release-1", "at": "v1"})

    assert [row["name"] for row in forked.get("branches/", q="FI")["results"]] == ["fix"]
    (tag,) = forked.get("tags/", q="lease")["results"]
    assert (tag["name"], tag["created_by"]) == ("release-1", forked.user.username)
    assert forked.get("tags/", q="none")["results"] == []
