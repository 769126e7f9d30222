"""Choice of a node for a job: filter, then best fit, with data already there preferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from atom_sdk.amounts import counted
from atom_sdk.sentences import Sentence

GIB = 2**30
# At most this many machines are named if none has room.
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Demand:
    """Resources that one attempt needs on a node."""

    cpus: float
    memory_bytes: int
    gpus: int = 0
    # The kind of the GPUs; "" for any.
    accelerator: str = ""

    def __str__(self) -> str:
        """Return the demand in words."""
        return describe(self)

    def is_at_least(self, other: Demand) -> bool:
        """Return whether there is no room for this where there is none for the other."""
        return (
            other.accelerator in ("", self.accelerator)
            and self.cpus >= other.cpus
            and self.memory_bytes >= other.memory_bytes
            and self.gpus >= other.gpus
        )


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """A node, what it has, what is taken and which part of the job's data it holds (0 to 1).

    `coverage` is None for a job that reads no data.
    """

    id: UUID
    name: str
    cpus: float
    memory_bytes: int
    gpus: int
    used_cpus: float = 0.0
    used_memory_bytes: int = 0
    used_gpus: int = 0
    usable: bool = True
    coverage: float | None = 0.0
    # The GPUs of each kind, and how many of them are held as far as it is known.
    kinds: Mapping[str, int] = field(default_factory=dict)
    used_kinds: Mapping[str, int] = field(default_factory=dict)

    def gpus_of(self, kind: str) -> int:
        """Return how many GPUs of a kind it has, of all kinds for ""."""
        return self.kinds.get(kind, 0) if kind else self.gpus

    def free_gpus(self, kind: str) -> int:
        """Return how many GPUs of a kind are free, of all kinds for ""."""
        free = self.gpus - self.used_gpus
        return min(free, self.kinds.get(kind, 0) - self.used_kinds.get(kind, 0)) if kind else free


@dataclass(frozen=True, slots=True)
class Candidate:
    """One node that was looked at, with a sentence about it."""

    node_id: UUID
    node: str
    fits: bool
    text: str


class PlacementCode(StrEnum):
    """Which sentence a decision has: a page says it in its reader's language, from the params."""

    ONLY_MACHINE = "only_machine"
    BEST_FIT = "best_fit"
    NO_MACHINE = "no_machine"
    NO_ROOM = "no_room"
    NONE_FITS = "none_fits"
    # A person chose the cluster, and the cluster chooses the machine.
    CHOSEN_CLUSTER = "chosen_cluster"
    NO_PLACE = "no_place"


@dataclass(frozen=True, slots=True)
class Placement:
    """The decision with its candidates; `node` is None when the job has to wait."""

    node: NodeCapacity | None
    why: str
    candidates: tuple[Candidate, ...]
    code: PlacementCode
    # Values that the sentence names, such as the demand and the lack of each machine.
    params: dict[str, Any] = field(default_factory=dict)


class Fleet:
    """The free resources of nodes as arrays of shape (nodes,), for many decisions at once."""

    def __init__(self, nodes: Sequence[NodeCapacity]) -> None:
        """Read the nodes once."""
        self.nodes = nodes
        self.cpus = np.array([n.cpus - n.used_cpus for n in nodes], dtype=np.float64)
        self.memory = np.array([n.memory_bytes - n.used_memory_bytes for n in nodes], np.float64)
        self.gpus = self._free_gpus("")
        self._kinds: dict[str, NDArray[np.float64]] = {}
        self.usable = np.array([n.usable for n in nodes], dtype=np.bool_)
        self.coverage = np.array([n.coverage or 0.0 for n in nodes], dtype=np.float64)
        self._totals = np.array([[max(n.cpus, 1e-9), max(n.memory_bytes, 1)] for n in nodes])

    def choose(self, demand: Demand) -> int | None:
        """Return the index of the best node and take its resources; None if none fits.

        The best node has most of the data. Among equals, nodes without spare GPUs come first, then
        the node that is fullest afterwards, so that large jobs still find an empty one.
        """
        fits = self._fits(demand)
        if not fits.any():
            return None
        score = np.where(fits, self._score(demand), -np.inf)
        chosen = int(np.argmax(score))
        self.cpus[chosen] -= demand.cpus
        self.memory[chosen] -= demand.memory_bytes
        self.gpus[chosen] -= demand.gpus
        for kind, free in self._kinds.items():
            if kind == (demand.accelerator or kind):
                free[chosen] -= demand.gpus
        return chosen

    def _free_gpus(self, kind: str) -> NDArray[np.float64]:
        return np.array([n.free_gpus(kind) for n in self.nodes], dtype=np.float64)

    def _gpus_for(self, kind: str) -> NDArray[np.float64]:
        if not kind:
            return self.gpus
        if kind not in self._kinds:
            self._kinds[kind] = self._free_gpus(kind)
        return np.minimum(self._kinds[kind], self.gpus)

    def _fits(self, demand: Demand) -> NDArray[np.bool_]:
        return (
            self.usable
            & (self.cpus + 1e-9 >= demand.cpus)
            & (self.memory >= demand.memory_bytes)
            & (self._gpus_for(demand.accelerator) >= demand.gpus)
        )

    def _score(self, demand: Demand) -> NDArray[np.float64]:
        left = (self.cpus - demand.cpus) / self._totals[:, 0]
        left = left + (self.memory - demand.memory_bytes) / self._totals[:, 1]
        spare_gpus = np.where(self.gpus > demand.gpus, 1.0, 0.0)
        score: NDArray[np.float64] = 100.0 * self.coverage - 10.0 * spare_gpus - left
        return score


