"""Queued runs whose place Atom chooses: each round looks at their choice anew."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, prefetch_related_objects

from atom.clusters.actions import LOCAL
from atom.clusters.models import Cluster
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record
from atom.jobs.executors import environments_in
from atom.jobs.models import Placement, Run
from atom.jobs.runs.actions.chosen_cluster import demand_on
from atom.jobs.runs.actions.decide import Decision, Figures, decide, figures_of
from atom.jobs.runs.actions.place_reads import PlaceReads
from atom.jobs.runs.actions.questions import INPUTS, Question, place_name, question_of
from atom.jobs.runs.actions.start_request import default_delivery, start_of
from atom.jobs.runs.actions.stored_decisions import keep_decision
from atom.jobs.runs.engines.cluster_choice import Fits
from atom.jobs.scheduling.actions.queue_order import STARVING, in_order
from atom.jobs.scheduling.engines.choice import best_of_many, moves
from atom.jobs.scheduling.engines.cost import Site

# This many runs are looked at in one round.
AT_ONCE = 200


def place_waiting() -> list[UUID]:
    """Choose again for queued runs that Atom places; return those that their cluster gets now.

    A run whose cluster is full waits here, where a better place may still come up. After
    `STARVING` its cluster gets it all the same, and keeps its turn.
    """
    runs = list(_waiting())
    if not runs:
        return []
    prefetch_related_objects(runs, INPUTS)
    reads = PlaceReads()
    questions = [question_of(run) for run in runs]
    reads.know([version for question in questions for version in question.inputs.values()])
    figures = [
        figures_of(run.project, run.created_by, question, reads)
        for run, question in zip(runs, questions, strict=True)
    ]
    best = best_of_many([one.sites for one in figures], by_time=[one.by_time for one in figures])
    return [
        run.pk
        for run, question, compared, site in zip(runs, questions, figures, best, strict=True)
        if _is_due(run, question, _place(run, question, compared, site, reads), reads)
    ]


def _waiting() -> QuerySet[Run]:
    """Return the queued runs that Atom places, in order; not those that go on in their Job."""
    goes_on = Placement.objects.filter(run=OuterRef("pk"), ended_at=None)
    queued = Run.objects.filter(~Exists(goes_on), state=states.QUEUED, auto_request__isnull=False)
    related = ("project", "created_by", "cluster", "runtime", "workflow")
    return in_order(queued).select_related(*related)[:AT_ONCE]


def _place(
    run: Run, question: Question, figures: Figures, best: Site | None, reads: PlaceReads
) -> str | None:
    """Return the place of a run, after it moved if another one is better by enough."""
    place = place_name(run)
    current = next((site for site in figures.sites if site.name == place), None)
    if best is None and place is None:
        return None
    if best is not None and not moves(current, best, by_time=figures.by_time):
        return place
    # Runs before this one may have taken the room.
    decision = decide(run.project, run.created_by, question, reads)
    chosen = decision.sites.get(decision.chosen or "")
    if chosen is not None and not moves(
        decision.sites.get(place or ""), chosen, by_time=decision.by_time
    ):
        return place
    return decision.chosen if _move(run, decision, reads) else None


def _is_due(run: Run, question: Question, place: str | None, reads: PlaceReads) -> bool:
    """Return whether the registered cluster of a run gets it now, and count its room."""
    if place is None:
        return False
    clusters = reads.clusters(run.project, run.created_by)
    cluster = next(row for row in clusters if row.name == place)
    has_room = reads.verdict(cluster, run.project, question).fits is Fits.NOW
    if has_room:
        catalog = reads.offer(cluster, run.project).catalog
        reads.take(place, demand_on(catalog, question.demand), question.nodes)
    waited = reads.now - (run.queued_at or reads.now)
    return place != LOCAL and (has_room or waited > STARVING)


@transaction.atomic
def _move(seen: Run, decision: Decision, reads: PlaceReads) -> bool:
    """Give a run the place of a decision; False if it is not as it was seen."""
    rows = Run.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
    run = (
        rows.select_related("project", "cluster", "runtime")
        .filter(
            pk=seen.pk,
            state=states.QUEUED,
            cluster=seen.cluster_id,
            has_place=seen.has_place,
            auto_request__isnull=False,
        )
        .first()
    )
    if run is None:
        return False
    clusters = reads.clusters(seen.project, seen.created_by)
    cluster = next((row for row in clusters if row.name == decision.chosen), None)
    put_in_place(run, decision, cluster)
    run.save(update_fields=["cluster", "has_place", "accelerator", "runtime", "updated_at"])
    keep_decision(run, decision)
    _note(run, decision)
    announce(run)
    return True


def put_in_place(run: Run, decision: Decision, cluster: Cluster | None) -> None:
    """Fit a run to the chosen place: its kind, environment and ways of delivery.

    The caller saves the run. `cluster` is None if no place takes it.
    """
    asked: dict[str, Any] = run.auto_request or {}
    run.has_place = cluster is not None
    run.cluster = cluster if cluster is not None and cluster.is_registered else None
    run.accelerator, run.runtime = asked["accelerator"], None
    if cluster is None:
        return
    offer = next(place.offer for place in decision.places if place.name == cluster.name)
    kind = offer.catalog.find(run.accelerator)
    run.accelerator = kind.name if kind else run.accelerator
    environments = environments_in(run.cluster)
    run.runtime = environments.ensure(asked["requirements"], run.image, run.project)
    if run.runtime is not None:
        environments.request(run.runtime)
    for part in run.inputs.all():
        default = default_delivery(run.cluster, start_of(run))
        part.delivery = asked["deliveries"].get(part.alias, default)
        part.save(update_fields=["delivery", "updated_at"])


def _note(run: Run, decision: Decision) -> None:
    if decision.chosen is None:
        record(run, EventKind.NO_PLACE, "No place takes the run now. It waits for one.")
    else:
        text = f"Atom chose {decision.chosen} for the run."
        record(run, EventKind.PLACE_CHOSEN, text, cluster=decision.chosen)
