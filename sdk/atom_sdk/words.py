"""Words for people that depend on a number."""

from __future__ import annotations


def counted(count: float, noun: str, plural: str = "") -> str:
    """Return `1 pack` or `3 packs`; `plural` is for words whose plural is not just an s."""
    number = f"{count:g}" if isinstance(count, float) else str(count)
    return f"{number} {noun if count == 1 else plural or f'{noun}s'}"
