"""A listing in sorted pieces: written as they come, merged afterwards, holding few at a time.

A run is a Parquet file of at most RUN_ROWS objects, sorted by path, whatever the order of the
source's listing. The merge opens a run when its first path is due and drops it after its last. So
memory is bounded by the runs that overlap: a few, if the source lists in order.
"""

from __future__ import annotations

import fnmatch
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.errors import PathError
from atom_sdk.manifests.entries import ENTRY_SCHEMA, Entry, entries_table
from atom_sdk.manifests.pins import Pin, pinned_entry
from atom_sdk.manifests.rows.pieces import Pieces
from atom_sdk.manifests.rows.runs import Run, by_path, last_path
from atom_sdk.packs.paths import encode_path

RUN_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class RunRef:
    """A stored run: its name, its first and last path."""

    name: str
    first: str
    last: str


@dataclass(frozen=True)
class Globs:
    """Which paths are registered: those that fit `include` (all if empty) and not `exclude`.

    `*` also crosses slashes; upper and lower case differ.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def matcher(self) -> Callable[[str], bool]:
        """Return the test, compiled once."""
        wanted, unwanted = _compiled(self.include), _compiled(self.exclude)

        def fits(path: str) -> bool:
            if wanted is not None and not wanted.fullmatch(path):
                return False
            return unwanted is None or not unwanted.fullmatch(path)

        return fits


def _compiled(globs: Sequence[str]) -> re.Pattern[str] | None:
    if not globs:
        return None
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs))


def registered_entry(pin: Pin, media_type: str | None) -> Entry | None:
    """Return the entry of an object under its own key, None if a dataset cannot have that path."""
    try:
        encode_path(pin.key)
    except PathError:
        return None
    return pinned_entry(pin.key, pin, media_type)


def encode_run(entries: Sequence[Entry]) -> bytes:
    """Return the Parquet bytes of a run."""
    sink = io.BytesIO()
    pq.write_table(entries_table(entries), sink, compression="zstd")
    return sink.getvalue()


def decode_run(data: bytes) -> pa.Table:
    """Return the entries of a run."""
    return pq.read_table(io.BytesIO(data)).cast(ENTRY_SCHEMA)


def merge_runs(runs: Iterable[RunRef], read: Callable[[str], pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of entries in path order, each path once: the last one of the listing."""
    pieces = (Run(run.first, partial(read, run.name)) for run in runs)
    yield from map(_without_repeats, by_path(pieces))


def _without_repeats(table: pa.Table) -> pa.Table:
    # A page that came twice, around a restart: the later answer is the truer one.
    ordered = table.append_column("nth", pa.array(range(len(table)))).sort_by(
        [("path", "ascending"), ("mtime", "ascending"), ("nth", "ascending")]
    )
    paths = ordered["path"].combine_chunks()
    if len(paths) > 1:
        is_last = pc.not_equal(paths.slice(0, len(paths) - 1), paths.slice(1))
        keep = pa.concat_arrays([is_last, pa.array([True])])
        ordered = ordered.filter(keep)
    return ordered.drop_columns("nth").combine_chunks()


def merged_with_parent(
    parent: Iterable[pa.Table], listed: Iterable[pa.Table], source: str
) -> Iterator[pa.Table]:
    """Yield the new version's entries in path order, from two sorted streams.

    Entries of other origins stay. Objects of `source` that were not listed go; those that are
    still what they were keep what the parent knew of them.
    """
    stream = Pieces(listed, ENTRY_SCHEMA)
    for table in parent:
        yield from stream_nonempty(_merged(table, stream.until(last_path(table)), source))
    yield from stream.rest()


def stream_nonempty(table: pa.Table) -> Iterator[pa.Table]:
    """Yield the table if it has rows."""
    if len(table):
        yield table


def _merged(before: pa.Table, listed: pa.Table, source: str) -> pa.Table:
    row = pc.index_in(before["path"], value_set=listed["path"].combine_chunks())
    now = listed["digest"].take(row)
    same = pc.fill_null(pc.equal(before["digest"], now), False)
    foreign = pc.and_(row.is_null(), pc.fill_null(pc.not_equal(before["source"], source), True))
    kept = before.filter(pc.or_(same, foreign))
    new = listed.filter(
        pc.invert(pc.is_in(listed["path"], value_set=kept["path"].combine_chunks()))
    )
    return pa.concat_tables([kept, new]).sort_by("path").combine_chunks()
