"""Whether a cluster has room for a run: now, later or never, and the first reason against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from atom.clusters.queues.engines.choices import QueueOffer
from atom.clusters.quotas.engines.limits import PodDemand, QuotaLimits, exceeds
from atom.jobs.scheduling.engines.accelerators import Catalog
from atom.jobs.scheduling.engines.placement import Demand, Fleet, NodeCapacity, never_fits
from atom_sdk.sentences import Sentence


class Fits(StrEnum):
    """When a cluster has room for a run."""

    NOW = "now"
    LATER = "later"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Offer:
    """A cluster as far as the choice of it asks.

    `nodes` say which slots are held. `taken` are demands of runs whose node is not known, as of
    those that a registered cluster has not started yet.
    """

    name: str
    state: str
    nodes: Sequence[NodeCapacity]
    taken: Sequence[Demand] = ()
    answered_at: datetime | None = None
    catalog: Catalog = field(default_factory=Catalog)
    # The most that the pods of the project hold there at once.
    quota: QuotaLimits = field(default_factory=QuotaLimits)
    # The queue of Kueue that the project's runs use there.
    queue: QueueOffer | None = None

    def above_quota(self, demand: Demand, nodes: int = 1) -> dict[str, Sentence]:
        """Return why so many pods are above the quota, even if nothing else runs, by field."""
        pod = PodDemand(demand.cpus, demand.memory_bytes, self._accelerators(demand))
        return exceeds(self.quota, pod.times(nodes))

    def never_admits(self, demand: Demand) -> Sentence | None:
        """Return why the project's queue never admits pods of this demand, None if it may."""
        if self.queue is None:
            return None
        return self.queue.refusal_of(self.name, self._accelerators(demand))

    def _accelerators(self, demand: Demand) -> dict[str, int]:
        """Return the accelerators of one pod, by the resource's name."""
        selector = self.catalog.selector_for(demand) if demand.gpus else None
        return {selector.resource: demand.gpus} if selector else {}

    def too_many_nodes(self, demand: Demand, nodes: int) -> Sentence | None:
        """Return why so many pods never run at once, though each has a machine."""
        if nodes == 1 or not self.nodes:
            return None
        empty = [
            replace(node, used_cpus=0, used_memory_bytes=0, used_gpus=0, used_kinds={}, usable=True)
            for node in self.nodes
        ]
        most = pods_that_fit(empty, demand, nodes)
        if most >= nodes:
            return None
        return Sentence(
            "jobs.too_many_nodes",
            "Cluster {cluster} has room for {most} pods of this size at once, and the run needs "
            "{nodes}. Ask for fewer nodes, or for less on each.",
            cluster=self.name,
            most=most,
            nodes=nodes,
        )


def pods_that_fit(nodes: Sequence[NodeCapacity], demand: Demand, most: int) -> int:
    """Return how many pods of a demand the nodes have room for at once, counted up to `most`."""
    fleet = Fleet([replace(node, coverage=None) for node in nodes])
    return next((count for count in range(most) if fleet.choose(demand) is None), most)


@dataclass(frozen=True, slots=True)
class Verdict:
    """When the cluster has room, with the first reason that forbids it or makes it wait."""

    fits: Fits
    reason: Sentence | None = None


