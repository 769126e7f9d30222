"""Nodes that a cluster cordons, and those that a person cordons here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom.clusters.actions import cordon, uncordon
from atom.clusters.errors import CordonedByCluster
from atom.clusters.models import Cluster, Node
from atom.clusters.registration.actions.nodes import sync_nodes
from atom.clusters.registration.engines.nodes import NodeFacts
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db

OPEN = NodeFacts("n1", 8, 1 << 35, is_ready=True, is_unschedulable=False)
CLOSED = replace(OPEN, is_unschedulable=True)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west.example")


def node() -> Node:
    return Node.objects.get(name="n1")


def test_a_node_that_the_cluster_cordons_takes_no_runs_until_it_is_open_again(
    cluster: Cluster,
) -> None:
    sync_nodes(cluster, [CLOSED])
    assert not node().schedulable
    since = node().cordoned_at
    assert since is not None
    sync_nodes(cluster, [CLOSED])
    assert node().cordoned_at == since
    with pytest.raises(CordonedByCluster):
        uncordon(node().pk, make_user(is_superuser=True))
    sync_nodes(cluster, [OPEN])
    assert (node().schedulable, node().cordoned_at) == (True, None)


def test_a_persons_cordon_stays_whatever_the_cluster_says(cluster: Cluster) -> None:
    boss = make_user(is_superuser=True)
    sync_nodes(cluster, [OPEN])
    cordon(node().pk, boss, "noisy fan")
    sync_nodes(cluster, [OPEN])
    assert (node().schedulable, node().cordon_reason) == (False, "noisy fan")
    sync_nodes(cluster, [CLOSED])
    uncordon(node().pk, boss)
    sync_nodes(cluster, [CLOSED])
    assert (node().schedulable, node().cordoned_by) == (False, "")
