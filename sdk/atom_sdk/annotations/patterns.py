"""Patterns of texts, matched in time linear in the text, whatever people write.

The engine is RE2, which pyarrow carries. A pattern describes the whole text, as in HTML.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MAX_PATTERN_CHARACTERS = 500


def pattern_fault(pattern: str) -> str | None:
    """Return why RE2 does not take a pattern, None if it does."""
    import pyarrow as pa

    try:
        _matches(pattern, "")
    except pa.ArrowInvalid as error:
        return str(error).rpartition("regex: ")[2] or str(error)
    return None


@lru_cache(maxsize=4096)
def _matches(pattern: str, text: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    found: Any = pc.match_substring_regex(pa.array([text]), pattern=rf"\A(?:{pattern})\z")
    return bool(found[0].as_py())


def matches(pattern: str, text: str) -> bool:
    """Return whether the whole text fits; a pattern that RE2 does not take fits nothing."""
    import pyarrow as pa

    try:
        return _matches(pattern, text)
    except pa.ArrowInvalid:
        return False
