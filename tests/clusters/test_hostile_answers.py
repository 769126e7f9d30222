"""Lists and watches of a server that sends anything but what was asked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from atom.clusters.kubernetes import listing
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails, ClusterFailure
from atom.clusters.kubernetes.identity import check_identity, read_identity
from atom.clusters.kubernetes.leases import Lease
from atom.clusters.kubernetes.listing import Key, held_object, read_list
from atom.clusters.kubernetes.storable import storable
from atom.clusters.registration.engines.nodes import read_nodes
from tests.clusters.test_watching import PATH, add, connect, slim, until, watching
from tests.fakes.kubernetes.answers import Answer, json_answer
from tests.fakes.kubernetes.cluster import Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(tls=True, controllers=False) as cluster:
        yield cluster


def event(kind: Any, body: Any) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def stored(**metadata: Any) -> dict[str, Any]:
    right = {"name": "y", "namespace": "default", "uid": "u", "resourceVersion": "7"}
    return {"metadata": {**right, **metadata}, "data": {"value": "1"}}


BOMB = gzip.compress(event("ADDED", stored()) + b" " * (64 << 20))
WATCHES = {
    "html": Answer(200, b"<!DOCTYPE html>", "text/html"),
    "html without its type": Answer(200, b"<!DOCTYPE html>\n<html>\n"),
    "login": Answer(302, b"", "text/html", headers={"location": "https://sso.example/"}),
    "gateway": Answer(502, b"<html>Bad gateway</html>", "text/html"),
    "cut": Answer(200, event("ADDED", stored())[:-30] + b"\n"),
    "no object": Answer(200, b'{"type": "ADDED"}\n'),
    "a list": Answer(200, b"[1, 2]\n"),
    "deep": Answer(200, b"[" * 100_000 + b"\n"),
    "an object that is a list": Answer(200, event("ADDED", [])),
    "no metadata": Answer(200, event("ADDED", {"metadata": None})),
    "another kind": Answer(200, event("EXPLODED", stored())),
    "a kind that is a map": Answer(200, event({"a": 1}, stored())),
    "a version that is a number": Answer(200, event("ADDED", stored(resourceVersion=7))),
    "a name of 1 MB": Answer(200, event("ADDED", stored(name="a" * (1 << 20)))),
    "an error of another form": Answer(200, event("ERROR", {"code": "x", "details": []})),
    "a bomb": Answer(200, BOMB, headers={"content-encoding": "gzip"}),
    "an endless line": Answer(200, b" " * (9 << 20)),
    "nothing": Answer(200, b""),
}
# An event that says itself that it is an error.
_FAILURES = {"an error of another form": ClusterFails}


@pytest.mark.parametrize("kind", WATCHES)
def test_a_watch_of_another_form_is_a_failure_and_the_truth_comes_back(
    cluster: Cluster, kind: str
) -> None:
    add(cluster, "x")
    with watching(cluster) as run:
        # As long as the server answers so: the first healthy event clears the failure.
        cluster.faults.replace(WATCHES[kind], 10_000, path=PATH)
        cluster.faults.drop_watches()
        until(lambda: isinstance(run.watcher.last_failure, _FAILURES.get(kind, ClusterAnswerWrong)))
        assert run.values() == {"x": "0"}
        cluster.faults.stop()
        add(cluster, "later")
        until(lambda: run.values() == {"x": "0", "later": "0"})
        until(lambda: run.watcher.last_failure is None)
        assert run.thread.is_alive()


def test_a_list_without_an_end_is_no_list(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_MAX_PAGES", 3)
    page = {"metadata": {"resourceVersion": "7", "continue": "on"}, "items": []}
    cluster.faults.replace(json_answer(200, page), 100, path=PATH)
    with connect(cluster) as door, pytest.raises(ClusterAnswerWrong):
        read_list(door, PATH, slim)


def test_more_objects_than_are_kept_are_no_list(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        add(cluster, f"n{number}")
    monkeypatch.setattr(listing, "MAX_OBJECTS", 3)
    with connect(cluster) as door, pytest.raises(ClusterAnswerWrong):
        read_list(door, PATH, slim, page=2)


def test_a_list_that_is_a_bomb_is_no_list(cluster: Cluster) -> None:
    bomb = gzip.compress(b'{"items": [' + b" " * (64 << 20) + b"]}")
    packed = Answer(200, bomb, headers={"content-encoding": "gzip"})
    cluster.faults.replace(packed, path=PATH)
    with connect(cluster) as door, pytest.raises(ClusterAnswerWrong):
        read_list(door, PATH, slim)


@pytest.mark.parametrize(
    "record",
    [
        {"metadata": None},
        {"metadata": {}, "spec": []},
        {"metadata": {}, "spec": {"holderIdentity": ["a"], "leaseDurationSeconds": 1e9}},
        {"metadata": {}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 10**12}},
    ],
)
def test_a_lease_of_another_form_is_not_taken_as_ours(
    cluster: Cluster, record: dict[str, Any]
) -> None:
    cluster.faults.replace(json_answer(200, record), 100, path="/leases/")
    with connect(cluster) as door:
        lease = Lease(door, Key("default", "watcher"), "me", now=lambda: datetime.now(UTC))
        try:
            assert not lease.try_once()
        except ClusterFailure:
            assert not lease.is_held()


def test_a_lease_without_a_holder_is_taken_whatever_it_counts(cluster: Cluster) -> None:
    spec = {"holderIdentity": "", "leaseTransitions": "many"}
    right = {"metadata": {"name": "watcher", "resourceVersion": "1"}, "spec": spec}
    cluster.faults.replace(json_answer(200, right), 2, path="/leases/")
    with connect(cluster) as door:
        lease = Lease(door, Key("default", "watcher"), "me", now=lambda: datetime.now(UTC))
        assert lease.try_once()


def test_a_cluster_is_known_again_by_its_namespace(cluster: Cluster) -> None:
    with connect(cluster) as door:
        first = read_identity(door)
        check_identity("", first)
        check_identity(first, read_identity(door))
        cluster.swap()
        with pytest.raises(ClusterFailure, match=first):
            check_identity(first, read_identity(door))


def test_values_become_such_as_a_database_holds() -> None:
    raw = {"a\0b": "c\ud800", "deep": "d", "n": [10**400, float("inf"), float("nan"), True, 1.5]}
    nested: Any = "leaf"
    for _ in range(50):
        nested = [nested]
    assert storable(raw) == {"a?b": "c?", "deep": "d", "n": [None, None, None, True, 1.5]}
    assert "leaf" not in str(storable(nested))
    assert len(storable("x" * 10_000)) == 4096
    assert (
        len(storable(["x"] * 10_000)) == len(storable(dict.fromkeys(map(str, range(999))))) == 100
    )
    assert storable({1, 2}) is None


def test_a_form_that_is_kept_holds_no_text_that_cannot_be_stored() -> None:
    _, held = held_object(stored(), lambda body: {"message": "a\0"})
    assert held.value == {"message": "a?"}


def test_nodes_of_a_stranger_have_only_valid_names_and_labels() -> None:
    long = "a" * (1 << 20)
    script = "<script>alert(1)</script>"
    nodes = [
        {"metadata": {"name": name, "labels": labels}}
        for name, labels in (
            (long, {}),
            (script, {}),
            ("a\0b", {}),
            (["n1"], {}),
            ("fine", {long: "x", "topology.kubernetes.io/zone": script, "k": long, "n\0": "x"}),
            ("list", ["labels"]),
        )
    ]
    reading = read_nodes([*nodes, None, 7, {"metadata": []}])
    assert list(reading.nodes) == ["fine", "list"]
    assert reading.nodes["fine"].labels == {}
    assert all(len(text) < 400 and text.isprintable() for text in reading.invalid)