def place(nodes: Sequence[NodeCapacity], demand: Demand) -> Placement:
    """Choose a node for one job, with the reason."""
    candidates = tuple(_candidate(node, demand) for node in nodes)
    chosen = Fleet(nodes).choose(demand) if nodes else None
    if chosen is None:
        return _waiting(nodes, candidates, demand)
    return _chosen(nodes[chosen], candidates, demand)


def _chosen(node: NodeCapacity, candidates: tuple[Candidate, ...], demand: Demand) -> Placement:
    count = len(candidates)
    code = PlacementCode.ONLY_MACHINE if count == 1 else PlacementCode.BEST_FIT
    named = {"node": node.name, "machines": count, "coverage": node.coverage}
    why = _why_chosen(node, demand, count)
    return Placement(node, why, candidates, code, {**asdict(demand), **named})


def _waiting(
    nodes: Sequence[NodeCapacity], candidates: tuple[Candidate, ...], demand: Demand
) -> Placement:
    code = PlacementCode.NO_ROOM if nodes else PlacementCode.NO_MACHINE
    told, why = nodes, _why_waiting(candidates, demand)
    if nodes and not any(node.usable and _fits_empty(node, demand) for node in nodes):
        code = PlacementCode.NONE_FITS
        # No usable machine fits the demand even when empty, so what others hold does not matter.
        told = [
            replace(node, used_cpus=0, used_memory_bytes=0, used_gpus=0, used_kinds={})
            for node in nodes
        ]
        why = _why_never([_candidate(node, demand) for node in told], demand)
    lacking = [_lack_of(node, demand) for node in told[:_TOLD]]
    params = {**asdict(demand), "nodes": lacking}
    return Placement(None, why, candidates, code, params)


def _lack_of(node: NodeCapacity, demand: Demand) -> dict[str, Any]:
    """Return what the node lacks of each resource, 0 where it has enough."""
    free_memory = node.memory_bytes - node.used_memory_bytes
    return {
        "node": node.name,
        "usable": node.usable,
        "cpus": max(0.0, demand.cpus - node.cpus + node.used_cpus),
        "memory_bytes": max(0, demand.memory_bytes - free_memory),
        "gpus": max(0, demand.gpus - node.free_gpus(demand.accelerator)),
        "accelerator": demand.accelerator,
    }


def never_fits(nodes: Sequence[NodeCapacity], demand: Demand) -> dict[str, list[str]]:
    """Return what no node could ever offer, as sentences by resource; empty if one could."""
    if any(_fits_empty(node, demand) for node in nodes) or not nodes:
        return {}
    errors: dict[str, list[str]] = {}
    most_cpus = max(node.cpus for node in nodes)
    most_memory = max(node.memory_bytes for node in nodes)
    most_gpus = max(node.gpus_of(demand.accelerator) for node in nodes)
    if demand.cpus > most_cpus:
        errors["resources.cpus"] = [
            Sentence(
                "jobs.too_many_cpus", "The largest machine has {cpus} CPUs.", cpus=f"{most_cpus:g}"
            )
        ]
    if demand.memory_bytes > most_memory:
        errors["resources.memory_bytes"] = [
            Sentence(
                "jobs.too_much_memory",
                "The largest machine has {gib} GiB of memory.",
                gib=f"{most_memory / GIB:.1f}",
            )
        ]
    if demand.gpus > most_gpus:
        errors["resources.gpus"] = [_too_many_gpus(demand, most_gpus)]
    return errors or {
        "resources": [
            Sentence("jobs.no_machine_has_all", "No single machine has all of this together.")
        ]
    }


