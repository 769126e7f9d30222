"""Counts what a query matches by reading ranges in order, up to a number of rows.

The limit counts rows, not seconds: the same question gets the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import slice_of_prefix
from atom_sdk.manifests.roots.roots import RangeRef

# A second or two of work the first time; a version of more files is counted in part.
SCAN_ROWS = 2_000_000


@dataclass(frozen=True)
class EntryCount:
    """How many entries match: all, or only those before the path where counting stopped."""

    number: int
    stopped_at: str | None = None


@dataclass(frozen=True)
class Scan:
    """Looks at the `parts` below a prefix in order.

    `matching` gives the numbers of the rows of a range that pass, `paths` all paths of a range.
    """

    parts: Iterable[RangeRef]
    matching: Callable[[RangeRef], pa.Array]
    paths: Callable[[RangeRef], pa.Array]
    prefix: str
    entry_filter: EntryFilter
    limit_rows: int = SCAN_ROWS

    def count(self) -> EntryCount:
        """Return the number of matches."""
        number = 0
        for part, rows in self._matches():
            if rows is None:
                return EntryCount(number, max(part.min, self.prefix))
            number += len(rows)
        return EntryCount(number)

    def path_at(self, position: int) -> str | None:
        """Return the path of match number `position` from 0; None past what is counted."""
        for part, rows in self._matches():
            if rows is None:
                return None
            if position < len(rows):
                return str(self.paths(part)[rows[position].as_py()])
            position -= len(rows)
        return None

    def _matches(self) -> Iterator[tuple[RangeRef, pa.Array | None]]:
        """Yield each range with the numbers of its matches; None for the first past the limit."""
        left = self.limit_rows
        for part in self.parts:
            if not self.entry_filter.may_match(part):
                continue
            if left <= 0:
                yield part, None
                return
            left -= part.count
            rows = self.matching(part)
            is_below = part.min.startswith(self.prefix) and part.max.startswith(self.prefix)
            if len(rows) and not is_below:
                start, end = slice_of_prefix(self.paths(part).take(rows), self.prefix)
                rows = rows.slice(start, end - start)
            yield part, rows
