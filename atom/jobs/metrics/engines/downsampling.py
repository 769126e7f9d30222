"""Curves with no more points than a screen can show."""

from __future__ import annotations

from typing import Any

import numpy as np
from tsdownsample import MinMaxLTTBDownsampler, NaNMinMaxLTTBDownsampler

from atom.jobs.metrics.engines.points import Points

MIN_POINTS, MAX_POINTS = 4, 4000


def downsample(points: Points, count: int) -> Points:
    """Return at most `count` points that draw the same curve, in order of step.

    MinMaxLTTB (Van Der Donckt 2023): keeps peaks, the first and the last point. Points with NaN
    or infinite values are chosen like extremes, so a diverging loss stays visible.
    """
    count = max(MIN_POINTS, min(count, MAX_POINTS))
    ordered = _by_step(points)
    if len(ordered) <= count:
        return ordered
    values = np.where(np.isfinite(ordered.values), ordered.values, np.nan)
    chosen = _choose(ordered.steps.astype(np.float64), values, count - count % 2)
    return ordered[chosen]


def _by_step(points: Points) -> Points:
    """Sort by step; a step that was logged again (a resumed run) keeps its later point."""
    if len(points) < 2 or bool(np.all(np.diff(points.steps) > 0)):
        return points
    order = np.argsort(points.steps, kind="stable")
    steps = points.steps[order]
    last_of_step = np.append(steps[1:] != steps[:-1], True)
    return points[order[last_of_step]]


def _choose(
    x: np.ndarray[tuple[int], np.dtype[np.float64]],
    y: np.ndarray[tuple[int], np.dtype[np.float64]],
    count: int,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    # tsdownsample's constructors carry no types.
    make: Any = NaNMinMaxLTTBDownsampler if np.isnan(y).any() else MinMaxLTTBDownsampler
    sampler = make()
    chosen = sampler.downsample(x, np.ascontiguousarray(y), n_out=count, parallel=False)
    return np.unique(chosen.astype(np.int64))