def _too_many_gpus(demand: Demand, most: int) -> Sentence:
    if not demand.accelerator:
        return Sentence("jobs.too_many_gpus", "No machine has more than {gpus} GPUs.", gpus=most)
    return Sentence(
        "jobs.too_many_of_kind",
        "No machine has more than {gpus} GPUs of the kind {kind}.",
        gpus=most,
        kind=demand.accelerator,
    )


def largest(nodes: Sequence[NodeCapacity]) -> list[Demand]:
    """Return what the usable nodes could hold if they were empty, without what another exceeds."""
    sizes = {
        Demand(node.cpus, node.memory_bytes, count, kind)
        for node in nodes
        if node.usable
        for kind, count in (node.kinds or {"": node.gpus}).items()
    }
    return [
        size
        for size in sorted(sizes, key=astuple)
        if not any(one != size and one.is_at_least(size) for one in sizes)
    ]


def _fits_empty(node: NodeCapacity, demand: Demand) -> bool:
    return (
        node.cpus >= demand.cpus
        and node.memory_bytes >= demand.memory_bytes
        and node.gpus_of(demand.accelerator) >= demand.gpus
    )


def _candidate(node: NodeCapacity, demand: Demand) -> Candidate:
    lacking = _lacking(node, demand)
    if not node.usable:
        return Candidate(node.id, node.name, False, f"{node.name} does not take jobs now")
    if lacking:
        return Candidate(node.id, node.name, False, f"{node.name} lacks {', '.join(lacking)}")
    return Candidate(node.id, node.name, True, f"{node.name} has room{_data(node, ', ')}")


def _lacking(node: NodeCapacity, demand: Demand) -> list[str]:
    lacking = []
    if node.cpus - node.used_cpus + 1e-9 < demand.cpus:
        lacking.append(counted(float(demand.cpus - node.cpus + node.used_cpus), "CPU"))
    free_memory = node.memory_bytes - node.used_memory_bytes
    if free_memory < demand.memory_bytes:
        lacking.append(f"{(demand.memory_bytes - free_memory) / GIB:.1f} GiB of memory")
    if (free_gpus := node.free_gpus(demand.accelerator)) < demand.gpus:
        lacking.append(_gpus_text(demand.gpus - free_gpus, demand.accelerator))
    return lacking


def _gpus_text(count: int, kind: str) -> str:
    return counted(count, "GPU") + (f" of the kind {kind}" if kind else "")


def _data(node: NodeCapacity, joint: str) -> str:
    return "" if node.coverage is None else f"{joint}{node.coverage:.0%} of the data is there"


def _why_chosen(node: NodeCapacity, demand: Demand, count: int) -> str:
    among = "the only machine" if count == 1 else f"the best fit of {count} machines"
    return f"{node.name} is {among} with room for {demand}{_data(node, '; ')}."


def _why_waiting(candidates: Sequence[Candidate], demand: Demand) -> str:
    if not candidates:
        return "No machine has joined the cluster yet."
    told = "; ".join(candidate.text for candidate in candidates[:_TOLD])
    return f"Waiting for {demand}: {told}."


def _why_never(candidates: Sequence[Candidate], demand: Demand) -> str:
    told = "; ".join(candidate.text for candidate in candidates[:_TOLD])
    return f"No machine that takes jobs now could hold {demand}, even without other runs: {told}."


def describe(demand: Demand) -> str:
    """Return resources in words, such as `2 CPUs, 4.0 GiB of memory`."""
    cpus = f"{demand.cpus:g} CPU{'' if demand.cpus == 1 else 's'}"
    text = f"{cpus}, {demand.memory_bytes / GIB:.1f} GiB of memory"
    return text + (f", {_gpus_text(demand.gpus, demand.accelerator)}" if demand.gpus else "")
