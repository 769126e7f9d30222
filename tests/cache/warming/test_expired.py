"""Versions that nobody may read any more, and the bytes of them that a node still has."""

from __future__ import annotations

from typing import Any

import pytest

from atom.cache.backends.local.paths import pack_store
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.eviction import evict
from atom.cache.warming.actions.warming import recover, request_warm
from atom.cache.warming.actions.watermarks import make_room
from atom.clusters.models import Node
from atom.core import clock
from atom.datasets.catalog.reads import packs_of
from atom.datasets.models import Version
from atom.datasets.retention.actions.retention import expire_version
from tests.cache.warming.test_warming import let_time_pass, version_of
from tests.datasets.pushing import Pusher, class_files, delete_row, png


@pytest.fixture
def two(pusher: Pusher, node: Node) -> tuple[Version, Version]:
    """Two versions without a file in common, both warm; the first one has expired since."""
    pusher.push({"new.png": png(500)})
    pusher.commit([delete_row(path) for path in class_files()])
    first, last = version_of(pusher, 1), version_of(pusher, 3)
    for version in (first, last):
        request_warm(version, node)
    expire_version(first, clock.now())
    return first, last


def states() -> dict[int | None, str]:
    return dict(CacheRecord.objects.values_list("version__number", "state"))


def test_what_expired_goes_first_and_stops_nobody(
    pusher: Pusher, two: tuple[Version, Version], settings: Any
) -> None:
    settings.ATOM_CACHE_LIMIT_BYTES = 1

    assert make_room() == 2

    assert states() == {1: "cold", 3: "cold"}
    assert pack_store(pusher.project).present() == set()
    coverage = CacheRecord.objects.values_list("packs_present", "bytes_present")
    assert list(coverage) == [(0, 0), (0, 0)]


def test_what_expired_is_evicted_by_hand_and_keeps_no_packs_of_others(
    pusher: Pusher, two: tuple[Version, Version], node: Node
) -> None:
    _, last = two

    assert evict(last, node) is not None
    answer = pusher.client.post(f"{pusher.base}versions/v1/evict/", {})

    assert (answer.status_code, answer.json()[0]["state"]) == (202, "cold")
    assert pack_store(pusher.project).present() == set()


def test_a_version_whose_manifest_is_collected_takes_along_what_nobody_wants(
    pusher: Pusher, two: tuple[Version, Version], node: Node
) -> None:
    first, last = two
    Version.objects.filter(pk=first.pk).update(state="collected", root="ab" * 32)

    assert evict(version_of(pusher, 1), node) is not None

    assert states() == {1: "cold", 3: "warm"}
    assert pack_store(pusher.project).present() == set(packs_of(last))


def test_a_warm_up_of_what_expired_meanwhile_ends(
    pusher: Pusher, two: tuple[Version, Version], node: Node
) -> None:
    first, _ = two
    record = CacheRecord.objects.get(version=first)
    CacheRecord.objects.filter(pk=record.pk).update(state="warming", claimed_until=None)
    let_time_pass(record, claimed=False)

    assert recover() == 1

    record.refresh_from_db()
    assert (record.state, record.packs_present) == ("failed", 0)
    assert "retention" in record.error
