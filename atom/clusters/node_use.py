"""Resources that runs hold on nodes of registered clusters, told by the app of runs above.

Atom reserves slots on its own machines only: other clusters find a node for each pod themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from atom.clusters.models import Cluster


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Resources that runs hold on a node; `kinds` are the GPUs of runs that name their kind."""

    cpus: int = 0
    memory_bytes: int = 0
    gpus: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)

    def of_kind(self, kind: str, kinds_there: int) -> int | None:
        """Return how many of a kind are held; None if it is not known of which kind some are."""
        named = sum(self.kinds.values())
        if named == self.gpus:
            return self.kinds.get(kind, 0)
        return self.gpus if kinds_there == 1 else None


NodeUseReader = Callable[[Collection[UUID]], Mapping[UUID, NodeUse]]
_readers: list[NodeUseReader] = []


def register_node_use(reader: NodeUseReader) -> None:
    """Make `reader` tell what runs hold on nodes, by the ids of the nodes."""
    _readers[:] = [reader]


def add_node_use(clusters: Iterable[Cluster]) -> None:
    """Add what runs hold to the nodes of registered clusters, read by `with_used`."""
    # The annotations of a QuerySet are not part of the model's type.
    nodes: list[Any] = [
        node for cluster in clusters if cluster.is_registered for node in cluster.nodes.all()
    ]
    use = _readers[0]([node.pk for node in nodes]) if nodes and _readers else {}
    for node in nodes:
        held = use.get(node.pk, NodeUse())
        node.used_cpus += held.cpus
        node.used_memory_bytes += held.memory_bytes
        node.used_gpus += held.gpus
        accelerators = list(node.accelerators.all())
        for accelerator in accelerators:
            accelerator.used = held.of_kind(accelerator.kind, len(accelerators))
