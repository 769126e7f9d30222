"""Resources of every machine, and their use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atom.clusters.node_health import is_silent
from atom.jobs.executors import nodes_for_runs
from atom.jobs.scheduling.engines.accelerators import NodeKind, Selector
from atom.jobs.scheduling.engines.placement import NodeCapacity

# A GPU whose model the machine does not know.
_UNNAMED = "GPU"


def capacities() -> list[NodeCapacity]:
    """Return every node that runs can start on, with what is taken on it."""
    # The annotations of a QuerySet are not part of the model's type.
    nodes: Iterable[Any] = nodes_for_runs().with_used().order_by("name")
    return [
        NodeCapacity(
            id=node.pk,
            name=node.name,
            cpus=node.cpu_count,
            memory_bytes=node.memory_bytes,
            gpus=node.gpu_count,
            used_cpus=node.used_cpus,
            used_memory_bytes=node.used_memory_bytes,
            used_gpus=node.used_gpus,
            usable=node.schedulable and not is_silent(node),
            kinds={node.gpu_model or _UNNAMED: node.gpu_count} if node.gpu_count else {},
            used_kinds={node.gpu_model or _UNNAMED: node.used_gpus},
        )
        for node in nodes
    ]


def kinds_on(nodes: Iterable[NodeCapacity]) -> list[NodeKind]:
    """Return the GPUs of Atom's own machines by model; a machine has one model."""
    return [
        NodeKind(node.id, kind, count, Selector("gpu", "model", kind))
        for node in nodes
        for kind, count in node.kinds.items()
    ]
