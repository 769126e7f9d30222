"""Decisions that are kept with their run, and what came of them."""

from __future__ import annotations

from typing import Any

from atom.clusters.actions import LOCAL
from atom.core import clock
from atom.jobs.models import AUTO_DECIDED, PERSON_DECIDED, Attempt, PlacementDecision, Run
from atom.jobs.runs.actions.decide import Decision, decide
from atom.jobs.runs.actions.decision_rows import decision_row
from atom.jobs.runs.actions.place_reads import PlaceReads
from atom.jobs.runs.actions.questions import place_name, question_of
from atom.jobs.runs.actions.real_times import part_times

Json = dict[str, Any]

# At most this many places are kept, the chosen one among them.
MOST_PLACES = 20


def keep_decision(run: Run, decision: Decision) -> PlacementDecision:
    """Keep the decision by which a queued run got its place, or none, in place of an earlier one.

    The caller holds the run's row lock.
    """
    stored, _ = PlacementDecision.objects.update_or_create(
        run=run, attempt=None, defaults=_columns(decision, decision.chosen, AUTO_DECIDED)
    )
    return stored


def keep_placed(run: Run) -> None:
    """Give the attempt that was just placed its decision. The caller holds the run's row lock.

    The decision of a person is compared with the other clusters; on own machines it is not, so
    that a short run starts at once.
    """
    attempt = run.attempts.select_related("node").order_by("-number").first()
    if attempt is None:
        return
    place = place_name(run)
    kept = run.decisions.filter(attempt=None).first()
    if kept is not None and kept.chosen == place:
        kept.attempt = attempt
        kept.save(update_fields=["attempt", "updated_at"])
        return
    if kept is not None:
        kept.delete()
    decider = PERSON_DECIDED if run.auto_request is None else AUTO_DECIDED
    only_own = decider == PERSON_DECIDED and place == LOCAL
    reads = PlaceReads(without=attempt, only_own=only_own)
    decision = decide(run.project, run.created_by, question_of(run), reads)
    PlacementDecision.objects.create(run=run, attempt=attempt, **_columns(decision, place, decider))


def keep_parts(attempt: Attempt) -> None:
    """Write the parts of the start of an attempt that has ended."""
    stored = PlacementDecision.objects.filter(attempt=attempt).first()
    if stored is not None:
        parts = part_times(stored.decided_at, attempt)
        PlacementDecision.objects.filter(pk=stored.pk).update(**parts)


def _columns(decision: Decision, place: str | None, decider: str) -> Json:
    row = decision_row(decision, place)
    candidates = row["candidates"]
    chosen = next((one for one in candidates if one["name"] == place), None)
    kept = candidates[:MOST_PLACES]
    if chosen is not None and chosen not in kept:
        kept[-1] = chosen
    return {
        "decided_at": clock.now(),
        "chosen": place or "",
        "decided_by": decider,
        "why": row["why"] if decider == AUTO_DECIDED else None,
        "assumptions": row["assumptions"],
        "candidates": kept,
        "assumed": _assumed(chosen) if chosen and chosen["rank"] else None,
    }


def _assumed(chosen: Json) -> Json:
    price, parts = chosen["price"], chosen["parts"]
    return {
        "start_s": chosen["start"],
        "run_s": chosen["run"],
        "queue_s": parts["queue"]["p50_s"],
        "data_s": parts["data_s"],
        "image_s": parts["image_s"],
        "cost": price["total"],
        "currency": price["currency"],
        # For the real cost.
        "per_hour": price["per_hour"],
        "egress": chosen["cost"]["egress"],
    }
