"""Telling how far long work on versions is, and stopping it between two ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol

from atom_sdk.manifests.ranges.refs import RangeRef

# Rows of entries are compared, read or written; rows of labels and splits are merged.
Stage = Literal["comparing", "reading", "writing", "labels"]


class Watch(Protocol):
    """Told of the stages of some work; whatever it raises stops the work."""

    def begin(self, stage: Stage, total: int) -> None:
        """Begin a stage of so many rows; the stage before it is over."""

    def advance(self, rows: int) -> None:
        """Note that so many more rows of the present stage are done."""


class _Unwatched:
    """Tells nobody."""

    def begin(self, stage: Stage, total: int) -> None:
        """Ignore."""

    def advance(self, rows: int) -> None:
        """Ignore."""


UNWATCHED: Watch = _Unwatched()


def rows_of(parts: Iterable[RangeRef]) -> int:
    """Return how many rows some ranges have."""
    return sum(part.count for part in parts)


def watched_ranges(
    parts: Sequence[RangeRef], watch: Watch, stage: Stage = "reading"
) -> Iterator[RangeRef]:
    """Yield ranges as a stage of their own; each counts once the next one is asked for."""
    watch.begin(stage, rows_of(parts))
    for part in parts:
        yield part
        watch.advance(part.count)
