"""Rows that are too many for memory: kept in a file, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa


class SpilledRows:
    """A table in a file: the little of a `pa.Table` that a build needs.

    Not a memory map: its pages would count as the process's own until others want the memory.
    """

    def __init__(self, path: Path, rows: int, schema: pa.Schema) -> None:
        """`path` was written by `spill_rows`; whoever owns its folder removes it."""
        self._path = path
        self._rows = rows
        self.schema = schema

    def __len__(self) -> int:
        """Number of rows."""
        return self._rows

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        """One column, whole."""
        return pa.chunked_array(self.column(column), self.schema.field(column).type)

    def column(self, name: str) -> Iterator[pa.Array]:
        """One column, piece by piece."""
        index = self.schema.get_field_index(name)
        for piece in self._read(pa.ipc.IpcReadOptions(included_fields=[index])):
            yield from piece.column(0).chunks

    def tables(self) -> Iterator[pa.Table]:
        """All rows, piece by piece."""
        return self._read(pa.ipc.IpcReadOptions())

    def _read(self, options: pa.ipc.IpcReadOptions) -> Iterator[pa.Table]:
        with pa.OSFile(str(self._path)) as file:
            reader = pa.ipc.open_file(file, options=options)
            for number in range(reader.num_record_batches):
                yield pa.Table.from_batches([reader.get_batch(number)])


def spill_rows(tables: Iterable[pa.Table], schema: pa.Schema, path: Path) -> SpilledRows:
    """Write tables to `path`. Raises OSError."""
    rows = 0
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema, options=options) as out:
        for table in tables:
            out.write_table(table)
            rows += len(table)
    return SpilledRows(path, rows, schema)
