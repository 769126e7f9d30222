"""The choice among places: of many runs at once, and whether a run that waits goes elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atom.jobs.scheduling.engines.cost import (
    Floats,
    ManyRuns,
    Site,
    choose_many,
    cost_of,
    figure_of,
    has_several_currencies,
    rank,
)

# A run that waits goes to another place only if that is better by this part of the cost.
BETTER_BY = 0.10


def moves(current: Site | None, best: Site, *, by_time: bool = False) -> bool:
    """Return whether a run that waits for one place goes to the best one instead.

    `current` is None once its place never takes the run. A place whose cost and start are known is
    better than one where they are not.
    """
    if current is None:
        return True
    if current.name == best.name:
        return False
    tier, figure = figure_of(current, by_time=by_time)
    best_tier, best_figure = figure_of(best, by_time=by_time)
    if tier != best_tier:
        return best_tier < tier
    return best_figure < figure and best_figure <= figure * (1 - BETTER_BY)


def best_of_many(runs: Sequence[Sequence[Site]], by_time: Sequence[bool]) -> list[Site | None]:
    """Return the best of the places of each run, as `rank` does; None for a run without places.

    `by_time` says for each run whether time alone orders.
    """
    best: list[Site | None] = [None] * len(runs)
    known = []
    for number, sites in enumerate(runs):
        if not by_time[number] and _is_comparable(sites):
            known.append(number)
        elif sites:
            best[number] = rank(sites, by_time=by_time[number])[0]
    if known:
        by_name = [{site.name: site for site in runs[number]} for number in known]
        names = sorted({name for sites in by_name for name in sites})
        for number, places, index in zip(known, by_name, _choose(by_name, names), strict=True):
            best[number] = places[names[index]]
    return best


def _is_comparable(sites: Sequence[Site]) -> bool:
    """Return whether all costs are known, in one currency."""
    return (
        bool(sites)
        and all(cost_of(site).total is not None for site in sites)
        and not has_several_currencies(sites)
    )


def _choose(runs: Sequence[dict[str, Site]], names: Sequence[str]) -> list[int]:
    def of_places(name: str, unknown: float = 0.0) -> Floats:
        """Return a figure of shape (runs, places)."""
        rows = [
            [getattr(run[place], name) or unknown if place in run else unknown for place in names]
            for run in runs
        ]
        return np.array(rows, dtype=np.float64)

    def of_runs(name: str) -> Floats:
        """Return a figure of shape (runs,), the same in all places."""
        return np.array([getattr(next(iter(run.values())), name) for run in runs], np.float64)

    return [
        int(place)
        for place in choose_many(
            ManyRuns(
                gpus=of_runs("gpus"),
                run_s=of_runs("run_s"),
                value_per_hour=of_runs("value_per_hour"),
                total_bytes=of_runs("total_bytes"),
                there_bytes=of_places("there_bytes"),
                moving_bytes=of_places("moving_bytes"),
                price_per_hour=of_places("price_per_hour"),
                queue_s=of_places("queue_s"),
                image_s=of_places("image_s"),
                # Without missing bytes the rate does not matter.
                bandwidth=of_places("bandwidth", 1.0),
                egress_per_byte=of_places("egress_per_byte"),
                fragmentation=of_places("fragmentation"),
                fits=np.array([[place in run for place in names] for run in runs]),
            )
        )
    ]
