"""Metrics of runs as floats: the API says NaN and infinity as words, which JSON can hold."""

from __future__ import annotations

from typing import Any

_METRIC_COLUMN = "metric."


def run_with_floats(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run as the API gave it, its metrics as floats."""
    if summary := run.get("metrics_summary"):
        run["metrics_summary"] = {key: float(value) for key, value in summary.items()}
    for name, value in (run.get("values") or {}).items():
        if name.startswith(_METRIC_COLUMN):
            run["values"][name] = float(value)
    return run


def comparison_with_floats(comparison: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison as the API gave it, the metrics of its runs as floats."""
    for run in comparison["runs"]:
        run_with_floats(run)
        for metric in run["metrics"]:
            if metric["last"] is not None:
                metric["last"] = float(metric["last"])
    return comparison
