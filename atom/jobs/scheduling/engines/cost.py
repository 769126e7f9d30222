"""Costs of a run in each place that could take it, and the order of these places.

`J = gpu_h·price + egress·fee + v·(T_start + T_run)`; `T_start = max(T_queue, T_data) + T_image`.
The design adds the cost of evicted data and of failures; both are 0 until there is data for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HOUR_S = 3600.0
# Costs that differ by less are equal: then coverage decides.
SAME_COST = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Site:
    """A place that could take a run; None where a figure is unknown.

    Times are in seconds, sizes in bytes, money in the currency of the prices. `moving_bytes` are on
    their way already: the run waits for them, and their egress is paid.
    """

    name: str
    gpus: int
    run_s: float
    value_per_hour: float
    price_per_hour: float | None
    queue_s: float | None
    image_s: float
    total_bytes: int = 0
    there_bytes: int = 0
    moving_bytes: int = 0
    bandwidth: float | None = None
    egress_per_byte: float = 0.0
    currency: str = ""
    # The part of the accelerators of its nodes that would stay unused beside the run, 0 to 1.
    fragmentation: float = 0.0

    @property
    def coverage(self) -> float:
        """Return the part of the data that is there, 0 to 1; 1 for a run that reads none."""
        return min(1.0, self.there_bytes / self.total_bytes) if self.total_bytes else 1.0

    @property
    def fetched_bytes(self) -> int:
        """Return the bytes that are neither there nor on their way."""
        return max(0, self.total_bytes - self.there_bytes - self.moving_bytes)

    @property
    def data_s(self) -> float | None:
        """Return the time until all data is there; None without a known bandwidth."""
        missing_bytes = max(0, self.total_bytes - self.there_bytes)
        if not missing_bytes:
            return 0.0
        return missing_bytes / self.bandwidth if self.bandwidth else None

    @property
    def start_s(self) -> float | None:
        """Return the time until the start; None if a part of it is unknown."""
        data_s = self.data_s
        if self.queue_s is None or data_s is None:
            return None
        return max(self.queue_s, data_s) + self.image_s


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run in one place, in parts; None where it is unknown."""

    compute: float | None
    egress: float
    time: float | None
    # 0 until there is data.
    eviction: float = 0.0
    failure: float = 0.0

    @property
    def total(self) -> float | None:
        """Return the sum; None if a part is unknown."""
        if self.compute is None or self.time is None:
            return None
        return self.compute + self.egress + self.time + self.eviction + self.failure


def cost_of(site: Site) -> Cost:
    """Return the cost of the run in a place."""
    start_s, price = site.start_s, site.price_per_hour
    compute: float | None = 0.0
    if site.gpus:
        compute = None if price is None else site.gpus * (site.run_s / HOUR_S) * price
    return Cost(
        compute=compute,
        egress=site.fetched_bytes * site.egress_per_byte,
        time=None if start_s is None else site.value_per_hour * (start_s + site.run_s) / HOUR_S,
    )


def has_several_currencies(sites: Iterable[Site]) -> bool:
    """Return whether the places have prices that cannot be compared."""
    return len({site.currency for site in sites if site.currency}) > 1


def rank(sites: Sequence[Site], *, by_time: bool = False) -> list[Site]:
    """Return the places, best first; the order of the input does not matter.

    The cheapest comes first. Within 5 % the higher coverage decides, then less fragmentation, then
    the name. Places of unknown cost follow by time, then those whose start is unknown. Prices of
    several currencies are never compared: then, or if `by_time` says so, time alone orders.
    """
    by_time = by_time or has_several_currencies(sites)
    tiers: list[list[tuple[float, Site]]] = [[], [], []]
    for site in sites:
        tier, figure = figure_of(site, by_time=by_time)
        tiers[tier].append((figure, site))
    return [site for tier in tiers for site in _banded(tier)]


def figure_of(site: Site, *, by_time: bool) -> tuple[int, float]:
    """Return by what a place is compared: its tier from 0, and its figure there.

    The figure is the cost in tier 0, the time until the end in seconds where the cost is unknown or
    `by_time` says so, and the known part of that where the start is unknown.
    """
    total, start_s = cost_of(site).total, site.start_s
    if start_s is None:
        return 2, site.image_s + site.run_s
    if total is None or by_time:
        return 1, start_s + site.run_s
    return 0, total


def _banded(figures: Iterable[tuple[float, Site]]) -> list[Site]:
    """Return places by figure, in bands of 5 % above the least that is left."""
    left = sorted(figures, key=lambda pair: (pair[0], pair[1].name))
    order: list[Site] = []
    while left:
        limit = left[0][0] * (1 + SAME_COST)
        band = [site for figure, site in left if figure <= limit]
        left = left[len(band) :]
        order += sorted(band, key=lambda site: (-site.coverage, site.fragmentation, site.name))
    return order


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """Runs of shape (runs,) and figures of their places of shape (runs, places) or (places,).

    All figures are known, in one currency; the places are sorted by name.
    """

    gpus: Floats
    run_s: Floats
    value_per_hour: Floats
    total_bytes: Floats
    there_bytes: Floats
    moving_bytes: Floats
    price_per_hour: Floats
    queue_s: Floats
    image_s: Floats
    bandwidth: Floats
    egress_per_byte: Floats
    fragmentation: Floats
    # Whether the place takes the run.
    fits: NDArray[np.bool_]


def costs_of_many(runs: ManyRuns) -> Floats:
    """Return the total costs of shape (runs, places), equal to those of `cost_of`."""
    gpus, run_s, value = runs.gpus[:, None], runs.run_s[:, None], runs.value_per_hour[:, None]
    missing = np.maximum(0.0, runs.total_bytes[:, None] - runs.there_bytes)
    fetched = np.maximum(0.0, missing - runs.moving_bytes)
    start_s = np.maximum(runs.queue_s, missing / runs.bandwidth) + runs.image_s
    compute = gpus * (run_s / HOUR_S) * runs.price_per_hour
    total: Floats = compute + fetched * runs.egress_per_byte + value * (start_s + run_s) / HOUR_S
    return total


def choose_many(runs: ManyRuns) -> NDArray[np.int64]:
    """Return the index of the best place of each run, -1 where none takes it; as `rank` does."""
    costs = np.where(runs.fits, costs_of_many(runs), np.inf)
    least = costs.min(axis=1, keepdims=True)
    sizes = runs.total_bytes[:, None]
    parts = np.minimum(1.0, runs.there_bytes / np.maximum(sizes, 1.0))
    coverage = np.where(sizes > 0, parts, 1.0)
    band = (costs <= least * (1 + SAME_COST)) & runs.fits
    covered = np.where(band, coverage, -1.0)
    band &= covered == covered.max(axis=1, keepdims=True)
    spread = np.where(band, np.broadcast_to(runs.fragmentation, band.shape), np.inf)
    chosen: NDArray[np.int64] = spread.argmin(axis=1)
    return np.where(runs.fits.any(axis=1), chosen, -1)
