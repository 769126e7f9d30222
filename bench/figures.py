"""Percentiles of delays, for every part of the service's benchmark."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench.harness import Result


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def delays(name: str, values_ms: Sequence[float]) -> list[Result]:
    """Return the median, p95 and p99 of delays in ms."""
    shown = (("median", 50), ("p95", 95), ("p99", 99))
    return [
        Result(f"{name}, {word}", round(percentile(values_ms, percent), 1), "ms")
        for word, percent in shown
    ]
