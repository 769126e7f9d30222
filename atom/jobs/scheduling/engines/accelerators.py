"""The kinds of accelerators in a cluster, and how a run asks for one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from atom.jobs.scheduling.engines.placement import Demand
from atom_sdk.sentences import Sentence


@dataclass(frozen=True, slots=True, order=True)
class Selector:
    """How a pod asks for accelerators: the resource, and a label of the node, "" for any node."""

    resource: str
    label_name: str = ""
    label_value: str = ""

    @property
    def node_selector(self) -> dict[str, str]:
        """Return the labels that the node must have, by name."""
        return {self.label_name: self.label_value} if self.label_name else {}


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Accelerators of one kind on one node; without a resource, runs cannot ask for them."""

    node_id: UUID
    kind: str
    count: int
    selector: Selector


@dataclass(frozen=True, slots=True)
class Kind:
    """Accelerators of one kind; `obstacle` says why no run can choose it, None if one can."""

    name: str
    total: int
    selector: Selector
    obstacle: Sentence | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """The kinds of a cluster by name, and its nodes' accelerators that runs can ask for."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    # How many there are on each node: by kind, and together.
    by_node: Mapping[UUID, Mapping[str, int]] = field(default_factory=dict)
    gpus: Mapping[UUID, int] = field(default_factory=dict)
    # The resources by which runs can ask for them, in order.
    resources: tuple[str, ...] = ()

    @property
    def choices(self) -> list[str]:
        """Return the kinds that a run can choose, by name."""
        return sorted(name for name, kind in self.kinds.items() if kind.obstacle is None)

    def find(self, name: str) -> Kind | None:
        """Return the kind of a name, in which dashes may stand for spaces and spaces for dashes."""
        if name in self.kinds:
            return self.kinds[name]
        spelled = _spelled(name)
        found = (kind for kind in self.kinds.values() if _spelled(kind.name) == spelled)
        return next(found, None)

    def selector_for(self, demand: Demand) -> Selector | None:
        """Return how a run asks for its accelerators; None if nothing here answers it now."""
        if demand.accelerator:
            kind = self.find(demand.accelerator)
            return kind.selector if kind is not None and kind.obstacle is None else None
        return Selector(self.resources[0]) if len(self.resources) == 1 else None

    def refusal_of(self, cluster: str, demand: Demand) -> Sentence | None:
        """Return why the cluster refuses the kind of a demand, None if it does not."""
        if demand.accelerator:
            return self._wrong_kind(cluster, demand)
        if demand.gpus and len(self.resources) > 1:
            return Sentence(
                "jobs.accelerator_needed",
                "Cluster {cluster} has accelerators of several resources. Choose a kind: {kinds}.",
                cluster=cluster,
                kinds=", ".join(self.choices),
            )
        return None

    def _wrong_kind(self, cluster: str, demand: Demand) -> Sentence | None:
        if not demand.gpus:
            return without_gpus(demand.accelerator)
        kind = self.find(demand.accelerator)
        if kind is not None:
            return kind.obstacle
        if not self.choices:
            return Sentence(
                "jobs.no_accelerators",
                "Cluster {cluster} has no accelerators that a run can ask for.",
                cluster=cluster,
            )
        return Sentence(
            "jobs.accelerator_unknown",
            "Cluster {cluster} has no accelerators of the kind {kind}. Choose one of: {kinds}.",
            cluster=cluster,
            kind=demand.accelerator,
            kinds=", ".join(self.choices),
        )


def without_gpus(kind: str) -> Sentence:
    """Return that a demand names a kind and asks for no GPU."""
    return Sentence(
        "jobs.accelerator_without_gpus",
        "Ask for at least one GPU of the kind {kind}, or leave the kind out.",
        kind=kind,
    )


def catalog_of(rows: Iterable[NodeKind]) -> Catalog:
    """Return the kinds of a cluster from the accelerators of its nodes."""
    found = list(rows)
    counts: dict[str, Counter[Selector]] = defaultdict(Counter)
    for row in found:
        counts[row.kind][row.selector] += row.count
    sharing: dict[str, set[str]] = defaultdict(set)
    for row in found:
        sharing[row.selector.resource].add(row.kind)
    kinds = {name: _kind(name, counts[name], sharing) for name in sorted(counts)}
    by_node: dict[UUID, dict[str, int]] = defaultdict(dict)
    gpus: Counter[UUID] = Counter()
    for row in found:
        if row.selector.resource:
            gpus[row.node_id] += row.count
            if row.selector == kinds[row.kind].selector:
                by_node[row.node_id][row.kind] = row.count
    resources = tuple(sorted(resource for resource in sharing if resource))
    return Catalog(kinds, by_node, gpus, resources)


def _kind(name: str, counts: Counter[Selector], sharing: Mapping[str, set[str]]) -> Kind:
    """Return a kind as most of its accelerators are asked for: a run has one way of asking."""
    selector = min(counts, key=lambda one: (not one.resource, -counts[one], one))
    total = counts[selector]
    if not selector.resource:
        obstacle = Sentence(
            "jobs.accelerator_without_resource",
            "Runs cannot ask for {kind}: no DeviceClass gives it a resource.",
            kind=name,
        )
        return Kind(name, total, selector, obstacle)
    if not selector.label_name and sharing[selector.resource] != {name}:
        obstacle = Sentence(
            "jobs.accelerator_not_selectable",
            "No label of a node tells {kind} from the other accelerators of {resource}. Leave the "
            "kind out, or have the nodes labelled.",
            kind=name,
            resource=selector.resource,
        )
        return Kind(name, total, selector, obstacle)
    return Kind(name, total, selector)


def _spelled(name: str) -> str:
    # Labels have no spaces: device plugins write dashes.
    return name.replace(" ", "-")
