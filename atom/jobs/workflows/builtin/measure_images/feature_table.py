"""Measured images as a Parquet file: one row per path, whose digest says what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pictures import Measured  # type: ignore[import-not-found]

FILE = "features.parquet"
# The server reads exactly these: see atom/cleaning/engines/features.py.
SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("digest", pa.binary(32), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("luminance", pa.float32(), nullable=False),
        pa.field("bright", pa.float32(), nullable=False),
        pa.field("sharpness", pa.float32(), nullable=False),
        pa.field("phash", pa.uint64(), nullable=False),
        pa.field("unreadable", pa.string()),
    ],
    {b"atom.format": b"atom-image-features/1"},
)
MEASURES = SCHEMA.names[2:]


def as_table(paths: list[str], digests: list[bytes], measured: Iterable[Measured]) -> pa.Table:
    """Return the rows of images that were measured now."""
    found = list(measured)
    columns = [[getattr(one, name) for one in found] for name in MEASURES]
    arrays = [
        pa.array(column, field.type)
        for column, field in zip([paths, digests, *columns], SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def read_known(folder: Path | None) -> pa.Table:
    """Return what an earlier run measured; without such a file, or of another format, nothing."""
    path = folder / "known" / FILE if folder is not None else None
    if path is None or not path.exists():
        return SCHEMA.empty_table()
    table = pq.read_table(path)
    return table if table.schema.equals(SCHEMA, check_metadata=True) else SCHEMA.empty_table()


def taken_over(paths: list[str], digests: list[bytes], known: pa.Table) -> pa.Table:
    """Return the rows of those that are known by their digests, under their present paths."""
    wanted = pa.array(digests, pa.binary(32))
    row = pc.index_in(wanted, value_set=known.column("digest").combine_chunks())
    is_known = row.is_valid()
    rows = known.take(row.drop_null())
    rows = rows.set_column(0, SCHEMA.field("path"), pa.array(paths, pa.string()).filter(is_known))
    return rows.cast(SCHEMA)


def write(table: pa.Table, folder: Path) -> None:
    """Write the file of a run."""
    pq.write_table(table, folder / FILE, compression="zstd")
