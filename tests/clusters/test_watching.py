"""List and watch against the stand-in of a cluster, under faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from atom.clusters.kubernetes.connection import ClusterConnection, Limits
from atom.clusters.kubernetes.errors import ClusterFails
from atom.clusters.kubernetes.kubeconfig import parse_kubeconfig
from atom.clusters.kubernetes.listing import Held, Key, read_list
from atom.clusters.kubernetes.watching import Watcher, WatchSettings
from tests.fakes.kubernetes.cluster import Cluster

PATH = "/api/v1/namespaces/default/configmaps"
KIND = "configmaps."
QUICK = WatchSettings(silent_s=0.6, backoff_s=0.01, most_backoff_s=0.05)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(tls=True, controllers=False) as cluster:
        yield cluster


def connect(cluster: Cluster) -> ClusterConnection:
    access = parse_kubeconfig(cluster.kubeconfig())
    return ClusterConnection(access, ("127.0.0.0/8",), Limits(read_s=2))


def until(test: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not test():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.01)


def add(cluster: Cluster, name: str, value: str = "0") -> None:
    body = {"metadata": {"name": name, "labels": {"app": "a"}}, "data": {"value": value}}
    cluster.create(KIND, body, "default")


def write(cluster: Cluster, name: str, value: str) -> None:
    with connect(cluster) as door:
        door.patch(f"{PATH}/{name}", {"data": {"value": value}})


def remove(cluster: Cluster, name: str) -> None:
    with connect(cluster) as door:
        door.delete(f"{PATH}/{name}")


def truth(cluster: Cluster) -> dict[str, str]:
    rows = cluster.store.objects(cluster.machinery.kind(KIND).store_key, "default")
    return {row["metadata"]["name"]: row["data"]["value"] for row in rows}


def slim(body: dict[str, Any]) -> str:
    return str(body["data"]["value"])


Change = tuple[str, str | None, str | None]


class Run:
    """A watcher in a thread, with the changes that it reported."""

    def __init__(self, cluster: Cluster, settings: WatchSettings) -> None:
        self.changes: list[Change] = []
        self.stop = threading.Event()
        self.watcher: Watcher[str] = Watcher(
            lambda: connect(cluster), PATH, slim, self._note, selector="app=a", settings=settings
        )
        self.thread = threading.Thread(target=self.watcher.run, args=(self.stop,))

    def _note(self, key: Key, old: Held[str] | None, new: Held[str] | None) -> None:
        self.changes.append((key.name, old and old.value, new and new.value))

    def values(self) -> dict[str, str]:
        return {key.name: held.value for key, held in dict(self.watcher.objects).items()}


@contextmanager
def watching(cluster: Cluster, settings: WatchSettings = QUICK) -> Iterator[Run]:
    run = Run(cluster, settings)
    run.thread.start()
    try:
        until(lambda: run.watcher.synced.is_set() and cluster.faults.open_watches)
        yield run
    finally:
        run.stop.set()
        run.thread.join(20)
    assert not run.thread.is_alive()


def test_changes_are_reported_once_with_the_state_before_and_after(cluster: Cluster) -> None:
    add(cluster, "x")
    with watching(cluster) as run:
        write(cluster, "x", "1")
        add(cluster, "y")
        remove(cluster, "x")
        until(lambda: run.values() == {"y": "0"})
    assert run.changes == [("x", None, "0"), ("x", "0", "1"), ("y", None, "0"), ("x", "1", None)]
    assert run.watcher.last_heard_at is not None


def test_dropped_watches_lose_nothing(cluster: Cluster) -> None:
    with watching(cluster) as run:
        for number in range(6):
            add(cluster, f"n{number}")
            cluster.faults.drop_watches()
        remove(cluster, "n0")
        until(lambda: run.values() == truth(cluster))


def test_a_silent_watch_is_given_up(cluster: Cluster) -> None:
    with watching(cluster) as run:
        cluster.faults.silence_watches()
        add(cluster, "x")
        until(lambda: run.watcher.last_failure is not None)
        cluster.faults.silence_watches(False)
        until(lambda: run.values() == {"x": "0"})


def test_after_expired_history_a_list_finds_what_vanished(cluster: Cluster) -> None:
    add(cluster, "gone")
    add(cluster, "stays")
    with watching(cluster) as run:
        # No watch opens until the history is gone.
        cluster.faults.refuse(1000, code=500, path=PATH)
        cluster.faults.drop_watches()
        until(lambda: not cluster.faults.open_watches)
        kind = cluster.machinery.kind(KIND)
        cluster.store.remove(kind.store_key, ("default", "gone"))
        cluster.store.oldest_event = cluster.store.version + 1
        add(cluster, "new")
        cluster.faults._rules.clear()
        until(lambda: run.values() == {"stays": "0", "new": "0"})
    assert ("gone", "0", None) in run.changes


@pytest.mark.parametrize("code", [429, 500, 503, 504])
def test_refusals_are_waited_out(cluster: Cluster, code: int) -> None:
    with watching(cluster) as run:
        cluster.faults.refuse(1, code=code, path=PATH, method="GET")
        cluster.faults.drop_watches()
        add(cluster, "x")
        until(lambda: run.values() == {"x": "0"})


def test_events_twice_and_out_of_order_end_in_the_truth(cluster: Cluster) -> None:
    cluster.faults.duplicate_share, cluster.faults.reorder = 0.5, True
    settings = WatchSettings(silent_s=0.6, backoff_s=0.01, most_backoff_s=0.05, resync_s=0.5)
    with watching(cluster, settings) as run:
        for number in range(5):
            add(cluster, f"n{number}")
            write(cluster, f"n{number}", "1")
        remove(cluster, "n1")
        until(lambda: run.values() == truth(cluster))


def test_pages_are_one_list_and_a_failure_between_them_is_no_list(cluster: Cluster) -> None:
    for number in range(7):
        add(cluster, f"n{number}")
    with connect(cluster) as door:
        assert len(read_list(door, PATH, slim, page=3).objects) == 7
        pages = 0

        def fail_next() -> None:
            nonlocal pages
            pages += 1
            if pages == 2:
                cluster.faults.refuse(1, code=500, path=PATH)

        with pytest.raises(ClusterFails):
            read_list(door, PATH, slim, page=3, heard=fail_next)


def test_a_token_that_expires_begins_the_list_anew(cluster: Cluster) -> None:
    for number in range(5):
        add(cluster, f"n{number}")
    pages = 0

    def expire_first() -> None:
        nonlocal pages
        pages += 1
        if pages == 1:
            add(cluster, "n9")
            cluster.store.compacted = cluster.store.version

    with connect(cluster) as door:
        listing = read_list(door, PATH, slim, page=3, heard=expire_first)
    assert sorted(key.name for key in listing.objects) == ["n0", "n1", "n2", "n3", "n4", "n9"]


def test_a_quiet_watch_stops_at_once(cluster: Cluster) -> None:
    with watching(cluster, WatchSettings()) as run:
        run.stop.set()
        run.thread.join(5)
        assert not run.thread.is_alive()


def test_writes_carry_their_conditions(cluster: Cluster) -> None:
    add(cluster, "x")
    with connect(cluster) as door:
        old = door.get(f"{PATH}/x").body
        door.put(f"{PATH}/x", old | {"data": {"value": "1"}})
        with pytest.raises(ClusterFails) as stale:
            door.put(f"{PATH}/x", old)
        named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
        wish = named | {"data": {"value": "2"}}
        with pytest.raises(ClusterFails) as conflict:
            door.apply(f"{PATH}/x", wish, "atom")
        door.apply(f"{PATH}/x", wish, "atom", force=True)
        assert truth(cluster) == {"x": "2"}
        with pytest.raises(ClusterFails) as other:
            door.delete(f"{PATH}/x", uid="another")
        door.delete(f"{PATH}/x", uid=old["metadata"]["uid"])
    assert [row.value.extra["status_code"] for row in (stale, conflict, other)] == [409] * 3
    assert truth(cluster) == {}


def test_a_refusal_tells_how_long_to_wait(cluster: Cluster) -> None:
    cluster.faults.refuse(1, code=429, path=PATH)
    with connect(cluster) as door, pytest.raises(ClusterFails) as busy:
        door.get(PATH)
    assert busy.value.retry_after_s == 1.0
