"""How rows of layers are written as Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.manifests.layers.object_rows import CONTENT

# Rows with what is drawn on a picture are large: a reader of a few takes few others along.
_GROUP_ROWS, _OBJECTS_GROUP_ROWS = 1 << 20, 1 << 12
_DISTINCT = ("path", "digest", CONTENT)


def write_rows(tables: Iterable[pa.Table], schema: pa.Schema, sink: IO[bytes] | Path) -> None:
    """Write the rows of a layer as Parquet, in row groups of what `group_rows` says at most."""
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        use_dictionary=[leaf for leaf in stored_names(schema) if _has_few_values(leaf)],
        column_encoding={"path": "DELTA_BYTE_ARRAY"},
        store_schema=False,
    ) as out:
        for table in tables:
            out.write_table(table, group_rows(schema))


def group_rows(schema: pa.Schema) -> int:
    """How many rows of such a layer a row group has at most."""
    return _OBJECTS_GROUP_ROWS if CONTENT in schema.names else _GROUP_ROWS


def stored_names(schema: pa.Schema) -> list[str]:
    """Return the names that Parquet has for what these columns hold, nested ones part by part."""
    return [leaf for field in schema for leaf in _leaves_of(field)]


def _leaves_of(field: pa.Field, above: str = "") -> Iterator[str]:
    name = f"{above}{field.name}"
    if pa.types.is_list(field.type):
        yield from _leaves_of(field.type.value_field.with_name("element"), f"{name}.list.")
    elif pa.types.is_struct(field.type):
        for part in field.type:
            yield from _leaves_of(part, f"{name}.")
    else:
        yield name


def _has_few_values(leaf: str) -> bool:
    is_list = ".list." in leaf
    return leaf.endswith((".label", ".kind", ".name")) if is_list else leaf not in _DISTINCT
