"""Entries in path order that are too many for memory: kept in a file, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from atom.datasets.engines.source_runs import Cutter, stream_nonempty
from atom_sdk.manifests.build import merge_entries
from atom_sdk.manifests.entries import ENTRY_SCHEMA


class SpilledEntries:
    """A table of entries in a file: the little of a `pa.Table` that a build needs.

    Not a memory map: its pages would count as the process's own until others want the memory.
    """

    def __init__(self, path: Path, rows: int) -> None:
        """`path` was written by `spill`; whoever owns its folder removes it."""
        self._path = path
        self._rows = rows

    def __len__(self) -> int:
        """Number of entries."""
        return self._rows

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        """One column, whole."""
        index = ENTRY_SCHEMA.get_field_index(column)
        pieces = [
            piece.column(0) for piece in self._read(pa.ipc.IpcReadOptions(included_fields=[index]))
        ]
        chunks = [chunk for piece in pieces for chunk in piece.chunks]
        return pa.chunked_array(chunks, ENTRY_SCHEMA.field(index).type)

    def tables(self) -> Iterator[pa.Table]:
        """All entries, piece by piece."""
        return self._read(pa.ipc.IpcReadOptions())

    def _read(self, options: pa.ipc.IpcReadOptions) -> Iterator[pa.Table]:
        with pa.OSFile(str(self._path)) as file:
            reader = pa.ipc.open_file(file, options=options)
            for number in range(reader.num_record_batches):
                yield pa.Table.from_batches([reader.get_batch(number)])


# In memory, or in a file.
Entries: TypeAlias = pa.Table | SpilledEntries


def spill(tables: Iterable[pa.Table], path: Path) -> SpilledEntries:
    """Write tables of entries, which come in path order, to `path`."""
    rows = 0
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, ENTRY_SCHEMA, options=options) as out,
    ):
        for table in tables:
            out.write_table(table)
            rows += len(table)
    return SpilledEntries(path, rows)


def tables_of(entries: Entries) -> Iterator[pa.Table]:
    """The entries as tables in path order, of which one is in memory at a time."""
    if isinstance(entries, SpilledEntries):
        yield from entries.tables()
    else:
        yield entries


def merged(
    before: Iterable[pa.Table], puts: Entries, deletes: frozenset[str]
) -> Iterator[pa.Table]:
    """Entries in path order with some put and some deleted; a put wins over a delete."""
    coming = Cutter(tables_of(puts))
    for table in before:
        paths = table["path"].to_pylist()
        gone = [path for path in paths if path in deletes] if deletes else []
        yield from stream_nonempty(merge_entries(table, coming.until(paths[-1]), gone))
    yield from coming.rest()
