"""Entries of a version beside what a run measured of their images, as one table.

Columns of the joined table: path, digest, size, label, split, is_image (bool), and of measured
images width, height, luminance, bright, sharpness, phash, unreadable; null for other files.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom.datasets.packs.engines.images import raster_images
from atom_sdk.sentences import Sentence

# As the workflow measure-images writes them: see its feature_table.py.
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
    ]
)
FILE = "features.parquet"
FORMAT = b"atom-image-features/1"
_MEASURES = SCHEMA.names[2:]
_OF_ENTRY = ["path", "digest", "size", "label", "split"]


class MalformedFeatures(ValueError):
    """The file is not what the workflow writes; the message says how."""


def parse_features(data: bytes) -> pa.Table:
    """Return what a run measured. Raises MalformedFeatures."""
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as exc:
        raise MalformedFeatures(
            Sentence("cleaning.not_parquet", "It is not a Parquet file.")
        ) from exc
    if (table.schema.metadata or {}).get(b"atom.format") != FORMAT:
        raise MalformedFeatures(
            Sentence(
                "cleaning.format_not_declared",
                "The file does not declare the format {format}.",
                format=FORMAT.decode(),
            )
        )
    if not table.schema.equals(SCHEMA):
        raise MalformedFeatures(
            Sentence(
                "cleaning.columns_differ",
                "Its columns are not {columns}.",
                columns=", ".join(SCHEMA.names),
            )
        )
    return table.combine_chunks()


def image_entries(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the entries with labels and splits, and whether each should be an image."""
    kept = [
        table.select([*_OF_ENTRY, "pack"]).append_column("is_image", raster_images(table))
        for table in tables
    ]
    return pa.concat_tables(kept).combine_chunks()


def is_all_known(entries: pa.Table, features: pa.Table) -> bool:
    """Return whether every image was measured before, whatever its path was then.

    Files at a source count as new: their bytes have no digest before a run has read them.
    """
    images = entries.filter(entries["is_image"])
    known = pc.is_in(images["digest"], value_set=features["digest"].combine_chunks())
    there = pc.and_(known, images["pack"].is_valid())
    return bool(pc.all(there, min_count=0).as_py())


def joined(entries: pa.Table, features: pa.Table, *, by_path: bool) -> pa.Table:
    """Return the entries with what was measured; `by_path` for features of this very version.

    By path, an entry that stays at its source gets the digest of its bytes as well.
    """
    key = "path" if by_path else "digest"
    row = pc.index_in(entries[key], value_set=features[key].combine_chunks())
    row = pc.if_else(entries["is_image"], row, pa.scalar(None, pa.int32()))
    table = entries.drop_columns(["pack"])
    if by_path:
        digest = pc.coalesce(features["digest"].take(row), entries["digest"])
        table = table.set_column(1, "digest", digest)
    for name in _MEASURES:
        table = table.append_column(name, features[name].take(row))
    return table.combine_chunks()
