"""Rows of very many pictures in path order, in a file that is mapped: memory stays flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from atom_sdk.annotations.layer import PictureRow, objects_schema, row_batches

_ROWS_AT_ONCE = 1024


def write_sorted_rows(rows: Iterable[PictureRow], path: Path) -> int:
    """Write rows in path order to an Arrow file, and return how many they are.

    A file beside it holds them meanwhile. Raises DocumentError, OSError.
    """
    unsorted = path.with_name(f"{path.name}.unsorted")
    places = _write(row_batches(rows), unsorted)
    order = sorted(range(len(places)), key=lambda number: places[number])
    if order == list(range(len(places))):
        unsorted.rename(path)
        return len(places)
    with pa.memory_map(str(unsorted)) as source:
        _write(_in_order(pa.ipc.open_file(source), np.array(order, np.int64)), path)
    unsorted.unlink()
    return len(places)


def mapped_rows(path: Path) -> pa.Table:
    """Return the rows of such a file; the system reads them when they are looked at."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _write(batches: Iterable[pa.RecordBatch], path: Path) -> list[bytes]:
    """Write batches and return the paths of their rows as they are sorted."""
    places: list[bytes] = []
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, objects_schema()) as out:
        for batch in batches:
            places += [name.encode() for name in batch.column("path").to_pylist()]
            out.write_batch(batch)
    return places


def _in_order(
    file: pa.ipc.RecordBatchFileReader, order: NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    sizes = [file.get_batch(number).num_rows for number in range(file.num_record_batches)]
    ends = np.cumsum(sizes)
    for start in range(0, len(order), _ROWS_AT_ONCE):
        rows = order[start : start + _ROWS_AT_ONCE]
        homes = np.searchsorted(ends, rows, "right")
        parts = []
        for home in np.unique(homes):
            first = ends[home] - sizes[home]
            parts.append(file.get_batch(int(home)).take(pa.array(rows[homes == home] - first)))
        table = pa.Table.from_batches(parts).sort_by("path").combine_chunks()
        yield from table.to_batches()
