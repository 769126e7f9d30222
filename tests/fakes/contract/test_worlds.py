"""The way of contract tests to a real server, walked to the stand-in as if it were one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.kubernetes.cluster import Cluster

from .worlds import World, definitions, real_server

NAMESPACES = "/api/v1/namespaces"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "queues.a.example"},
    "spec": {
        "group": "a.example",
        "names": {"kind": "Queue", "listKind": "QueueList", "plural": "queues"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(tls=True) as cluster:
        cluster.namespaces.patience_seconds = 0.1
        yield cluster


def names_of(world: World, path: str) -> set[str]:
    items = world.ask("GET", path).body["items"]
    return {item["metadata"]["name"] for item in items}


def make_and_fail(config: str) -> None:
    """Make a namespace as a test that fails."""
    with real_server(config, controllers=True) as world:
        assert world.is_real
        assert world.ask("POST", NAMESPACES, {"metadata": {"name": "rec"}}).status == 201
        raise ZeroDivisionError


def test_namespaces_of_a_test_are_gone_after_it_even_if_it_fails(cluster: Cluster) -> None:
    config = cluster.kubeconfig()
    with pytest.raises(ZeroDivisionError):
        make_and_fail(config)
    assert {body["metadata"]["name"] for body in cluster.store.objects("namespaces.")} == {
        "default",
        "kube-system",
    }


def test_custom_kinds_are_made_for_a_test_and_those_of_others_stay(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "queues.json").write_text(json.dumps(DEFINITION))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    with real_server(cluster.kubeconfig(), controllers=True) as world:
        with definitions(world, tmp_path):
            answer = world.ask("GET", "/apis/a.example/v1/namespaces/default/queues")
            assert (answer.status, answer.body["items"]) == (200, [])
            with definitions(world, tmp_path):
                pass
            assert names_of(world, path) == {"queues.a.example"}
        assert names_of(world, path) == set()
