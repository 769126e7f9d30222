"""Which versions stay, which expire, and what a legal hold keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from atom.core.ids import uuid7
from atom.datasets.catalog.actions.catalogue import create_tag, pin
from atom.datasets.commits.actions.branches import create_branch
from atom.datasets.errors import VersionCollected, VersionExpired, VersionGone
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import Dataset, Version
from atom.datasets.retention.actions.retention import (
    expire_versions,
    place_hold,
    release_hold,
    restore_version,
    set_retention,
)
from atom.datasets.retention.engines.retention import NumberedVersion, Policy, falling_out
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, delete_row, new_pusher, png
from tests.datasets.retention.test_garbage import AT_ONCE, NO_GRACE, collect, forget_uploads, stored

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def numbered(*ages_days: int) -> list[NumberedVersion]:
    return [
        NumberedVersion(uuid7(), number, NOW - timedelta(days=age))
        for number, age in enumerate(ages_days, start=1)
    ]


def test_a_policy_keeps_the_last_or_the_young_ones_and_always_the_newest() -> None:
    versions = numbered(40, 20, 10, 5)
    ids = [version.id for version in versions]

    assert falling_out(versions, Policy("all"), NOW) == []
    assert falling_out(versions, Policy("last", 3), NOW) == ids[:1]
    assert falling_out(versions, Policy("last", 9), NOW) == []
    assert falling_out(versions, Policy("days", 15), NOW) == ids[:2]
    assert falling_out(versions, Policy("days", 1), NOW) == ids[:3]


@pytest.fixture
def three(committing_db: None) -> Pusher:
    """Three versions of `main`; each has a file of its own that the next one lacks."""
    return made_once(push_three)


def push_three() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files())
    for number in (2, 3):
        pusher.push({f"only-{number}.png": png(100 + number)})
        pusher.commit([delete_row(f"only-{number}.png")]) if number == 2 else None
    return pusher


def dataset_of(pusher: Pusher) -> Dataset:
    return Dataset.objects.select_related("project").get(name=pusher.name)


def version(pusher: Pusher, number: int) -> Version:
    return Version.objects.select_related("dataset__project").get(number=number)


def keep_last(pusher: Pusher, count: int) -> list[int | None]:
    dataset = set_retention(dataset_of(pusher), Policy("last", count), pusher.user)
    return [found.number for found in expire_versions(dataset)]


def test_what_falls_out_expires_and_says_so(three: Pusher) -> None:
    assert keep_last(three, 2) == [1, 2]

    answer = three.client.get(f"{three.base}versions/v2/entries/")
    assert (answer.status_code, answer.json()["code"]) == (410, "version_expired")
    assert "restored" in answer.json()["detail"]
    listed = {row["ref"]: row["state"] for row in three.get("versions/")["results"]}
    assert listed == {"v1": "expired", "v2": "expired", "v3": "kept", "v4": "kept"}
    assert three.push({"more.png": png(7)})["number"] == 5


def test_tagged_pinned_and_heads_stay(three: Pusher) -> None:
    three.post("tags/", {"name": "release", "at": "v1"})
    three.post("branches/", {"name": "side", "at": "v2"})
    pin(version(three, 3), "run", "r1")

    assert keep_last(three, 1) == []


def test_a_branch_or_tag_is_refused_where_the_version_expired_since_it_was_read(
    three: Pusher,
) -> None:
    seen = version(three, 1)
    keep_last(three, 2)

    with pytest.raises(VersionExpired):
        create_branch(dataset_of(three), "old", seen, three.user)
    with pytest.raises(VersionExpired):
        create_tag(dataset_of(three), "old", seen, three.user)
    assert [row["name"] for row in three.get("branches/")["results"]] == ["main"]
    assert three.get("tags/")["results"] == []


def test_a_branch_that_begins_at_an_expired_version_keeps_its_files(three: Pusher) -> None:
    three.post("branches/", {"name": "old", "at": "v2"})
    forget_uploads()
    before = stored(three)
    Version.objects.filter(number=2).update(state="expired", expired_at=NOW)

    assert collect(three, rules=AT_ONCE).condemned.count() == 0

    assert before <= stored(three)
    restore_version(version(three, 2), three.user)
    assert three.get("versions/old/entries/")["results"]


def test_where_a_branch_left_main_stays_so_that_it_can_be_merged(three: Pusher) -> None:
    three.post("branches/", {"name": "side", "at": "v2"})
    three.push({"aside.png": png(9)}, branch="side")

    assert keep_last(three, 1) == [1, 3]

    merged = three.post("merges/", {"source": "side", "branch": "main"})
    assert merged["state"] == "published", merged["error"]
    assert three.get("versions/v5/entries/at/", path="aside.png")["path"] == "aside.png"


def test_expired_files_go_a_window_later_and_not_before(three: Pusher) -> None:
    forget_uploads()
    before = stored(three)
    keep_last(three, 2)

    waiting = collect(three, rules=NO_GRACE)
    assert waiting.condemned.count() > 0
    assert before <= stored(three)
    restored = restore_version(version(three, 2), three.user)
    assert restored.state == "kept"
    assert three.get("versions/v2/entries/")["results"]

    Version.objects.filter(number=2).update(state="expired", expired_at=NOW)
    collect(three, rules=AT_ONCE)
    gone = before - stored(three)
    assert any(key.startswith("packs/") for key in gone)
    assert not any(key.startswith(("commits/", "roots/")) for key in gone)
    assert version(three, 2).state == "collected"
    with pytest.raises(VersionCollected):
        restore_version(version(three, 2), three.user)
    with pytest.raises(VersionGone, match="was collected"):
        pin(version(three, 2), "run", "r2")
    assert three.get("versions/v4/entries/")["results"]
    assert compare_catalogue(three.project).is_equal


def test_a_hold_keeps_everything_until_it_is_released(three: Pusher) -> None:
    keep_last(three, 2)
    hold = place_hold(dataset_of(three), None, "a dispute", three.user)

    assert set(Version.objects.values_list("state", flat=True)) == {"kept"}
    assert expire_versions(dataset_of(three)) == []
    assert compare_catalogue(three.project).is_equal

    release_hold(hold, three.user)
    release_hold(hold, three.user)
    assert [found.number for found in expire_versions(dataset_of(three))] == [1, 2]
    assert compare_catalogue(three.project).is_equal


def test_a_hold_on_one_version_keeps_that_one(three: Pusher) -> None:
    place_hold(dataset_of(three), version(three, 1), "evidence", three.user)
    assert keep_last(three, 1) == [2, 3]
