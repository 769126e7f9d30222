"""Rows of points: the lines of metrics.jsonl, which are sent as they were written if sound.

A row is {"step", "ts_ms", "values": {key: number}}. To write each point of its own again, with key
and time, took most of a runner's processor time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

# How JSON says what it has no number for; `float()` reads them.
NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_NUMBERS = frozenset({int, float})
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


@dataclass
class Taken:
    """The content of lines: rows as JSON, the newest progress, the count of unreadable lines."""

    rows: list[bytes] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    skipped: int = 0


def take(lines: Sequence[bytes]) -> Taken:
    """Read lines of metrics.jsonl."""
    found = Taken()
    parsed, as_written = _parsed(lines)
    # Python 3.8 knows no `strict`; there is a row for each line.
    for line, row in zip(lines, parsed):  # noqa: B905
        if as_written and _is_plain(row) and b"NaN" not in line and b"Infinity" not in line:
            found.rows.append(line)
        else:
            _take_row(row, found)
    return found


def _parsed(lines: Sequence[bytes]) -> tuple[list[Any], bool]:
    """Return what each line says, and whether the lines are JSON as they are."""
    try:
        # Together: half the time of one after the other.
        rows = json.loads(b"[" + b",".join(lines) + b"]")
        if len(rows) == len(lines):
            return rows, True
    except (ValueError, RecursionError):
        pass
    return [_read(line) for line in lines], False


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_plain(row: Any) -> bool:
    """Whether a row is as the SDK writes it."""
    if type(row) is not dict or "progress" in row:
        return False
    values = row.get("values")
    return (
        type(values) is dict
        and bool(values)
        and type(row.get("step")) is int
        and type(row.get("ts_ms")) is int
        and _NUMBERS.issuperset(map(type, values.values()))
    )


def _take_row(row: Any, found: Taken) -> None:
    """Take what can be read of a row, and count it where something cannot."""
    try:
        if "progress" in row:
            text = str(row.get("text", ""))[:200]
            found.progress = {"fraction": float(row["progress"]), "text": text}
            return
        step, ts_ms, values = int(row["step"]), int(row["ts_ms"]), row["values"].items()
    except _UNREADABLE:
        found.skipped += 1
        return
    numbers: dict[str, float | str] = {}
    for key, value in values:
        try:
            numbers[str(key)] = number(value)
        except _UNREADABLE:
            continue
    found.skipped += len(numbers) < len(values)
    if numbers:
        found.rows.append(json.dumps({"step": step, "ts_ms": ts_ms, "values": numbers}).encode())


def number(value: Any) -> float | str:
    """Return a finite number, or the word of NOT_FINITE for one that JSON cannot hold."""
    real = float(value)
    if math.isfinite(real):
        return real
    return "NaN" if math.isnan(real) else "Infinity" if real > 0 else "-Infinity"


def rows_of(points: Iterable[Sequence[Any]]) -> list[bytes]:
    """Return points [key, step, ts_ms, value] as rows; those of one moment come together."""
    rows: list[dict[str, Any]] = []
    for key, step, ts_ms, value in points:
        last = rows[-1] if rows else {"values": {key: value}}
        if key in last["values"] or (last["step"], last["ts_ms"]) != (step, ts_ms):
            last = {"step": step, "ts_ms": ts_ms, "values": {}}
            rows.append(last)
        last["values"][key] = value
    return [json.dumps(row).encode() for row in rows]


def points_of(rows: bytes) -> list[list[Any]]:
    """Return the points [key, step, ts_ms, value] of rows, which are JSON with commas between."""
    return [
        [key, row["step"], row["ts_ms"], value]
        for row in json.loads(b"[" + rows + b"]")
        for key, value in row["values"].items()
    ]
