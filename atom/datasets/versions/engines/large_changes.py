"""Reads a changes file in pieces when it is too large for memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom.datasets.versions.engines.changes import (
    ChangesError,
    ChangesFile,
    check_changes,
    decode_changes,
)
from atom.datasets.versions.engines.spilled import PATHS, SpilledPaths, tables_of
from atom_sdk.errors import EntryOrderError
from atom_sdk.manifests.entries import ENTRY_SCHEMA, check_order
from atom_sdk.manifests.rows.path_map import PathMapFile
from atom_sdk.manifests.rows.spilled_rows import spill_rows
from atom_sdk.sentences import Sentence

# About 50 MB in memory, several times that while it is checked.
LARGE_ROWS = 200_000
_PIECE_ROWS = 1 << 16
_SAID = pa.schema([("path", pa.string()), ("value", pa.string())])
_PARQUET_MAGIC, _ARROW_MAGIC = b"PAR1", b"ARROW1"


def read_changes(path: Path, scratch: Path, large_rows: int = LARGE_ROWS) -> ChangesFile:
    """Read and check a changes file. Raises ChangesError.

    A file with more than `large_rows` rows is spilled into the folder `scratch`, if its rows come
    in path order, as those of our own clients do. Others are sorted in memory.
    """
    try:
        with ExitStack() as stack:
            pieces = _pieces(path, stack, large_rows)
            if pieces is not None:
                return _Pieces(scratch).read(pieces)
    except (EntryOrderError, pa.ArrowNotImplementedError):
        # The second: paths of a kind that cannot be compared, for example a dictionary's.
        pass
    except (pa.ArrowException, OSError) as error:
        raise ChangesError(
            Sentence(
                "datasets.neither_arrow_nor_parquet",
                "It is neither an Arrow IPC nor a Parquet file.",
            )
        ) from error
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


class _Pieces:
    """Checks the pieces one by one; what they say goes to files."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._deletes = PathMapFile(scratch / "deletes.arrow", PATHS)
        self._labels = PathMapFile(scratch / "labels.arrow", _SAID)
        self._splits = PathMapFile(scratch / "splits.arrow", _SAID)
        self._documents = PathMapFile(scratch / "documents.arrow", _SAID)

    def read(self, pieces: Iterator[pa.Table]) -> ChangesFile:
        puts = spill_rows(self._checked(pieces), ENTRY_SCHEMA, self._scratch / "puts.arrow")
        deletes = SpilledPaths(self._deletes.rows())
        labels, splits = self._labels.read(), self._splits.read()
        return ChangesFile(puts, deletes, labels, splits, self._documents.read())

    def _checked(self, pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
        previous = None
        for piece in pieces:
            if not len(piece):
                continue
            found = check_changes(piece)
            # Ascending over all pieces: so no path comes twice.
            check_order(piece, previous)
            previous = piece["path"][-1].as_py()
            self._deletes.add(pa.table([sorted(found.deletes)], schema=PATHS))
            said = (
                (found.labels, self._labels),
                (found.splits, self._splits),
                (found.documents, self._documents),
            )
            for values, file in said:
                columns = [list(values), list(values.values())]
                file.add(pa.table(columns, schema=_SAID))
            yield from tables_of(found.puts)
