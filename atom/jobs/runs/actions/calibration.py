"""How far estimates of placements were off: what came, divided by what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from atom.jobs import states
from atom.jobs.models import PlacementDecision
from atom.jobs.scheduling.engines.estimates import ENOUGH_RUNS

# The newest placements that count.
_NEWEST = 100
# An estimate of less is too short to divide by, in seconds.
_LEAST_S = 1.0


@dataclass(frozen=True, slots=True)
class EstimateErrors:
    """Medians of came / assumed, of the start and of the run time; None under five runs.

    `runs` counts those of the figure that has fewer.
    """

    runs: int
    start: float | None
    run: float | None


def estimate_errors() -> EstimateErrors | None:
    """Return how far the estimates of the newest placements were off; None before the first."""
    decisions = (
        PlacementDecision.objects.filter(attempt__started_at__isnull=False)
        .order_by("-decided_at")
        .select_related("attempt")
        .only("decided_at", "assumed", *_ATTEMPT)[:_NEWEST]
    )
    starts, runs, count = [], [], 0
    for decision in decisions:
        attempt, assumed = decision.attempt, decision.assumed
        count += 1
        if attempt is None or attempt.started_at is None or assumed is None:
            continue
        start_s = (attempt.started_at - decision.decided_at).total_seconds()
        starts += _ratio(start_s, assumed["start_s"])
        if attempt.finished_at is not None and attempt.state == states.SUCCEEDED:
            run_s = (attempt.finished_at - attempt.started_at).total_seconds()
            runs += _ratio(run_s, assumed["run_s"])
    if not count:
        return None
    return EstimateErrors(min(len(starts), len(runs)), _median(starts), _median(runs))


_ATTEMPT = tuple(f"attempt__{name}" for name in ("state", "started_at", "finished_at"))


def _ratio(came_s: float, estimate: dict[str, Any]) -> list[float]:
    p50_s = estimate["p50_s"]
    return [] if p50_s is None or p50_s < _LEAST_S else [max(0.0, came_s) / p50_s]


def _median(ratios: Sequence[float]) -> float | None:
    return median(ratios) if len(ratios) >= ENOUGH_RUNS else None
