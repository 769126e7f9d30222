"""Runs: tables in path order that overlap, merged without holding all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc


class Run(NamedTuple):
    """Rows in path order that are read when they are due; their first path."""

    first: str
    read: Callable[[], pa.Table]


def by_path(runs: Iterable[Run]) -> Iterator[pa.Table]:
    """Tables of which each has all rows up to some path, unsorted, and the next has those after it.

    Only runs that overlap are in memory together; their rows come in the order of the runs' starts.
    """
    waiting = sorted(runs, key=lambda run: run.first, reverse=True)
    open_: list[pa.Table] = []
    while waiting or open_:
        if not open_:
            open_.append(waiting.pop().read())
        # All up to here is known once every run is open that begins before it.
        bound = min(last_path(table) for table in open_)
        while waiting and waiting[-1].first <= bound:
            open_.append(waiting.pop().read())
            bound = min(bound, last_path(open_[-1]))
        due, open_ = _cut(open_, bound)
        yield due


def last_path(table: pa.Table) -> str:
    """The last path of a table in path order."""
    path: str = table["path"][-1].as_py()
    return path


def _cut(tables: list[pa.Table], bound: str) -> tuple[pa.Table, list[pa.Table]]:
    due, rest = [], []
    for table in tables:
        count = pc.sum(pc.less_equal(table["path"], bound)).as_py()
        due.append(table.slice(0, count))
        if count < len(table):
            rest.append(table.slice(count))
    return pa.concat_tables(due), rest