def judge(offer: Offer, demand: Demand, nodes: int = 1) -> Verdict:
    """Return when a cluster has room for so many pods of a demand.

    Its state goes before its kinds, and these before its size.
    """
    if refusal := refusal_of(offer.name, offer.state, offer.answered_at):
        return Verdict(Fits.NEVER, refusal)
    if not offer.nodes:
        return Verdict(
            Fits.NEVER,
            Sentence(
                "jobs.cluster_empty", "Cluster {cluster} has no machine yet.", cluster=offer.name
            ),
        )
    if refusal := offer.catalog.refusal_of(offer.name, demand):
        return Verdict(Fits.NEVER, refusal)
    if refusal := _too_large(offer, demand, nodes):
        return Verdict(Fits.NEVER, refusal)
    if _has_room(offer, demand, nodes):
        return Verdict(Fits.NOW)
    usable = [node for node in offer.nodes if node.usable]
    if not usable or never_fits(usable, demand):
        return Verdict(
            Fits.LATER,
            Sentence(
                "jobs.cluster_closed",
                "The machines of {cluster} that are large enough are closed or not ready: the run "
                "waits for one.",
                cluster=offer.name,
            ),
        )
    return Verdict(
        Fits.LATER,
        Sentence(
            "jobs.cluster_full",
            "Others hold the room on {cluster}: the run waits for it.",
            cluster=offer.name,
        ),
    )


def _too_large(offer: Offer, demand: Demand, nodes: int) -> Sentence | None:
    """Return why the cluster never has room, whatever else runs; None if it may have."""
    for reasons in never_fits(offer.nodes, demand).values():
        return _sentence(reasons[0])
    if refusal := offer.too_many_nodes(demand, nodes):
        return refusal
    above = next(iter(offer.above_quota(demand, nodes).values()), None)
    return above or offer.never_admits(demand)


def refusal_of(name: str, state: str, answered_at: datetime | None) -> Sentence | None:
    """Return why a cluster in this state takes no new run; None if it takes them."""
    if state == "draining":
        return Sentence(
            "jobs.cluster_draining",
            "Cluster {cluster} takes no new runs: it is being drained. Choose another one.",
            cluster=name,
        )
    if state == "registering":
        return Sentence(
            "jobs.cluster_registering",
            "Cluster {cluster} has not passed its check yet. Choose another one, or ask an "
            "administrator for the findings.",
            cluster=name,
        )
    if state == "unreachable" and answered_at is not None:
        return Sentence(
            "jobs.cluster_unreachable_since",
            "Cluster {cluster} has not answered since {since}. Choose another one, or ask an "
            "administrator.",
            cluster=name,
            since=answered_at.strftime("%Y-%m-%d %H:%M UTC"),
        )
    if state == "unreachable":
        return Sentence(
            "jobs.cluster_unreachable",
            "Cluster {cluster} has never answered. Choose another one, or ask an administrator.",
            cluster=name,
        )
    return None


def free_of_kind(offer: Offer, kind: str) -> int | None:
    """Return how many accelerators of a kind nobody holds on the nodes that take runs.

    None if it is not known of which kind those are that runs hold.
    """
    named = sum(one.gpus for one in offer.taken if one.accelerator == kind)
    unnamed = sum(one.gpus for one in offer.taken if not one.accelerator)
    if len(offer.catalog.kinds) == 1:
        named, unnamed = named + unnamed, 0
    having = [node for node in offer.nodes if node.kinds.get(kind)]
    if unnamed or any(sum(node.used_kinds.values()) < node.used_gpus for node in having):
        return None
    return max(0, sum(node.free_gpus(kind) for node in having if node.usable) - named)


def _has_room(offer: Offer, demand: Demand, nodes: int) -> bool:
    if not offer.nodes or pods_that_fit(offer.nodes, demand, nodes) < nodes:
        return False
    usable = [node for node in offer.nodes if node.usable]
    wanted = [*[demand] * nodes, *offer.taken]
    kind = demand.accelerator
    gpus_of_kind = sum(one.gpus for one in wanted if one.accelerator == kind)
    return (
        sum(node.cpus - node.used_cpus for node in usable) >= sum(one.cpus for one in wanted)
        and sum(node.memory_bytes - node.used_memory_bytes for node in usable)
        >= sum(one.memory_bytes for one in wanted)
        and sum(node.free_gpus("") for node in usable) >= sum(one.gpus for one in wanted)
        and sum(node.free_gpus(kind) for node in usable) >= gpus_of_kind
    )


def _sentence(text: str) -> Sentence:
    assert isinstance(text, Sentence)
    return text
