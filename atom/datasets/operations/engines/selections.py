"""Which paths an operation is about: files, and folders with everything below them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.browsing.engines.browse import Row
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch, watched_ranges
from atom_sdk.manifests.roots.roots import RangeRef, Root

# The character after "/" in the order of bytes: the paths of a folder end before it.
_AFTER_SLASH = "0"


@dataclass(frozen=True)
class Selection:
    """Paths as people write them: `a/b` is that file or what lies below it, `a/b/` the latter."""

    paths: tuple[str, ...]

    def mask(self, paths: pa.Array) -> pa.Array:
        """Return which of the paths, which are in order, are meant."""
        listed = paths.to_pylist()
        chosen = np.zeros(len(listed), np.bool_)
        for path in self.paths:
            for start, end in _bounds(path):
                chosen[bisect_left(listed, start) : bisect_left(listed, end)] = True
        return pa.array(chosen)

    def touches(self, part: RangeRef) -> bool:
        """Return whether a range may hold such paths."""
        bounds = (each for path in self.paths for each in _bounds(path))
        return any(part.min < end and start <= part.max for start, end in bounds)

    def part_for(self, path: str) -> str:
        """Return what was written that means the path; the first of several."""
        return next(
            text for text in self.paths if any(start <= path < end for start, end in _bounds(text))
        )


def _bounds(path: str) -> Iterator[tuple[str, str]]:
    """Half-open intervals of paths in the order of bytes."""
    folder = path.rstrip("/")
    if not folder:
        yield "", "\U0010ffff"
        return
    if not path.endswith("/"):
        yield path, path + "\0"
    yield folder + "/", folder + _AFTER_SLASH


def selected_entries(
    root: Root, selection: Selection, store: ObjectStore, watch: Watch = UNWATCHED
) -> pa.Table:
    """Return the entries that are meant, in path order; ranges without them are not read."""
    pieces = [ENTRY_SCHEMA.empty_table()]
    touched = [part for part in root.ranges if selection.touches(part)]
    for part in watched_ranges(touched, watch):
        table = read_range(part, store)
        pieces.append(table.filter(selection.mask(table["path"].combine_chunks())))
    return pa.concat_tables(pieces).combine_chunks()


def entries_at(root: Root, paths: Iterable[str], store: ObjectStore) -> dict[str, Row]:
    """Return the entries of those of the paths that are files."""
    wanted = sorted(paths)
    found: dict[str, Row] = {}
    for part in root.ranges:
        here = wanted[bisect_left(wanted, part.min) : bisect_right(wanted, part.max)]
        if here:
            table = read_range(part, store)
            mask = pc.is_in(table["path"], value_set=pa.array(here, pa.string()))
            found |= {row["path"]: row for row in table.filter(mask).to_pylist()}
    return found


def changed_between(
    old: Root, new: Root, paths: Sequence[str], store: ObjectStore
) -> tuple[list[str], list[str]]:
    """Return which of the paths are another file in the new root, and which are none there."""
    before, now = (entries_at(root, paths, store) for root in (old, new))
    gone = [path for path in paths if path not in now]
    there = (path for path in paths if path in now)
    others = [p for p in there if p not in before or before[p]["digest"] != now[p]["digest"]]
    return others, gone


def files_at(root: Root, paths: Sequence[str], store: ObjectStore) -> list[str]:
    """Return which of the paths, which are in order, are files."""
    found: list[str] = []
    for part in root.ranges:
        here = paths[bisect_left(paths, part.min) : bisect_right(paths, part.max)]
        if here:
            present = set(read_range(part, store)["path"].to_pylist())
            found += [path for path in here if path in present]
    return found
