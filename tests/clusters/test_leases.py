"""Leases against the stand-in: contenders, lost holders and clocks that differ."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFailure
from atom.clusters.kubernetes.kubeconfig import parse_kubeconfig
from atom.clusters.kubernetes.leases import Lease, LeaseSettings
from atom.clusters.kubernetes.listing import Key
from tests.fakes.kubernetes.cluster import Cluster


class Contender:
    """A lease with a monotonic clock of its own and a wall clock that is wrong."""

    def __init__(self, door: ClusterConnection, name: str, skew: timedelta) -> None:
        self.seconds = 0.0
        self.lease = Lease(
            door,
            Key("default", "watcher"),
            name,
            monotonic=lambda: self.seconds,
            now=lambda: datetime.now(UTC) + skew,
        )


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(tls=True, controllers=False) as cluster:
        yield cluster


@pytest.fixture
def two(cluster: Cluster) -> Iterator[tuple[Contender, Contender]]:
    access = parse_kubeconfig(cluster.kubeconfig())
    with ClusterConnection(access, ("127.0.0.0/8",)) as door:
        yield (
            Contender(door, "a", timedelta(hours=-3)),
            Contender(door, "b", timedelta(hours=3)),
        )


def test_one_of_two_holds_and_a_release_hands_over(two: tuple[Contender, Contender]) -> None:
    a, b = two
    assert a.lease.try_once()
    assert not b.lease.try_once()
    assert (a.lease.is_held(), b.lease.is_held()) == (True, False)
    a.lease.release()
    assert not a.lease.is_held()
    assert b.lease.try_once()


def test_a_killed_holder_is_followed_after_the_duration_whatever_the_clocks_say(
    two: tuple[Contender, Contender],
) -> None:
    a, b = two
    assert a.lease.try_once()
    b.seconds = 1000.0
    assert not b.lease.try_once()
    b.seconds += 14.9
    assert not b.lease.try_once()
    b.seconds += 0.2
    assert b.lease.try_once()


def test_renewals_that_are_seen_keep_a_contender_waiting(two: tuple[Contender, Contender]) -> None:
    a, b = two
    for _ in range(5):
        assert a.lease.try_once()
        assert not b.lease.try_once()
        a.seconds += 9.0
        b.seconds += 9.0


def test_a_holder_that_is_cut_off_stops_before_another_begins(
    cluster: Cluster, two: tuple[Contender, Contender]
) -> None:
    a, b = two
    assert a.lease.try_once()
    assert not b.lease.try_once()
    a.seconds = b.seconds = 9.9
    cluster.faults.drop_request(1, path="leases")
    with pytest.raises(ClusterFailure):
        a.lease.try_once()
    assert a.lease.is_held()
    a.seconds = b.seconds = 10.1
    assert not a.lease.is_held()
    assert not b.lease.try_once()
    b.seconds = 15.1
    assert b.lease.try_once()
    assert not a.lease.try_once()


def test_a_renewal_whose_answer_is_lost_is_done_again(
    cluster: Cluster, two: tuple[Contender, Contender]
) -> None:
    a, _ = two
    assert a.lease.try_once()
    cluster.faults.lose_response(1, method="PUT", path="leases")
    with pytest.raises(ClusterFailure):
        a.lease.try_once()
    a.seconds = 9.0
    assert a.lease.try_once()


def test_times_that_cannot_be_safe_are_refused() -> None:
    with pytest.raises(ValueError, match="renew_s"):
        LeaseSettings(duration_s=10, renew_s=10.0)
