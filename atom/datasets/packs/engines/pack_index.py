"""A pack's own index: what a worker found inside, and the yardstick for every entry.

Parquet, one row per member, ascending by `offset` (and so by path):
path string · offset int64 · size int64 · digest fixed binary (32) · unreadable string or null.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from atom.datasets.packs.engines.images import (
    MAX_CHECKED_BYTES,
    is_raster_image,
    media_type_of,
    unreadable_reason,
)
from atom_sdk.packs.indexer import PassingMember
from atom_sdk.packs.writer import PackMember

SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("digest", pa.binary(32), nullable=False),
        pa.field("unreadable", pa.string()),
    ]
)
ReadMember = Callable[[int, int], bytes | memoryview]


def build_index(members: Iterable[PackMember], read: ReadMember) -> pa.Table:
    """Return the index of a verified pack; `read(offset, size)` gives a member's bytes."""
    rows = list(members)
    return _index(rows, [_reason(member, read) for member in rows])


def index_passing(members: Iterable[PassingMember]) -> pa.Table:
    """Return the index of a pack that streams by, with the bytes of what `is_looked_into`.

    Raises what `members` raises.
    """
    rows, reasons = [], []
    for member, data in members:
        rows.append(member)
        reasons.append(None if data is None else unreadable_reason(data))
    return _index(rows, reasons)


def is_looked_into(path: str, size: int) -> bool:
    """Return whether the bytes of a member say if it can be read: it is a picture."""
    return size <= MAX_CHECKED_BYTES and is_raster_image(media_type_of(path))


def _index(rows: Sequence[PackMember], reasons: Sequence[str | None]) -> pa.Table:
    columns = [
        pa.array([row.path for row in rows], pa.string()),
        pa.array([row.offset for row in rows], pa.int64()),
        pa.array([row.size for row in rows], pa.int64()),
        pa.array([row.digest for row in rows], pa.binary(32)),
        pa.array(reasons, pa.string()),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _reason(member: PackMember, read: ReadMember) -> str | None:
    if not is_looked_into(member.path, member.size):
        return None
    return unreadable_reason(read(member.offset, member.size))


def encode_index(index: pa.Table) -> bytes:
    """Return the index as Parquet."""
    out = io.BytesIO()
    pq.write_table(index, out, compression="zstd")
    return out.getvalue()


def decode_index(data: bytes) -> pa.Table:
    """Undo `encode_index`."""
    return pq.read_table(io.BytesIO(data), schema=SCHEMA)


def locate(index: pa.Table, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each offset in the index, -1 where no member begins there."""
    known = index["offset"].to_numpy()
    rows = np.searchsorted(known, offsets)
    rows[rows == len(known)] = 0
    return np.where(known[rows] == offsets, rows, -1)


def first_mismatch(index: pa.Table, entries: pa.Table) -> int | None:
    """Return the row of the first entry that the pack does not hold as claimed, or None.

    `entries` has the columns offset, size (int64) and digest (32 bytes).
    """
    rows = locate(index, entries["offset"].to_numpy())
    if (rows < 0).any():
        return int(np.argmax(rows < 0))
    members = index.select(["size", "digest"]).take(pa.array(rows))
    same = pc.and_(
        pc.equal(members["size"], entries["size"]),
        pc.equal(members["digest"], entries["digest"].cast(pa.binary(32))),
    ).to_numpy()
    return None if same.all() else int(np.argmin(same))
