"""Entries in path order that are too many for memory: kept in a file, read piece by piece."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa

from atom.datasets.versions.engines.source_runs import stream_nonempty
from atom_sdk.manifests.build import merge_entries
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.pieces import Pieces
from atom_sdk.manifests.runs import last_path
from atom_sdk.manifests.spilled_rows import SpilledRows

PATHS = pa.schema([pa.field("path", pa.string(), nullable=False)])


# In memory, or in a file.
Entries: TypeAlias = pa.Table | SpilledRows


def tables_of(entries: Entries) -> Iterator[pa.Table]:
    """The entries as tables in path order, of which one is in memory at a time."""
    if isinstance(entries, SpilledRows):
        yield from entries.tables()
    else:
        yield entries


class SpilledPaths(Collection[str]):
    """Paths in their order, in a file."""

    def __init__(self, rows: SpilledRows) -> None:
        """`rows` have the column `path`."""
        self._rows = rows

    def __len__(self) -> int:
        """Number of paths."""
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        """The paths."""
        for table in self.tables():
            yield from table["path"].to_pylist()

    def __contains__(self, path: object) -> bool:
        """Whether a path is among them; all are looked through."""
        return any(each == path for each in self)

    def tables(self) -> Iterator[pa.Table]:
        """The paths as tables."""
        return self._rows.tables()


def paths_of(paths: Collection[str]) -> Pieces:
    """Paths as pieces in their order."""
    if isinstance(paths, SpilledPaths):
        return Pieces(paths.tables(), PATHS)
    return Pieces([pa.table([pa.array(sorted(paths), pa.string())], schema=PATHS)], PATHS)


def merged(
    before: Iterable[pa.Table], puts: Entries, deletes: Collection[str]
) -> Iterator[pa.Table]:
    """Entries in path order with some put and some deleted; a put wins over a delete."""
    coming, going = Pieces(tables_of(puts), ENTRY_SCHEMA), paths_of(deletes)
    for table in before:
        last = last_path(table)
        gone = going.until(last)["path"].to_pylist()
        yield from stream_nonempty(merge_entries(table, coming.until(last), gone))
    yield from coming.rest()
