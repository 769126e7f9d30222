"""The list of runs by `.values()`, as dictionaries or as structs of msgspec."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F

from atom.core import clock
from atom.core.prepared_queries import AnyOf
from atom.jobs import states
from atom.jobs.failures.engines.remedies import remedies_of
from atom.jobs.models import Attempt, Run, RunInput
from atom_sdk.runner.metric_rows import number

try:
    import msgspec
except ImportError:
    msgspec = None

_COLUMNS = (
    *("id", "number", "name", "state", "progress", "progress_text", "failure_class"),
    *("failure_reason", "origin", "metrics_summary", "tags", "starred", "revision"),
    *("created_at", "started_at", "finished_at", "archived_at", "cpus", "memory_bytes", "gpus"),
)
_INPUTS = ("run_id", "alias", "selector", "view", "delivery", "mounted_by", "mount_skipped")
_ATTEMPTS = ("run_id", "started_at", "finished_at", "evidence", "node__name")


def read(ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    """Return the columns of runs and of their parts, by id."""
    rows = Run.objects.filter(AnyOf("pk", ids)).values(
        *_COLUMNS,
        slug=F("workflow__slug"),
        group=F("experiment__name"),
        username=F("created_by__username"),
        full_name=F("created_by__full_name"),
    )
    inputs: dict[UUID, list[Any]] = defaultdict(list)
    for part in (
        RunInput.objects.filter(AnyOf("run_id", ids))
        .order_by("alias")
        .values(*_INPUTS, n=F("version__number"), dataset=F("version__dataset__name"))
    ):
        inputs[part["run_id"]].append(part)
    attempts: dict[UUID, list[Any]] = defaultdict(list)
    for part in Attempt.objects.filter(AnyOf("run_id", ids)).order_by("number").values(*_ATTEMPTS):
        attempts[part["run_id"]].append(part)
    return {
        row["id"]: {**row, "inputs": inputs[row["id"]], "attempts": attempts[row["id"]]}
        for row in rows
    }


def dicts(page: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as the framework's serializer makes them."""
    now = clock.now()
    return [_row(run, now) for run in page]


def _row(run: dict[str, Any], now: datetime) -> dict[str, Any]:
    attempts = run["attempts"]
    last = attempts[-1] if attempts else None
    ran_s = _ran_s(attempts, now)
    hours_s = ran_s if run["origin"] == states.EXECUTED else None
    return {
        "id": str(run["id"]),
        "number": run["number"],
        "name": run["name"],
        "state": run["state"],
        "workflow": run["slug"],
        "created_by": None
        if run["username"] is None
        else {"username": run["username"], "full_name": run["full_name"]},
        "datasets": [_input(part) for part in run["inputs"]],
        "resources": {
            "cpus": run["cpus"],
            "memory_bytes": run["memory_bytes"],
            "gpus": run["gpus"],
        },
        "node": last and last["node__name"],
        "progress": run["progress"],
        "progress_text": run["progress_text"],
        "duration_s": ran_s,
        "cpu_hours": None if hours_s is None else round(hours_s * run["cpus"] / 3600, 4),
        "gpu_hours": None if hours_s is None else round(hours_s * run["gpus"] / 3600, 4),
        "failure_class": run["failure_class"] or None,
        "failure_reason": run["failure_reason"] or None,
        "failure": _failure(run, last),
        "origin": run["origin"],
        "experiment": run["group"] or "",
        "metrics_summary": {name: number(value) for name, value in run["metrics_summary"].items()},
        "tags": run["tags"],
        "starred": run["starred"],
        "revision": run["revision"],
        "created_at": _moment(run["created_at"]),
        "started_at": _moment(run["started_at"]),
        "finished_at": _moment(run["finished_at"]),
        "archived_at": _moment(run["archived_at"]),
        "attempts": len(attempts),
        "values": {},
    }


def _input(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "alias": part["alias"],
        "dataset": part["dataset"],
        "ref": f"v{part['n']}",
        "selector": part["selector"],
        "view": part["view"],
        "delivery": part["delivery"],
        "mounted_by": part["mounted_by"],
        "mount_skipped": [{"how": how, "reason": reason} for how, reason in part["mount_skipped"]],
    }


