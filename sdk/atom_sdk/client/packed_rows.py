"""The rows of a push's changes: kept in a file as packs are sent, read again in path order.

Packs do not follow each other in path order: a large file has its own, and so has each split.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from atom_sdk.client.media_types import media_type_of
from atom_sdk.client.packing import scratch_folder
from atom_sdk.client.sending import CHANGES_SCHEMA
from atom_sdk.manifests.runs import Run, by_path
from atom_sdk.packs.writer import PackSummary


class PackedRows:
    """Batches of rows of CHANGES_SCHEMA, each in path order, in a file of the caller's folder."""

    def __init__(self, path: Path) -> None:
        """`path` is written as rows come."""
        self._path = path
        self._firsts: list[str] = []
        self._sink = pa.OSFile(str(path), "wb")
        self._out: pa.ipc.RecordBatchFileWriter | None = None
        self._out = pa.ipc.new_file(self._sink, CHANGES_SCHEMA)

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep the rows of one pack. Raises OSError."""
        if self._out is None:
            raise ValueError("the rows were read already")
        self._out.write_batch(batch)
        self._firsts.append(batch["path"][0].as_py())

    def close(self) -> None:
        """End the file: no more rows come."""
        if self._out is not None:
            self._out.close()
            self._out = None
            self._sink.close()

    def runs(self) -> list[Run]:
        """What was kept; nothing can be added any more."""
        self.close()
        return [Run(first, self._reader(number)) for number, first in enumerate(self._firsts)]

    def digests(self) -> Iterator[tuple[str, bytes]]:
        """Path and digest of every row, in path order."""
        for table in in_path_order(self.runs()):
            yield from zip(table["path"].to_pylist(), table["digest"].to_pylist(), strict=True)

    def _reader(self, number: int) -> Callable[[], pa.Table]:
        def read() -> pa.Table:
            # Not mapped: the pages of a map would count as this process's memory.
            with pa.OSFile(str(self._path)) as file:
                batch = pa.ipc.open_file(file).get_batch(number)
                return pa.Table.from_batches([batch])

        return read


@contextmanager
def packed_rows() -> Iterator[PackedRows]:
    """Rows that are kept until the block ends."""
    with tempfile.TemporaryDirectory(dir=scratch_folder(), prefix="rows-") as folder:
        rows = PackedRows(Path(folder) / "rows.arrow")
        try:
            yield rows
        finally:
            rows.close()


def rows_of(summary: PackSummary) -> pa.RecordBatch:
    """The rows of the files of a pack."""
    return batch_of(
        [
            ("put", m.path, m.size, m.digest, media_type_of(m.path), None, summary.digest, m.offset)
            for m in summary.members
        ]
    )


def batch_of(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of CHANGES_SCHEMA."""
    columns = list(zip(*rows, strict=True)) or [()] * len(CHANGES_SCHEMA)
    arrays = [pa.array(column, f.type) for column, f in zip(columns, CHANGES_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=CHANGES_SCHEMA)


def run_of(table: pa.Table) -> list[Run]:
    """The run of a table in any order, none if it has no rows."""
    if not len(table):
        return []
    ordered = table.sort_by("path").combine_chunks()
    return [Run(ordered["path"][0].as_py(), lambda: ordered)]


def in_path_order(runs: Iterable[Run]) -> Iterator[pa.Table]:
    """All rows in path order, as tables; only runs that overlap are in memory together."""
    for due in by_path(runs):
        yield due.sort_by("path").combine_chunks()
