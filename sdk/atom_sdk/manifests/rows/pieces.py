"""Streams of tables in path order, cut at the same paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.rows.runs import last_path


class Pieces:
    """Gives out a stream of tables in path order up to a path at a time."""

    def __init__(self, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
        """Nothing is taken from `tables`, which have the columns of the schema, yet."""
        self._tables = iter(tables)
        self._schema = schema
        self._open: pa.Table | None = None

    def next(self) -> pa.Table | None:
        """The table that comes next, which has rows; None at the end."""
        while self._open is None or not len(self._open):
            self._open = next(self._tables, None)
            if self._open is None:
                return None
        return self._open

    def until(self, path: str) -> pa.Table:
        """Return what comes up to and including `path`."""
        taken = [self._schema.empty_table()]
        while (table := self.next()) is not None:
            count = pc.sum(pc.less_equal(table["path"], path)).as_py()
            taken.append(table.slice(0, count))
            self._open = table.slice(count)
            if count < len(table):
                break
        return pa.concat_tables(taken).combine_chunks()

    def rest(self) -> Iterator[pa.Table]:
        """Yield what is left."""
        while (table := self.next()) is not None:
            self._open = None
            yield table


def aligned(*streams: Pieces) -> Iterator[tuple[pa.Table, ...]]:
    """Yield what the streams have up to some path, and then what they have after it.

    At most one table of each is in memory.
    """
    while tables := [table for stream in streams if (table := stream.next()) is not None]:
        bound = min(map(last_path, tables))
        yield tuple(stream.until(bound) for stream in streams)
