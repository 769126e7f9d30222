"""Rows of the list of runs, as `ListedRunSerializer` describes them.

The framework's serializer takes twice as long for a page of fifty runs (bench/api/hot_lists.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from atom.core import clock
from atom.jobs import states
from atom.jobs.failures.api.failure_serializers import failure_of
from atom.jobs.reads import ListedRun
from atom_sdk.runner.metric_rows import number

# The columns that chosen columns of a list read beside those of each row.
VALUE_COLUMNS = ("parameters", "logged_parameters")
_UNCHANGED = (
    *("number", "name", "state", "progress", "progress_text", "origin", "tags", "starred"),
    "revision",
)
_SELECTOR = ("split", "labelled", "where", "view")
_UTC = "+00:00"


def rows_of(page: Sequence[ListedRun], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a page; `columns` are the parameters and metrics that the reader chose."""
    # One time for all rows; only an attempt that goes on asks for it.
    now = cache(clock.now)
    return [_row(run, now, columns) for run in page]


def ran_s(attempts: Iterable[Any], now: Callable[[], datetime]) -> float | None:
    """Return for how long attempts ran together, without pauses; None before the first began."""
    ran = [
        (attempt.finished_at or now()) - attempt.started_at
        for attempt in attempts
        if attempt.started_at is not None
    ]
    return round(max(0.0, sum(ran, timedelta()).total_seconds()), 3) if ran else None


def phase_to_show(state: str, observed: str | None) -> str | None:
    """Return the phase of an attempt that a cluster starts; None once its command runs."""
    return observed or None if state == states.SUBMITTED else None


def unit_hours(origin: str, duration_s: float | None, units: int) -> float | None:
    """Return hours times processors or GPUs; None before the run began."""
    # The resources that a tracked run takes of other machines are unknown.
    if origin != states.EXECUTED or duration_s is None:
        return None
    return round(duration_s * units / 3600, 4)


def values_of(columns: Sequence[str], parameters: Any, metrics: Any) -> dict[str, Any]:
    """Return the chosen parameters and metrics that a run has."""
    known = {"param": parameters, "metric": metrics}
    split = ((name, *name.split(".", 1)) for name in columns)
    return {name: known[kind][key] for name, kind, key in split if key in known[kind]}


def _row(run: ListedRun, now: Callable[[], datetime], columns: Sequence[str]) -> dict[str, Any]:
    of, attempts = run.columns, run.attempts
    duration_s = ran_s(attempts, now)
    last = attempts[-1] if attempts else None
    row = {name: of[name] for name in _UNCHANGED}
    row |= {
        "id": str(of["id"]),
        "workflow": of["workflow__slug"],
        "created_by": _person(of),
        "datasets": [_input(part) for part in run.inputs],
        "resources": {name: of[name] for name in ("cpus", "memory_bytes", "gpus")},
        "accelerator": of["accelerator"],
        "nodes": of["nodes"],
        "launcher": of["launcher"],
        "cluster": of["cluster__name"],
        "node": last.node__name if last else None,
        "phase": phase_to_show(last.state, last.placed_in__observed__phase) if last else None,
        "duration_s": duration_s,
        "cpu_hours": unit_hours(of["origin"], duration_s, of["cpus"] * of["nodes"]),
        "gpu_hours": unit_hours(of["origin"], duration_s, of["gpus"] * of["nodes"]),
        "failure_class": of["failure_class"] or None,
        "failure_reason": of["failure_reason"] or None,
        "failure": failure_of(last) if of["failure_class"] else None,
        "experiment": of["experiment__name"] or "",
        "metrics_summary": {
            name: None if value is None else number(value)
            for name, value in of["metrics_summary"].items()
        },
        "attempts": len(attempts),
        "values": {},
    }
    for name in ("created_at", "started_at", "finished_at", "archived_at"):
        row[name] = _moment(of[name])
    if columns:
        parameters = {**of["parameters"], **of["logged_parameters"]}
        row["values"] = values_of(columns, parameters, of["metrics_summary"])
    return {name: row[name] for name in _ORDER}


# The order of `RunShortSerializer`, and `values` at the end.
_ORDER = (
    "id", "number", "name", "state", "workflow", "created_by", "datasets", "resources",
    "accelerator", "nodes", "launcher", "cluster", "node", "phase",
    "progress", "progress_text", "duration_s", "cpu_hours", "gpu_hours", "failure_class",
    "failure_reason", "failure", "origin", "experiment", "metrics_summary", "tags", "starred",
    "revision", "created_at", "started_at", "finished_at", "archived_at", "attempts", "values",
)  # fmt: skip


def _person(columns: dict[str, Any]) -> dict[str, str] | None:
    username = columns["created_by__username"]
    if username is None:
        return None
    return {"username": username, "full_name": columns["created_by__full_name"]}


def _input(part: dict[str, Any]) -> dict[str, Any]:
    selector, version = part["selector"], part["version__number"]
    return {
        "alias": part["alias"],
        "dataset": part["version__dataset__name"],
        "ref": f"v{version}" if version is not None else part["version__commit"][:12],
        "selector": {name: selector[name] for name in _SELECTOR if name in selector},
        "view": part["view"],
        "delivery": part["delivery"],
        "mounted_by": part["mounted_by"],
        "mount_skipped": [{"how": how, "reason": reason} for how, reason in part["mount_skipped"]],
    }


def _moment(at: datetime | None) -> str | None:
    if at is None:
        return None
    text = at.isoformat()
    return text.removesuffix(_UTC) + "Z" if text.endswith(_UTC) else text
