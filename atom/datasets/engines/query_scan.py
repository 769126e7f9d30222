"""Counts what a query matches by reading ranges in order, up to a number of rows.

The limit counts rows, not seconds: the same question gets the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from atom.datasets.engines.entry_filters import EntryFilter
from atom.datasets.engines.folder_pages import slice_of_prefix
from atom_sdk.manifests.roots import RangeRef

# About a second of work; a version of a million files is counted in part.
SCAN_ROWS = 500_000


@dataclass(frozen=True)
class EntryCount:
    """How many entries match; at least so many when the count stopped early."""

    number: int
    is_exact: bool = True


@dataclass(frozen=True)
class Scan:
    """Reads the `parts` below a prefix in order; `read` gives a range with its labels."""

    parts: Iterable[RangeRef]
    read: Callable[[RangeRef], pa.Table]
    prefix: str
    wanted: EntryFilter
    limit_rows: int = SCAN_ROWS

    def count(self) -> EntryCount:
        """Return the number of matches."""
        number = 0
        for rows in self._tables():
            if rows is None:
                return EntryCount(number, is_exact=False)
            number += len(rows)
        return EntryCount(number)

    def path_at(self, position: int) -> str | None:
        """Return the path of match number `position` from 0; None past what is counted."""
        for rows in self._tables():
            if rows is None:
                return None
            if position < len(rows):
                return str(rows["path"][position])
            position -= len(rows)
        return None

    def _tables(self) -> Iterator[pa.Table | None]:
        """Yield the matching rows of each range; None last where the limit stopped it."""
        left = self.limit_rows
        for part in self.parts:
            if not self.wanted.may_match(part):
                continue
            if left <= 0:
                yield None
                return
            left -= part.count
            rows = self.wanted.rows_of(self.read(part))
            start, end = slice_of_prefix(rows["path"].combine_chunks(), self.prefix)
            yield rows.slice(start, end - start)
