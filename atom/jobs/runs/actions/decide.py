"""The decision where a run goes: own machines and clusters, each with its cost, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.clusters.models import AcceleratorPrice, Cluster
from atom.datasets.models import Version
from atom.jobs.runs.actions.chosen_cluster import (
    demand_on,
    offer_of,
    own_offer,
    usable_clusters,
    without_images,
    without_nodes,
)
from atom.jobs.runs.engines.cluster_choice import Fits, Offer, Verdict, judge
from atom.jobs.runs.engines.places import (
    InputPlace,
    Place,
    Price,
    Weights,
    assumptions_of,
    fragmentation_of,
    reason_of,
    site_of,
)
from atom.jobs.scheduling.actions.data_places import (
    Held,
    HeldByNode,
    Way,
    best_node,
    held_in,
    stores_of,
    ways_in,
)
from atom.jobs.scheduling.actions.histories import Likeness, positions_in, run_times, waits_in
from atom.jobs.scheduling.actions.queue_order import queue_position
from atom.jobs.scheduling.engines.cost import HOUR_S, Site, rank
from atom.jobs.scheduling.engines.estimates import Estimate, estimate_from, room_now
from atom.jobs.scheduling.engines.placement import Demand
from atom.settings.placement import value_at
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Question:
    """A run as far as its place asks; `demand` is that of each of the `nodes`."""

    demand: Demand
    nodes: int = 1
    image: str = ""
    inputs: Mapping[str, Version] = field(default_factory=dict)
    workflow: str = ""
    command: Sequence[str] = ()
    priority: int = 0


@dataclass(frozen=True)
class Decision:
    """The places, those that take the run first, best first; `sites` are the figures of these."""

    places: list[Place]
    sites: dict[str, Site]
    run: Estimate
    why: Sentence | None
    assumptions: list[Sentence]
    # Time alone orders, since the prices have several currencies.
    by_time: bool

    @property
    def chosen(self) -> str | None:
        """Return the name of the best place, None if no place takes the run."""
        return next(iter(self.sites), None)


def decide(project: Project, user: User, question: Question) -> Decision:
    """Return where a run would go, with the figures of each place. It writes nothing."""
    places = _places(project, user, question)
    kinds = sorted(
        {demand_on(place.offer.catalog, question.demand).accelerator for place in places}
    )
    like = Likeness(question.demand.gpus, kinds, question.nodes)
    run = estimate_from(run_times(project, like, question.workflow, question.command))
    weights = Weights(
        gpus=question.demand.gpus * question.nodes,
        run_s=HOUR_S if run.p50_s is None else run.p50_s,
        value_per_hour=value_at(settings.ATOM_HOUR_VALUES, question.priority),
    )
    usable = {place.name: place for place in places if place.takes_run}
    by_time = len(set().union(*(place.currencies for place in usable.values()))) > 1
    order = rank([site_of(place, weights) for place in usable.values()], by_time=by_time)
    never = sorted((place for place in places if not place.takes_run), key=lambda one: one.name)
    return Decision(
        places=[usable[site.name] for site in order] + never,
        sites={site.name: site for site in order},
        run=run,
        why=reason_of(order, by_time=by_time),
        assumptions=assumptions_of(
            places,
            weights,
            run,
            by_time=by_time,
            streams=any(place.is_registered for place in usable.values()),
        ),
        by_time=by_time,
    )


def _places(project: Project, user: User, question: Question) -> list[Place]:
    own = Cluster.objects.filter(name=LOCAL).first()
    registered = list(usable_clusters(project, user).order_by("name"))
    clusters = [*([own] if own else []), *registered]
    offers = {row.pk: offer_of(row, project) for row in registered}
    if own:
        offers[own.pk] = own_offer()
    verdicts = {row.pk: _verdict(offers[row.pk], question) for row in clusters}
    waits = _waits(clusters, offers, verdicts, question)
    prices = _prices(clusters)
    inputs = _inputs(list(offers), question.inputs)
    return [
        Place(
            offer=offers[row.pk],
            kind=row.kind,
            is_registered=row.is_registered,
            verdict=verdicts[row.pk],
            wait=waits[row.pk],
            image_s=_image_s(row, verdicts[row.pk]),
            price=_price(offers[row.pk], question.demand, prices.get(row.pk, {})),
            inputs=inputs[row.pk],
            fragmentation=fragmentation_of(
                offers[row.pk], demand_on(offers[row.pk].catalog, question.demand)
            ),
        )
        for row in clusters
    ]


def _verdict(offer: Offer, question: Question) -> Verdict:
    if offer.name == LOCAL and question.nodes > 1:
        return Verdict(Fits.NEVER, without_nodes())
    if offer.name == LOCAL and question.image:
        return Verdict(Fits.NEVER, without_images())
    return judge(offer, demand_on(offer.catalog, question.demand), question.nodes)


def _image_s(cluster: Cluster, verdict: Verdict) -> float:
    """Return the time for the image; the wait of a full cluster includes it already."""
    if cluster.name == LOCAL or verdict.fits is not Fits.NOW:
        return 0.0
    return float(settings.ATOM_IMAGE_FETCH_S)


def _waits(
    clusters: Sequence[Cluster],
    offers: Mapping[UUID, Offer],
    verdicts: Mapping[UUID, Verdict],
    question: Question,
) -> dict[UUID, Estimate]:
    """Return the wait for room of each place; the history is read for full places alone."""
    full = [row for row in clusters if verdicts[row.pk].fits is Fits.LATER]
    kinds = {row.pk: demand_on(offers[row.pk].catalog, question.demand).accelerator for row in full}
    like = Likeness(question.demand.gpus, sorted({*kinds.values()}), question.nodes)
    history = waits_in(list(kinds), like, settings.ATOM_IMAGE_FETCH_S) if full else {}
    waiting = positions_in(list(kinds)) if full else {}
    waits = {row.pk: room_now() for row in clusters}
    for row in full:
        position = queue_position() if row.name == LOCAL else waiting.get(row.pk, 0) + 1
        waits[row.pk] = estimate_from(history.get((row.pk, kinds[row.pk]), []), position)
    return waits


def _prices(clusters: Sequence[Cluster]) -> dict[UUID, dict[str, AcceleratorPrice]]:
    prices: dict[UUID, dict[str, AcceleratorPrice]] = {}
    for price in AcceleratorPrice.objects.filter(cluster__in=clusters):
        prices.setdefault(price.cluster_id, {})[price.kind] = price
    return prices


def _price(offer: Offer, demand: Demand, prices: Mapping[str, AcceleratorPrice]) -> Price | None:
    """Return the price of the kind; for any kind the highest. None if it is unknown."""
    if not demand.gpus:
        return None
    asked = demand_on(offer.catalog, demand).accelerator
    kinds = [asked] if asked else offer.catalog.choices
    known = [prices[kind] for kind in kinds if kind in prices]
    if not known or len(known) < len(kinds) or len({price.currency for price in known}) > 1:
        return None
    highest = max(known, key=lambda price: price.per_hour)
    return Price(float(highest.per_hour), highest.currency, is_highest=len(known) > 1)


def _inputs(
    clusters: Sequence[UUID], inputs: Mapping[str, Version]
) -> dict[UUID, list[InputPlace]]:
    """Return each input in each place, as the node with the most data has it."""
    versions = {version.pk: version for version in inputs.values()}
    if not versions:
        return {cluster_id: [] for cluster_id in clusters}
    stores = stores_of(list(versions.values()))
    held = held_in(clusters, {pk: version.size_bytes for pk, version in versions.items()})
    ways = ways_in(clusters, set(stores.values()))
    return {
        cluster_id: _inputs_in(inputs, held[cluster_id], stores, ways[cluster_id])
        for cluster_id in clusters
    }


def _inputs_in(
    inputs: Mapping[str, Version],
    held: HeldByNode,
    stores: Mapping[UUID, str],
    ways: Mapping[str, Way],
) -> list[InputPlace]:
    node = best_node(held)
    parts = []
    for alias, version in sorted(inputs.items()):
        part, store = node.get(version.pk, Held(0)), stores[version.pk]
        way = ways[store]
        parts.append(
            InputPlace(
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
        )
    return parts
