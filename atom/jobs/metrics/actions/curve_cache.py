"""A cache of drawn long curves: a million points take a fifth of a second to draw.

A key names the series, their numbers of points and the window. Points are only ever added, so a
curve that has grown has another key, and an entry is never stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from atom.jobs.metrics.engines import points as codec
from atom.jobs.metrics.engines.points import Points
from atom.jobs.models import MetricSeries

log = structlog.get_logger(__name__)

# Shorter curves are drawn as fast as the cache answers.
KEPT_FROM_POINTS = 50_000
KEPT_S = 600


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a curve is wanted; None for no bound. `since_n` skips the first points."""

    points: int = 1000
    from_step: int | None = None
    to_step: int | None = None
    since_n: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric of a run; `n` counts all its points, before any window."""

    key: str
    n: int
    points: Points
    downsampled: bool


def find(series: Mapping[str, Sequence[MetricSeries]], window: Window) -> dict[str, Curve]:
    """Return the long curves that were drawn before, by their key."""
    names = _names(series, window)
    if not names:
        return {}
    try:
        found = cache.get_many(names)
    except RedisError as error:
        # The cache only saves time: without it the curves are drawn again.
        log.warning("curve_cache_away", error=str(error))
        return {}
    return {
        names[name]: Curve(names[name], n, codec.decode(data), downsampled)
        for name, (n, data, downsampled) in found.items()
    }


def keep(
    series: Mapping[str, Sequence[MetricSeries]], window: Window, drawn: Mapping[str, Curve]
) -> None:
    """Keep the long curves for KEPT_S seconds."""
    names = _names(series, window)
    if not names:
        return
    rows = {name: (drawn[key], codec.encode(drawn[key].points)) for name, key in names.items()}
    try:
        cache.set_many(
            {name: (one.n, data, one.downsampled) for name, (one, data) in rows.items()}, KEPT_S
        )
    except RedisError as error:
        log.warning("curve_cache_away", error=str(error))


def _names(series: Mapping[str, Sequence[MetricSeries]], window: Window) -> dict[str, str]:
    """Return the metric keys of the long curves by their keys in the cache."""
    return {
        _name(some, window): key
        for key, some in series.items()
        if sum(one.n for one in some) >= KEPT_FROM_POINTS
    }


def _name(some: Sequence[MetricSeries], window: Window) -> str:
    drawn_from = [(str(one.pk), one.n) for one in some]
    return f"curve:{sha256(repr((drawn_from, window)).encode()).hexdigest()}"
