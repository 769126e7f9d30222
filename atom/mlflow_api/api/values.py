"""Limits of keys and values, and the fields that several endpoints read alike."""

from __future__ import annotations

from typing import Any

from atom.core import clock
from atom.jobs.actions.metrics import PointRow
from atom.mlflow_api.engines.messages import Message
from atom.mlflow_api.errors import BadParameter
from atom.mlflow_api.search import time_of_ms

MAX_KEY = 250
MAX_PARAM = 6000
MAX_TAG = 8000
MAX_METRICS = 1000
MAX_PAIRS = 100
MAX_BATCH_BYTES = 1 << 20
# The year 5138, and more steps than any training has.
_PLAIN_MS = 10**14
_PLAIN_STEP = 1 << 53


def pairs_of(messages: list[Message], most: int, what: str) -> dict[str, str]:
    """Return keys and values. Raises BadParameter for one key with two values."""
    found: dict[str, str] = {}
    for one in messages:
        key, value = one.text("key", most=MAX_KEY), one.text("value", "", most=most)
        if found.setdefault(key, value) != value and what == "param":
            raise BadParameter(
                f"Duplicate parameter keys have been submitted: '{key}'. Please ensure the request "
                "contains only one param value per param key."
            )
        found[key] = value
    return found


def tags_of(message: Message, name: str = "tags", most: int = MAX_PAIRS) -> dict[str, str]:
    """Return the tags of a message."""
    return pairs_of(message.messages(name, most=most), MAX_TAG, "tag")


def params_of(message: Message, name: str = "params") -> dict[str, str]:
    """Return the params of a message."""
    return pairs_of(message.messages(name, most=MAX_PAIRS), MAX_PARAM, "param")


def point_of(message: Message, now_ms: int) -> PointRow:
    """Return one point; without a time it is of now."""
    ts_ms = message.whole("timestamp", now_ms)
    if time_of_ms(ts_ms) is None:
        raise BadParameter(f"Invalid value {ts_ms} for parameter 'timestamp' supplied.")
    key = message.text("key", most=MAX_KEY)
    return key, message.whole("step", 0), ts_ms, message.value("value")


def points_of(message: Message, most: int = MAX_METRICS) -> list[PointRow]:
    """Return the points of a batch."""
    points: list[PointRow] = []
    now: int | None = None
    # A thousand plain points come a hundred times a second: those are looked at without ceremony.
    # Whatever is not plain is read in full, which also says what is wrong with it.
    for at, row in enumerate(message.values("metrics")[: most + 1]):
        plain = _plain(row)
        if plain is None:
            now = now_ms() if now is None else now
            plain = point_of(Message(row, f"metrics[{at}]"), now)
        points.append(plain)
    if len(points) > most:
        message.messages("metrics", most=most)
    return points


def _plain(row: Any) -> PointRow | None:
    if type(row) is not dict:
        return None
    key, value, ts_ms, step = (
        row.get("key"),
        row.get("value"),
        row.get("timestamp"),
        row.get("step", 0),
    )
    if (
        type(key) is str
        and 0 < len(key) <= MAX_KEY
        and "\0" not in key
        and type(value) is float
        and type(ts_ms) is int
        and 0 <= ts_ms < _PLAIN_MS
        and type(step) is int
        and 0 <= step < _PLAIN_STEP
    ):
        return key, step, ts_ms, value
    return None


def now_ms() -> int:
    """Return the present time in milliseconds."""
    return int(clock.now().timestamp() * 1000)
