"""Branches and tags over the API: where they end."""

from __future__ import annotations

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
