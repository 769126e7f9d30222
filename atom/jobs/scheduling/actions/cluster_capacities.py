"""The nodes of registered clusters, and what Atom's runs hold there; pods of others are unknown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from atom.clusters.models import Cluster, Node, NodeAccelerator
from atom.clusters.node_use import NodeUse
from atom.jobs import states
from atom.jobs.models import DataGate, Rank, Run
from atom.jobs.scheduling.engines.accelerators import Catalog, NodeKind, Selector, catalog_of
from atom.jobs.scheduling.engines.placement import Demand, NodeCapacity

_HELD = ("cpus", "memory_bytes", "gpus")
_HOLDING = states.ACTIVE - states.WAITING


@dataclass(frozen=True, slots=True)
class ClusterCapacity:
    """A registered cluster: its nodes with what is held there, its kinds, and `unplaced`.

    These are demands of runs whose node is not known yet, one for each kind that they name.
    """

    nodes: list[NodeCapacity]
    catalog: Catalog
    unplaced: list[Demand]


def catalog_in(cluster: Cluster) -> Catalog:
    """Return the kinds of accelerators of a registered cluster."""
    rows = NodeAccelerator.objects.filter(node__cluster=cluster).order_by("node_id", "kind")
    return catalog_of(
        NodeKind(
            row.node_id,
            row.kind,
            row.count,
            Selector(row.resource, row.label_name, row.label_value),
        )
        for row in rows
    )


def capacity_of(cluster: Cluster, without: UUID | None = None) -> ClusterCapacity:
    """Return the nodes of a registered cluster with what Atom's runs hold there.

    `without`: a run whose node is not known yet, and that does not count.
    """
    catalog = catalog_in(cluster)
    nodes = list(Node.objects.filter(cluster=cluster).order_by("name"))
    held = held_on_nodes([node.pk for node in nodes])
    return ClusterCapacity(
        [_node(node, catalog, held.get(node.pk, [])) for node in nodes],
        catalog,
        _unplaced_in(cluster, without),
    )


def held_on_nodes(node_ids: Collection[UUID]) -> dict[UUID, list[Demand]]:
    """Return what runs hold on nodes of registered clusters: a demand for each kind they name."""
    ranks = _open_ranks().filter(node__in=node_ids).values("node_id", "attempt__run__accelerator")
    found: dict[UUID, list[Demand]] = defaultdict(list)
    for row in ranks.annotate(**_sums("attempt__run__")).order_by("node_id"):
        found[row["node_id"]].append(_demand(row, row["attempt__run__accelerator"]))
    return found


def node_use(node_ids: Collection[UUID]) -> dict[UUID, NodeUse]:
    """Return what runs hold on nodes of registered clusters, as the clusters' pages show it."""
    return {node_id: _use(held) for node_id, held in held_on_nodes(node_ids).items()}


def _use(held: Iterable[Demand]) -> NodeUse:
    demands = list(held)
    return NodeUse(
        sum(int(demand.cpus) for demand in demands),
        sum(demand.memory_bytes for demand in demands),
        sum(demand.gpus for demand in demands),
        {demand.accelerator: demand.gpus for demand in demands if demand.accelerator},
    )


def used_kinds(kinds: Mapping[str, int], held: Iterable[Demand]) -> Counter[str]:
    """Return how many accelerators of each kind of a node are held.

    Those of a run that names no kind count where the node has one kind only.
    """
    used: Counter[str] = Counter()
    for demand in held:
        name = demand.accelerator or (next(iter(kinds)) if len(kinds) == 1 else "")
        if demand.gpus and name:
            used[name] += demand.gpus
    return used


def _node(node: Node, catalog: Catalog, held: list[Demand]) -> NodeCapacity:
    kinds = catalog.by_node.get(node.pk, {})
    return NodeCapacity(
        id=node.pk,
        name=node.name,
        cpus=node.cpu_count,
        memory_bytes=node.memory_bytes,
        gpus=catalog.gpus.get(node.pk, 0),
        used_cpus=sum(demand.cpus for demand in held),
        used_memory_bytes=sum(demand.memory_bytes for demand in held),
        used_gpus=sum(demand.gpus for demand in held),
        usable=node.schedulable and node.ready_since is not None,
        kinds=kinds,
        used_kinds=used_kinds(kinds, held),
    )


def _unplaced_in(cluster: Cluster, without: UUID | None) -> list[Demand]:
    placed = _open_ranks().filter(attempt__run=OuterRef("pk"), node__cluster=cluster)
    # A run that waits for its data has no pods, and takes the room of no other one.
    waits = DataGate.objects.filter(
        attempt__run=OuterRef("pk"), attempt__state__in=states.AWAITS_DATA, opened_at=None
    )
    runs = Run.objects.filter(~Exists(placed), ~Exists(waits), cluster=cluster)
    runs = runs.filter(state__in=_HOLDING)
    if without is not None:
        runs = runs.exclude(pk=without)
    rows = runs.values("accelerator").annotate(**_sums_of_runs()).order_by("accelerator")
    return [_demand(row, row["accelerator"]) for row in rows]


def _open_ranks() -> QuerySet[Rank]:
    return Rank.objects.filter(
        ended_at=None, node__isnull=False, attempt__run__state__in=_HOLDING
    ).exclude(attempt__state__in=states.TERMINAL)


def _sums(prefix: str) -> dict[str, Any]:
    # Not the fields' own names, which an aggregate may not take.
    return {f"all_{name}": Sum(f"{prefix}{name}") for name in _HELD}


def _sums_of_runs() -> dict[str, Any]:
    """Return sums over all pods of runs."""
    return {f"all_{name}": Sum(F(name) * F("nodes")) for name in _HELD}


def _demand(row: Mapping[str, Any], kind: str) -> Demand:
    return Demand(row["all_cpus"], int(row["all_memory_bytes"]), row["all_gpus"], kind)
