"""The rows of a push's changes: kept in a file as they are found, read again in path order.

Packs do not follow each other in path order: a large file has its own, and so has each split.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.client.push.changes_file import CHANGES_SCHEMA
from atom_sdk.client.push.scan import Parent, Scan
from atom_sdk.client.push.scratch_packs import scratch_folder
from atom_sdk.client.push.stored_contents import Known
from atom_sdk.manifests.links import link_entry
from atom_sdk.manifests.rows.runs import Run, by_path
from atom_sdk.media_types import media_type_of
from atom_sdk.packs.writer import PackSummary

_ROWS_AT_ONCE = 4096


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

    def add_all(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Keep rows that come in path order. Raises OSError."""
        stream = iter(rows)
        while some := list(islice(stream, _ROWS_AT_ONCE)):
            self.add(batch_of(some))

    def close(self) -> None:
        """End the file: no more rows come."""
        if self._out is not None:
            self._out.close()
            self._out = None
            self._sink.close()

    def runs(self) -> list[Run]:
        """The runs that were kept; nothing can be added any more."""
        self.close()
        return [Run(first, self._reader(number)) for number, first in enumerate(self._firsts)]

    def digests(self) -> Iterator[tuple[str, bytes]]:
        """Path and digest of every file that is put, in path order."""
        for table in in_path_order(self.runs()):
            put = table.filter(pc.equal(table["op"], "put"))
            yield from zip(put["path"].to_pylist(), put["digest"].to_pylist(), strict=True)

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
            put_row(m.path, m.digest, Known(summary.digest, m.offset, m.size))
            for m in summary.members
        ]
    )


def batch_of(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of CHANGES_SCHEMA."""
    columns = list(zip(*rows, strict=True)) or [()] * len(CHANGES_SCHEMA)
    arrays = [pa.array(column, f.type) for column, f in zip(columns, CHANGES_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=CHANGES_SCHEMA)


def in_path_order(runs: Iterable[Run]) -> Iterator[pa.Table]:
    """All rows in path order, as tables; only runs that overlap are in memory together."""
    for due in by_path(runs):
        yield due.sort_by("path").combine_chunks()


def add_unpacked(packed: PackedRows, scan: Scan, parent: Parent, renewed: Iterable[str]) -> None:
    """Keep the rows of what is not sent: contents that the parent has, and paths that are gone.

    `renewed`, sorted, are put again as they are. Raises OSError.
    """
    reused = ((file.path, digest) for file, digest in scan.reused)
    again = ((path, parent.digests[path]) for path in renewed)
    for known in (reused, again):
        packed.add_all(put_row(path, digest, parent.stored[digest]) for path, digest in known)
    packed.add_all(("delete", path, *([None] * 7)) for path in scan.removed)


def put_row(path: str, digest: bytes, known: Known) -> tuple[Any, ...]:
    """The row of a file."""
    place = known.pack, known.offset
    return "put", path, known.size, digest, media_type_of(path), None, *place, None


def link_row(path: str, target: str) -> tuple[Any, ...]:
    """The row of a link."""
    link = link_entry(path, target)
    return "put", path, link.size, link.digest, link.media_type, None, None, None, target
