"""Evidence of a failed command for people: the last lines and the last traceback."""

from __future__ import annotations

import math
import re
from typing import Any

from . import out_of_memory
from .utf8 import without_cut_beginning

TAIL_LINES = 50
TAIL_BYTES = 8 * 1024
TRACEBACK_BYTES = 16 * 1024
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def tail(text: bytes) -> str:
    """Return the last lines of a log as text, redraws and colours removed."""
    clean = _clean(text[-4 * TAIL_BYTES :])
    return "\n".join(clean.rstrip("\n").split("\n")[-TAIL_LINES:])[-TAIL_BYTES:]


def traceback(stderr: bytes) -> str:
    """Return the last Python traceback with its error, chained ones included; "" without any."""
    text = _clean(stderr)
    starts = [match.start() for match in _TRACEBACK.finditer(text)]
    if not starts:
        return ""
    first = starts[-1]
    for start in reversed(starts[:-1]):
        if not _is_chained(text[start:first]):
            break
        first = start
    return _until_error_ends(text[first:], starts[-1] - first)[:TRACEBACK_BYTES]


def ran_out_of_memory(stderr: bytes) -> bool:
    """Tell whether the last error is one of memory."""
    last = traceback(stderr) or _clean(stderr[-2048:])
    return out_of_memory.is_of_host(last)


def describe(log_tail: bytes, stderr: bytes, message: str, **numbers: int) -> dict[str, Any]:
    """Return the evidence of an exit report."""
    return {
        "tail": tail(log_tail),
        "traceback": traceback(stderr),
        "message": message,
        **numbers,
    }


def storable(value: Any) -> Any:
    """Return the value with a mark in place of what no database takes: a command may print it.

    That is NUL and half of a character in text, at any depth, and numbers that are none.
    """
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(key): storable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _clean(text: bytes) -> str:
    decoded = without_cut_beginning(text).decode("utf-8", "replace")
    plain = _ANSI.sub("", storable(decoded)).replace("\r\n", "\n")
    return "\n".join(line.rsplit("\r", 1)[-1] for line in plain.split("\n"))


def _is_chained(between: str) -> bool:
    return (
        "During handling of the above exception" in between
        or "direct cause of the following exception" in between
    )


def _until_error_ends(text: str, last_start: int) -> str:
    """Cut after the error's own lines: the first line that is not indented ends the frames."""
    lines = text[last_start:].split("\n")
    end = next((i for i, line in enumerate(lines[1:], 1) if line and not line.startswith(" ")), 0)
    while end + 1 < len(lines) and lines[end + 1] and not lines[end + 1].startswith("[atom]"):
        end += 1
    return text[:last_start] + "\n".join(lines[: end + 1])
