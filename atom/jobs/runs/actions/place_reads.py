"""Facts about places: each is read once, however many runs ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.conf import settings

from atom.accounts.models import Project, User
from atom.cache.origins import Way, nearest, ways_in
from atom.clusters.actions import LOCAL
from atom.clusters.models import AcceleratorPrice, Cluster, ClusterProfile
from atom.clusters.queues.actions.queues import queue_offer
from atom.clusters.queues.engines.choices import QueueOffer
from atom.clusters.quotas.actions.quotas import quota_of
from atom.clusters.quotas.engines.limits import QuotaLimits
from atom.clusters.registration.engines.priorities import preemptors_of
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs.models import Attempt
from atom.jobs.runs.actions.chosen_cluster import (
    demand_on,
    offer_from,
    own_offer,
    unbuildable,
    usable_clusters,
    without_images,
    without_nodes,
)
from atom.jobs.runs.actions.pull_times import pull_times
from atom.jobs.runs.actions.questions import Question
from atom.jobs.runs.engines.cluster_choice import Fits, Offer, Verdict, judge
from atom.jobs.runs.engines.places import InputPlace
from atom.jobs.scheduling.actions.cluster_capacities import ClusterCapacity, capacity_of
from atom.jobs.scheduling.actions.data_gates import clusters_with_agents
from atom.jobs.scheduling.actions.data_places import (
    Held,
    HeldByNode,
    best_node,
    held_in,
    stores_of,
)
from atom.jobs.scheduling.actions.histories import Likeness, positions_in, run_times, waits_in
from atom.jobs.scheduling.actions.queue_order import queue_position
from atom.jobs.scheduling.engines.estimates import Estimate, estimate_from, room_now
from atom.jobs.scheduling.engines.placement import Demand, NodeCapacity


class PlaceReads:
    """The reads of decisions. They hold for one moment: make a new one for the next round.

    `without`: an attempt that was placed just now, whose own demand does not count. `only_own`
    leaves registered clusters out.
    """

    def __init__(self, without: Attempt | None = None, *, only_own: bool = False) -> None:
        self._without = without
        self._only_own = only_own
        self._usable: dict[tuple[UUID, UUID | None], list[Cluster]] = {}
        self._capacities: dict[UUID, ClusterCapacity] = {}
        self._limits: dict[tuple[UUID, UUID], tuple[QuotaLimits, QueueOffer | None]] = {}
        self._taken: defaultdict[str, list[Demand]] = defaultdict(list)
        self._verdicts: dict[str, dict[tuple[object, ...], Verdict]] = defaultdict(dict)
        self._stores: dict[UUID, list[str]] = {}
        self._held: dict[UUID, HeldByNode] = {}
        self._ways: dict[UUID, dict[str, Way]] = {}
        self._waits: dict[tuple[object, ...], dict[tuple[UUID, str], list[float]]] = {}
        self._run_times: dict[tuple[object, ...], list[float]] = {}

    @cached_property
    def now(self) -> datetime:
        """Return the time of the round."""
        return clock.now()

    @cached_property
    def own(self) -> Cluster | None:
        """Return Atom's own machines, None before the first of them has come up."""
        return Cluster.objects.filter(name=LOCAL).first()

    def clusters(self, project: Project, user: User | None) -> list[Cluster]:
        """Return own machines and the registered clusters that a run may use, by name."""
        own = [self.own] if self.own else []
        if self._only_own:
            return own
        key = project.pk, user.pk if user else None
        if key not in self._usable:
            self._usable[key] = list(usable_clusters(project, user).order_by("name"))
        return [*own, *self._usable[key]]

    def offer(self, cluster: Cluster, project: Project) -> Offer:
        """Return a place as the choice of it asks."""
        if cluster.name == LOCAL:
            offer = self._own_offer
        else:
            if cluster.pk not in self._capacities:
                self._capacities[cluster.pk] = self._capacity(cluster)
            key = cluster.pk, project.pk
            if key not in self._limits:
                queue = queue_offer(cluster, project.slug)
                self._limits[key] = quota_of(cluster, project.slug), queue
            offer = offer_from(cluster, self._capacities[cluster.pk], *self._limits[key])
        taken = self._taken[cluster.name]
        return replace(offer, taken=[*offer.taken, *taken]) if taken else offer

    def _capacity(self, cluster: Cluster) -> ClusterCapacity:
        return capacity_of(cluster, self._without.run_id if self._without else None)

    @cached_property
    def _own_offer(self) -> Offer:
        offer, attempt = own_offer(), self._without
        if attempt is None:
            return offer
        return replace(offer, nodes=[_given_back(node, attempt) for node in offer.nodes])

    def take(self, place: str, demand: Demand, nodes: int) -> None:
        """Count a run that is about to be placed, so that no other one gets its room."""
        self._taken[place] += [demand] * nodes
        self._verdicts[place].clear()

    def verdict(self, cluster: Cluster, project: Project, question: Question) -> Verdict:
        """Return when a place has room for a run."""
        known = self._verdicts[cluster.name]
        key = (
            project.pk,
            question.demand,
            question.nodes,
            question.image,
            question.requirements,
        )
        if key not in known:
            known[key] = self._judge(cluster, project, question)
        return known[key]

    def _judge(self, cluster: Cluster, project: Project, question: Question) -> Verdict:
        offer = self.offer(cluster, project)
        if offer.name == LOCAL and question.nodes > 1:
            return Verdict(Fits.NEVER, without_nodes())
        if offer.name == LOCAL and question.image:
            return Verdict(Fits.NEVER, without_images())
        verdict = judge(offer, demand_on(offer.catalog, question.demand), question.nodes)
        if offer.name == LOCAL or verdict.fits is Fits.NEVER:
            return verdict
        refusal = unbuildable(cluster, offer, question.requirements, question.image, project)
        return Verdict(Fits.NEVER, refusal) if refusal else verdict

    @cached_property
    def prices(self) -> dict[UUID, dict[str, AcceleratorPrice]]:
        """Return the prices of all clusters, by cluster and kind."""
        prices: dict[UUID, dict[str, AcceleratorPrice]] = {}
        for price in AcceleratorPrice.objects.filter(cluster__in=self._every):
            prices.setdefault(price.cluster_id, {})[price.kind] = price
        return prices

    def image_s(self, cluster: Cluster, verdict: Verdict) -> float:
        """Return the time for the image; the wait of a full cluster includes it already."""
        if cluster.name == LOCAL or verdict.fits is not Fits.NOW:
            return 0.0
        return self._pull_times.get(cluster.pk, float(settings.ATOM_IMAGE_FETCH_S))

    @cached_property
    def _pull_times(self) -> dict[UUID, float]:
        return pull_times(self._every)

    @cached_property
    def with_agents(self) -> set[UUID]:
        """Return the clusters whose nodes have agents."""
        return clusters_with_agents(self._every)

    def preemptors(self, cluster: Cluster) -> list[str] | None:
        """Return the PriorityClasses whose pods may preempt those of runs; None if unknown."""
        if not cluster.is_registered:
            return []
        return preemptors_of(cluster.facts, self._priority_classes.get(cluster.pk, ""))

    @cached_property
    def _priority_classes(self) -> dict[UUID, str]:
        rows = ClusterProfile.objects.filter(cluster__in=self._every)
        return dict(rows.values_list("cluster_id", "priority_class"))

    @cached_property
    def _every(self) -> list[UUID]:
        return list(Cluster.objects.all().present().values_list("pk", flat=True))

    def waits(
        self, project: Project, places: Mapping[UUID, Cluster], question: Question
    ) -> dict[UUID, Estimate]:
        """Return the wait for room of each place; the history is read for full places alone."""
        waits = {pk: room_now() for pk in places}
        full = [
            row
            for row in places.values()
            if self.verdict(row, project, question).fits is Fits.LATER
        ]
        if not full:
            return waits
        kinds = {
            row.pk: demand_on(self.offer(row, project).catalog, question.demand).accelerator
            for row in full
        }
        like = Likeness(question.demand.gpus, sorted({*kinds.values()}), question.nodes)
        key = (*sorted(kinds), like.gpus, *like.kinds, like.nodes)
        if key not in self._waits:
            self._waits[key] = waits_in(list(kinds), like, settings.ATOM_IMAGE_FETCH_S)
        for row in full:
            seconds = self._waits[key].get((row.pk, kinds[row.pk]), [])
            waits[row.pk] = estimate_from(seconds, self._position(row, question))
        return waits

    def _position(self, cluster: Cluster, question: Question) -> int:
        is_own = cluster.name == LOCAL
        position = self._own_position if is_own else self._positions.get(cluster.pk, 0) + 1
        # A run that waits there already is counted.
        return max(1, position - (question.waits_in == cluster.name))

    @cached_property
    def _own_position(self) -> int:
        return queue_position()

    @cached_property
    def _positions(self) -> dict[UUID, int]:
        return positions_in(self._every)

    def run_times(self, project: Project, like: Likeness, question: Question) -> list[float]:
        """Return for how many seconds similar runs of the project ran."""
        of = question.workflow or tuple(question.command)
        key = (project.pk, of, like.gpus, *like.kinds, like.nodes)
        if key not in self._run_times:
            self._run_times[key] = run_times(project, like, question.workflow, question.command)
        return self._run_times[key]

    def know(self, versions: Sequence[Version]) -> None:
        """Read where the data of all these versions is, and its ways, at once."""
        fresh = {row.pk: row for row in versions if row.pk not in self._stores}
        if not fresh:
            return
        stores = stores_of(list(fresh.values()))
        sizes = {pk: row.size_bytes for pk, row in fresh.items()}
        for cluster_id, nodes in held_in(self._every, sizes).items():
            for name, parts in nodes.items():
                self._held.setdefault(cluster_id, {}).setdefault(name, {}).update(parts)
        known = {store for ways in self._ways.values() for store in ways}
        if unknown := {name for names in stores.values() for name in names} - known:
            for cluster_id, ways in ways_in(self._every, unknown).items():
                self._ways.setdefault(cluster_id, {}).update(ways)
        self._stores |= stores

    def inputs(self, cluster: Cluster, inputs: Mapping[str, Version]) -> list[InputPlace]:
        """Return each input in a place, as the node with the most data has it."""
        self.know(list(inputs.values()))
        versions = {version.pk for version in inputs.values()}
        held = self._held.get(cluster.pk, {})
        node = best_node(
            {
                name: {pk: part for pk, part in parts.items() if pk in versions}
                for name, parts in held.items()
                if not versions.isdisjoint(parts)
            }
        )
        return [
            self._input(cluster, alias, version, node.get(version.pk, Held(0)))
            for alias, version in sorted(inputs.items())
        ]

    def _input(self, cluster: Cluster, alias: str, version: Version, part: Held) -> InputPlace:
        first, *others = self._stores[version.pk]
        ways = self._ways[cluster.pk]
        store = nearest(first, others, ways)
        way = ways[store]
        return InputPlace(
            alias=alias,
            dataset=version.dataset.name,
            ref=version.ref,
            total_bytes=version.size_bytes,
            there_bytes=part.there_bytes,
            moving_bytes=part.moving_bytes,
            store=store,
            bandwidth=way.bandwidth,
            is_measured=way.is_measured,
            egress_per_byte=way.egress_per_byte,
            currency=way.currency,
        )


def _given_back(node: NodeCapacity, attempt: Attempt) -> NodeCapacity:
    """Return a machine as it was before it got an attempt."""
    if node.id != attempt.node_id:
        return node
    run = attempt.run
    return replace(
        node,
        used_cpus=node.used_cpus - run.cpus,
        used_memory_bytes=node.used_memory_bytes - run.memory_bytes,
        used_gpus=node.used_gpus - run.gpus,
        used_kinds={kind: used - run.gpus for kind, used in node.used_kinds.items()},
    )
