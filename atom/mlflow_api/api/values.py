"""Limits of keys and values, and the fields that several endpoints read alike."""

from __future__ import annotations

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


def now_ms() -> int:
    """Return the present time in milliseconds."""
    return int(clock.now().timestamp() * 1000)
