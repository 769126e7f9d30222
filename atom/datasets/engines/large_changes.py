"""Reads a changes file in pieces when it is too large for memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom.datasets.engines.changes import (
    ChangesError,
    ChangesFile,
    check_changes,
    decode_changes,
)
from atom.datasets.engines.spilled import spill, tables_of
from atom_sdk.errors import EntryOrderError
from atom_sdk.manifests.entries import check_order

# About 50 MB in memory, several times that while it is checked.
LARGE_ROWS = 200_000
_PIECE_ROWS = 1 << 16
_PARQUET_MAGIC, _ARROW_MAGIC = b"PAR1", b"ARROW1"


def read_changes(path: Path, scratch: Path, large_rows: int = LARGE_ROWS) -> ChangesFile:
    """Read and check a changes file. Raises ChangesError.

    The entries of one with more than `large_rows` rows are kept in the folder `scratch`, if its
    rows come in path order, as those of our own clients do. Others are sorted in memory.
    """
    try:
        with ExitStack() as stack:
            pieces = _pieces(path, stack, large_rows)
            if pieces is not None:
                return _Pieces().read(pieces, scratch)
    except (EntryOrderError, pa.ArrowNotImplementedError):
        # The second: paths of a kind that cannot be compared, for example a dictionary's.
        pass
    except (pa.ArrowException, OSError) as error:
        raise ChangesError("It is neither an Arrow IPC nor a Parquet file.") from error
    return decode_changes(path.read_bytes())


def _pieces(path: Path, stack: ExitStack, large_rows: int) -> Iterator[pa.Table] | None:
    """Open the file; None if it is small, or a stream, which does not say how long it is."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic[:4] == _PARQUET_MAGIC:
        parquet = stack.enter_context(pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False))
        if parquet.metadata.num_rows > large_rows:
            return map(_table, parquet.iter_batches(_PIECE_ROWS))
    elif magic == _ARROW_MAGIC:
        arrow = pa.ipc.open_file(stack.enter_context(pa.OSFile(str(path))))
        if arrow.num_record_batches > 1 and sum(_rows(arrow)) > large_rows:
            return (_table(arrow.get_batch(n)) for n in range(arrow.num_record_batches))
    return None


def _rows(file: pa.ipc.RecordBatchFileReader) -> Iterator[int]:
    return (file.get_batch(number).num_rows for number in range(file.num_record_batches))


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


@dataclass
class _Pieces:
    """What is gathered from the pieces beside their entries."""

    deletes: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)

    def read(self, pieces: Iterator[pa.Table], scratch: Path) -> ChangesFile:
        puts = spill(self._checked(pieces), scratch / "puts.arrow")
        return ChangesFile(puts, frozenset(self.deletes), self.labels, self.splits)

    def _checked(self, pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
        previous = None
        for piece in pieces:
            if not len(piece):
                continue
            found = check_changes(piece)
            # Ascending over all pieces: so no path comes twice.
            check_order(piece, previous)
            previous = piece["path"][-1].as_py()
            self.deletes |= found.deletes
            self.labels.update(found.labels)
            self.splits.update(found.splits)
            yield from tables_of(found.puts)
