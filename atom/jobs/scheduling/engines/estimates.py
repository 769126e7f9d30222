"""Estimates of times as intervals, each with its basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom_sdk.sentences import Sentence

# Fewer similar runs say nothing.
ENOUGH_RUNS = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """A time in seconds: the median and the ninth tenth, None if unknown, with the basis."""

    basis: Sentence
    p50_s: float | None = None
    p90_s: float | None = None

    @property
    def is_known(self) -> bool:
        """Return whether there is a figure."""
        return self.p50_s is not None


def estimate_from(seconds: Sequence[float], position: int = 0) -> Estimate:
    """Return the interval of the times of similar runs; unknown if there are too few.

    `position` is the place in the queue from 1, 0 if it does not matter.
    """
    runs = len(seconds)
    if runs < ENOUGH_RUNS:
        basis = Sentence(
            "jobs.estimate_unknown",
            "Unknown: {runs} similar runs in 30 days, and an estimate needs {enough}.",
            runs=runs,
            enough=ENOUGH_RUNS,
        )
        return Estimate(basis)
    p50_s, p90_s = (float(value) for value in np.percentile(seconds, [50, 90]))
    if position:
        basis = Sentence(
            "jobs.estimate_in_queue",
            "position {position}; {runs} similar runs",
            position=position,
            runs=runs,
        )
    else:
        basis = Sentence("jobs.estimate_from_runs", "{runs} similar runs", runs=runs)
    return Estimate(basis, p50_s, p90_s)


def room_now() -> Estimate:
    """Return that a run does not wait for room."""
    return Estimate(Sentence("jobs.estimate_room_now", "There is room now."), 0.0, 0.0)
