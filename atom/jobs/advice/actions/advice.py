"""Reads the measurements and inputs of a run, for the advice."""

from __future__ import annotations

import numpy as np

from atom.jobs.advice.engines.advice import Finding, Measured, advise
from atom.jobs.deliveries import STREAM
from atom.jobs.metrics.actions.curve_cache import Curve, Window
from atom.jobs.metrics.actions.series import curves
from atom.jobs.models import Run

_WAIT, _CPU = "system/data_wait_percent", "system/cpu_percent"
_DISK, _BATCHES = "system/disk_read_bytes_s", "system/data_batches"
# As many points as a page shows: enough for a mean.
_POINTS = 4000


def advice_of(run: Run) -> list[Finding]:
    """Return whether the run waited for its data, why, and what to do; writes nothing."""
    keys = (_WAIT, _CPU, _DISK, _BATCHES)
    found = {curve.key: curve for curve in curves(run, keys, Window(_POINTS))}
    wait, cpu = _mean(found.get(_WAIT)), _mean(found.get(_CPU))
    return advise(
        Measured(
            cpus=run.cpus,
            wait_share=None if wait is None else min(1.0, wait / 100),
            cores_used=None if cpu is None else cpu / 100,
            disk_read_bytes_s=_mean(found.get(_DISK)),
            mean_file_bytes=_mean_file_bytes(run),
            is_streamed=run.inputs.filter(delivery=STREAM).exists(),
            measured_s=_span_s(found.get(_WAIT)),
            batches=_most(found.get(_BATCHES)),
        )
    )


def _mean(curve: Curve | None) -> float | None:
    """Return the mean over time: each point is of the span since the one before it."""
    if curve is None:
        return None
    kept = np.isfinite(curve.points.values)
    values, ts_ms = curve.points.values[kept], curve.points.ts_ms[kept]
    if not len(values):
        return None
    spans_ms = np.diff(ts_ms, prepend=ts_ms[:1])
    if spans_ms.sum() <= 0:
        return float(values.mean())
    return float(np.average(values, weights=np.maximum(spans_ms, 0)))


def _span_s(curve: Curve | None) -> float:
    """Return the time from the first point to the last; how much came before is not known."""
    if curve is None or not len(curve.points.ts_ms):
        return 0.0
    return float(np.ptp(curve.points.ts_ms)) / 1000


def _most(curve: Curve | None) -> int | None:
    """Return the last of what only grows; each process of a job counts by itself."""
    if curve is None or not np.isfinite(curve.points.values).any():
        return None
    return int(np.nanmax(curve.points.values))


def _mean_file_bytes(run: Run) -> float | None:
    totals = list(run.inputs.values_list("version__size_bytes", "version__file_count"))
    files = sum(count for _, count in totals)
    return sum(size for size, _ in totals) / files if files else None
