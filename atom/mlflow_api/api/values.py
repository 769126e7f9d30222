"""Limits of keys and values, and the fields that several endpoints read alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from atom.jobs.metrics.actions.metrics import PointRow
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
_KEY, _VALUE, _TIMESTAMP = map(itemgetter, ("key", "value", "timestamp"))


def tags_of(message: Message, name: str = "tags", most: int = MAX_PAIRS) -> dict[str, str]:
    """Return the tags of a message; of one key the last value stands."""
    return dict(_pair(one, MAX_TAG) for one in message.messages(name, most=most))


def params_of(message: Message, name: str = "params") -> dict[str, str]:
    """Return the params of a message. Raises BadParameter for one key twice."""
    pairs = [
        _pair(one, MAX_PARAM, "Param key", "Param value")
        for one in message.messages(name, most=MAX_PAIRS)
    ]
    counts = Counter(key for key, _ in pairs)
    if repeated := [key for key, count in counts.items() if count > 1]:
        raise BadParameter(
            f"Duplicate parameter keys have been submitted: {repeated}. Please ensure the request "
            "contains only one param value per param key."
        )
    return dict(pairs)


def _pair(one: Message, most: int, key: str = "", value: str = "") -> tuple[str, str]:
    named = one.text("key", most=MAX_KEY, title=key)
    return named, one.text("value", "", most=most, title=value)


def point_of(message: Message) -> PointRow:
    """Return one point."""
    ts_ms = message.whole("timestamp")
    key = message.text("key", most=MAX_KEY, title="Metric name")
    value = message.value("value")
    if ts_ms < 0 or time_of_ms(ts_ms) is None:
        raise BadParameter(
            f"Invalid value {ts_ms} for parameter 'timestamp' supplied: metric '{key}' "
            f"(value={value}). Timestamp must be a nonnegative long (64-bit integer) "
        )
    return key, message.whole("step", 0), ts_ms, value


def points_of(message: Message, most: int = MAX_METRICS) -> list[PointRow]:
    """Return the points of a batch."""
    rows = message.values("metrics")
    # A thousand plain points come a hundred times a second: those are looked at all together.
    # Where one is not plain each is read in full, which also says what is wrong with it.
    if len(rows) <= most and (plain := _plain(rows)) is not None:
        return plain
    return [point_of(one) for one in message.messages("metrics", most=most)]


def _plain(rows: Sequence[Any]) -> list[PointRow] | None:
    """Return the points if all are as MLflow's client writes them, else None."""
    if set(map(type, rows)) != {dict}:
        return None
    try:
        keys = list(map(_KEY, rows))
        values = list(map(_VALUE, rows))
        times_ms = list(map(_TIMESTAMP, rows))
    except KeyError:
        return None
    steps = [row.get("step", 0) for row in rows]
    columns = (keys, str), (values, float), (times_ms, int), (steps, int)
    if any(set(map(type, column)) != {kind} for column, kind in columns):
        return None
    if not 0 <= min(times_ms) <= max(times_ms) < _PLAIN_MS:
        return None
    if not 0 <= min(steps) <= max(steps) < _PLAIN_STEP:
        return None
    if not all(0 < len(key) <= MAX_KEY and "\0" not in key for key in set(keys)):
        return None
    return list(zip(keys, steps, times_ms, values, strict=True))
