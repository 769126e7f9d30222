"""Values of a stranger's JSON, cut to what the database can hold."""

from __future__ import annotations

from typing import Any

_MAX_TEXT = 4096
_MAX_ITEMS = 100
_MAX_DEPTH = 12
_MAX_NUMBER = 1 << 63


def storable(value: Any) -> Any:
    """Return a JSON value without the texts and numbers that PostgreSQL's jsonb refuses.

    NUL and lone surrogates become "?". Numbers beyond 64 bits and what is nested too deeply become
    None. Texts keep 4,096 characters, lists and maps 100 items.
    """
    return _storable(value, _MAX_DEPTH)


def _storable(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        # False for NaN too.
        return value if abs(value) < _MAX_NUMBER else None
    if depth and isinstance(value, dict):
        pairs = list(value.items())[:_MAX_ITEMS]
        return {_text(str(key)): _storable(item, depth - 1) for key, item in pairs}
    if depth and isinstance(value, list):
        return [_storable(item, depth - 1) for item in value[:_MAX_ITEMS]]
    return None


def _text(value: str) -> str:
    text = value[:_MAX_TEXT]
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "?").encode("utf-8", "replace").decode()
