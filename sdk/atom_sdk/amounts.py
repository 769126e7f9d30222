"""Words for people that say an amount."""

from __future__ import annotations

from collections.abc import Sequence

from atom_sdk.sentences import Sentence

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def counted(count: float, noun: str, plural: str = "") -> str:
    """Return `1 pack` or `3 packs`; `plural` is for words whose plural is not just an s."""
    number = f"{count:g}" if isinstance(count, float) else str(count)
    return f"{number} {noun if count == 1 else plural or f'{noun}s'}"


def entries_text(files: int, links: int) -> str:
    """Return `3 files`, or `3 files, 9 links` where there are some."""
    return counted(files, "file") + (f", {counted(links, 'link')}" if links else "")


def first_named(names: Sequence[str], most: int = 3, total: int | None = None) -> str:
    """Return `a, b, c and 4 more`; `total` is how many there are if `names` are the first only."""
    first = ", ".join(names[:most])
    more = (len(names) if total is None else total) - len(names[:most])
    if more <= 0:
        return first
    return Sentence("core.names_and_more", "{names} and {count} more", names=first, count=more)


def size_text(size_bytes: float) -> str:
    """Return `1.5 MiB`."""
    unit = 0
    while size_bytes >= 1024 and unit < len(_UNITS) - 1:
        size_bytes, unit = size_bytes / 1024, unit + 1
    return f"{size_bytes:.0f} B" if unit == 0 else f"{size_bytes:.1f} {_UNITS[unit]}"
