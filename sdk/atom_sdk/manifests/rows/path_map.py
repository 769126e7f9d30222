"""Values by path, too many for memory: kept in a file in path order, one batch of which is open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from atom_sdk.manifests.rows.spilled_rows import SpilledRows

V = TypeVar("V")


class PathMap(Mapping[str, V]):
    """An Arrow file with a column `path`, ascending, as a mapping.

    A value is that of the other column, or a tuple where there are several. Asking in path order
    reads the file once. Not for several threads at once.
    """

    def __init__(self, path: Path, firsts: list[str] | None = None) -> None:
        """`firsts` are the first paths of the batches, which are looked up if they are not given.

        Raises OSError, pa.ArrowInvalid. The file may be removed or replaced afterwards.
        """
        self._source = pa.OSFile(str(path))
        self._batches = pa.ipc.open_file(self._source)
        self._firsts = self._look_up_firsts() if firsts is None else firsts
        self._length: int | None = None
        self._open: dict[str, V] = {}
        self._number = -1
        # Paths from the first bound to before the second are in the open batch, if anywhere.
        self._bounds: tuple[str, str | None] = ("", "")

    def _look_up_firsts(self) -> list[str]:
        options = pa.ipc.IpcReadOptions(included_fields=[0])
        paths = pa.ipc.open_file(self._source, options=options)
        batches = map(paths.get_batch, range(paths.num_record_batches))
        return [batch.column(0)[0].as_py() for batch in batches]

    def __getitem__(self, path: str) -> V:
        """The value of a path. Raises KeyError."""
        low, high = self._bounds
        if path < low or (high is not None and path >= high):
            self._turn_to(bisect_right(self._firsts, path) - 1)
        return self._open[path]

    def __iter__(self) -> Iterator[str]:
        """All paths, ascending."""
        for number in range(len(self._firsts)):
            yield from self._batches.get_batch(number).column("path").to_pylist()

    def __len__(self) -> int:
        """Number of paths."""
        if self._length is None:
            numbers = range(len(self._firsts))
            self._length = sum(self._batches.get_batch(number).num_rows for number in numbers)
        return self._length

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._firsts)

    def _turn_to(self, number: int) -> None:
        if number != self._number:
            self._number = number
            self._open = self._read(number) if number >= 0 else {}
        after = self._firsts[number + 1 : number + 2]
        self._bounds = self._firsts[number] if number >= 0 else "", after[0] if after else None

    def _read(self, number: int) -> dict[str, V]:
        paths, *values = (c.to_pylist() for c in self._batches.get_batch(number).columns)
        rows: Any = values[0] if len(values) == 1 else zip(*values, strict=True)
        return dict(zip(paths, rows, strict=True))


class PathMapFile:
    """Writes the file of a `PathMap`."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """`schema` has the path first."""
        self._path = path
        self._schema = schema
        self._firsts: list[str] = []
        self._count = 0
        self._sink = pa.OSFile(str(path), "wb")
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._out = pa.ipc.new_file(self._sink, schema, options=options)

    def add(self, table: pa.Table) -> None:
        """Keep rows, whose paths follow those that were added before. Raises OSError."""
        if len(table):
            rows = table.select(self._schema.names).cast(self._schema).combine_chunks()
            self._firsts.append(rows["path"][0].as_py())
            self._count += len(rows)
            self._out.write_batch(rows.to_batches()[0])

    def read(self) -> PathMap[Any]:
        """End the file, and return what it holds."""
        self._close()
        return PathMap(self._path, self._firsts)

    def rows(self) -> SpilledRows:
        """End the file, and return its rows."""
        self._close()
        return SpilledRows(self._path, self._count, self._schema)

    def _close(self) -> None:
        self._out.close()
        self._sink.close()