def _failure(run: dict[str, Any], last: dict[str, Any] | None) -> dict[str, Any] | None:
    failure = last["evidence"].get("failure") if run["failure_class"] and last else None
    if not isinstance(failure, dict):
        return None
    return {**failure, "remedies": remedies_of(str(failure.get("code")), failure.get("params"))}


def _ran_s(attempts: list[dict[str, Any]], now: datetime) -> float | None:
    ran = [
        (one["finished_at"] or now) - one["started_at"]
        for one in attempts
        if one["started_at"] is not None
    ]
    return round(max(0.0, sum(ran, timedelta()).total_seconds()), 3) if ran else None


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")


if msgspec is not None:

    class Person(msgspec.Struct):
        """The person who started a run."""

        username: str
        full_name: str

    class Input(msgspec.Struct):
        """A version that a run reads."""

        alias: str
        dataset: str
        ref: str
        selector: dict[str, Any]
        view: str
        delivery: str
        mounted_by: str
        mount_skipped: list[dict[str, str]]

    class Resources(msgspec.Struct):
        """The resources of a run."""

        cpus: int
        memory_bytes: int
        gpus: int

    class Row(msgspec.Struct):
        """A row of the list."""

        id: UUID
        number: int
        name: str
        state: str
        workflow: str | None
        created_by: Person | None
        datasets: list[Input]
        resources: Resources
        node: str | None
        progress: float | None
        progress_text: str
        duration_s: float | None
        cpu_hours: float | None
        gpu_hours: float | None
        failure_class: str | None
        failure_reason: str | None
        failure: dict[str, Any] | None
        origin: str
        experiment: str
        # Python's text of a number: msgspec writes some exponents in another way.
        metrics_summary: msgspec.Raw
        tags: list[str]
        starred: bool
        revision: int
        created_at: datetime
        started_at: datetime | None
        finished_at: datetime | None
        archived_at: datetime | None
        attempts: int
        values: dict[str, Any]


def structs(page: list[dict[str, Any]]) -> list[Any]:
    """Return rows as structs."""
    now = clock.now()
    return [_struct(run, now) for run in page]


def _struct(run: dict[str, Any], now: datetime) -> Any:
    attempts = run["attempts"]
    last = attempts[-1] if attempts else None
    ran_s = _ran_s(attempts, now)
    hours_s = ran_s if run["origin"] == states.EXECUTED else None
    metrics = {name: number(value) for name, value in run["metrics_summary"].items()}
    return Row(
        run["id"],
        run["number"],
        run["name"],
        run["state"],
        run["slug"],
        None if run["username"] is None else Person(run["username"], run["full_name"]),
        [
            Input(
                part["alias"],
                part["dataset"],
                f"v{part['n']}",
                part["selector"],
                part["view"],
                part["delivery"],
                part["mounted_by"],
                [{"how": how, "reason": reason} for how, reason in part["mount_skipped"]],
            )
            for part in run["inputs"]
        ],
        Resources(run["cpus"], run["memory_bytes"], run["gpus"]),
        last and last["node__name"],
        run["progress"],
        run["progress_text"],
        ran_s,
        None if hours_s is None else round(hours_s * run["cpus"] / 3600, 4),
        None if hours_s is None else round(hours_s * run["gpus"] / 3600, 4),
        run["failure_class"] or None,
        run["failure_reason"] or None,
        _failure(run, last),
        run["origin"],
        run["group"] or "",
        msgspec.Raw(json.dumps(metrics, ensure_ascii=False, separators=(",", ":")).encode()),
        run["tags"],
        run["starred"],
        run["revision"],
        run["created_at"],
        run["started_at"],
        run["finished_at"],
        run["archived_at"],
        len(attempts),
        {},
    )


def render(
    _: Any, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
) -> bytes:
    """Return the answer's bytes, in place of the framework's renderer."""
    return bytes(msgspec.json.encode(data))
