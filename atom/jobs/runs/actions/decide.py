"""The decision where a run goes: own machines and clusters, each with its cost, best first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from atom.accounts.models import Project, User
from atom.clusters.models import AcceleratorPrice
from atom.jobs.runs.actions.chosen_cluster import demand_on
from atom.jobs.runs.actions.place_reads import PlaceReads
from atom.jobs.runs.actions.questions import Question
from atom.jobs.runs.engines.cluster_choice import Offer
from atom.jobs.runs.engines.places import (
    Place,
    Price,
    Weights,
    assumptions_of,
    fragmentation_of,
    reason_of,
    site_of,
)
from atom.jobs.scheduling.actions.histories import Likeness
from atom.jobs.scheduling.engines.cost import HOUR_S, Site, rank
from atom.jobs.scheduling.engines.estimates import Estimate, estimate_from
from atom.jobs.scheduling.engines.placement import Demand
from atom.settings.placement import value_at
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Decision:
    """The places, those that take the run first, best first; `sites` are the figures of these."""

    places: list[Place]
    sites: dict[str, Site]
    run: Estimate
    why: Sentence | None
    assumptions: list[Sentence]
    start_percent: int
    # Time alone orders, since the prices have several currencies.
    by_time: bool

    @property
    def chosen(self) -> str | None:
        """Return the name of the best place, None if no place takes the run."""
        return next(iter(self.sites), None)


@dataclass(frozen=True)
class Figures:
    """The places of a run with their figures, in no order."""

    places: list[Place]
    sites: list[Site]
    weights: Weights
    run: Estimate

    @property
    def by_time(self) -> bool:
        """Return whether the prices have several currencies, so that time alone orders."""
        usable = (place.currencies for place in self.places if place.takes_run)
        return len(set().union(*usable)) > 1


def decide(
    project: Project, user: User | None, question: Question, reads: PlaceReads | None = None
) -> Decision:
    """Return where a run would go, with the figures of each place. It writes nothing.

    `reads` are those of a round of many decisions.
    """
    figures = figures_of(project, user, question, reads or PlaceReads())
    by_time = figures.by_time
    order = rank(figures.sites, by_time=by_time)
    usable = {place.name: place for place in figures.places if place.takes_run}
    never = [place for place in figures.places if not place.takes_run]
    return Decision(
        places=[
            *(usable[site.name] for site in order),
            *sorted(never, key=lambda place: place.name),
        ],
        sites={site.name: site for site in order},
        run=figures.run,
        why=reason_of(order, by_time=by_time),
        assumptions=assumptions_of(
            figures.places,
            figures.weights,
            figures.run,
            by_time=by_time,
            streams=any(place.is_registered for place in usable.values()),
        ),
        start_percent=question.start_percent,
        by_time=by_time,
    )


def figures_of(
    project: Project, user: User | None, question: Question, reads: PlaceReads
) -> Figures:
    """Return the places of a run with the figures of those that take it."""
    places = _places(project, user, question, reads)
    kinds = sorted(
        {demand_on(place.offer.catalog, question.demand).accelerator for place in places}
    )
    like = Likeness(question.demand.gpus, kinds, question.nodes)
    run = estimate_from(reads.run_times(project, like, question))
    weights = Weights(
        gpus=question.demand.gpus * question.nodes,
        run_s=HOUR_S if run.p50_s is None else run.p50_s,
        value_per_hour=value_at(settings.ATOM_HOUR_VALUES, question.priority),
    )
    sites = [site_of(place, weights) for place in places if place.takes_run]
    return Figures(places, sites, weights, run)


def _places(
    project: Project, user: User | None, question: Question, reads: PlaceReads
) -> list[Place]:
    clusters = {row.pk: row for row in reads.clusters(project, user)}
    offers = {pk: reads.offer(row, project) for pk, row in clusters.items()}
    verdicts = {pk: reads.verdict(row, project, question) for pk, row in clusters.items()}
    waits = reads.waits(project, clusters, question)
    with_agents = reads.with_agents if question.inputs else set()
    return [
        Place(
            offer=offers[pk],
            kind=row.kind,
            is_registered=row.is_registered,
            verdict=verdicts[pk],
            wait=waits[pk],
            image_s=reads.image_s(row, verdicts[pk]),
            price=_price(offers[pk], question.demand, reads.prices.get(pk, {})),
            inputs=reads.inputs(row, question.inputs),
            fragmentation=fragmentation_of(
                offers[pk], demand_on(offers[pk].catalog, question.demand)
            ),
            has_agents=row.pk in with_agents,
            preemptors=reads.preemptors(row),
        )
        for pk, row in clusters.items()
    ]


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
