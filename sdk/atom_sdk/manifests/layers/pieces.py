"""Layers of very many rows, piece by piece: what `layers` does with all rows in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.entries import check_order, content_of_pieces
from atom_sdk.manifests.layers.deltas import (
    DEFAULT_LAYER_DELTA_RULE,
    LayerDeltaRule,
    delta_schema,
    lay_over_layer,
    layer_delta_rows,
)
from atom_sdk.manifests.layers.layers import (
    content_columns,
    content_domain,
    layer_schema,
    put_rows_object,
)
from atom_sdk.manifests.layers.stored_rows import group_rows, stored_names, write_rows
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, layer_key
from atom_sdk.manifests.roots.roots import LayerRef
from atom_sdk.manifests.rows.pieces import Pieces
from atom_sdk.manifests.rows.spilled_rows import SpilledRows, spill_rows

PIECE_ROWS = 1 << 16
# Rows before and after a change that lie between the same paths.
Pair = tuple[pa.Table, pa.Table]


def layer_pieces(
    layer: LayerRef, store: ObjectStore, scratch: Path, schema: pa.Schema | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of a layer in path order, some at a time; with `schema` only its columns.

    Its objects are kept in the folder `scratch` meanwhile. Raises ObjectNotFoundError,
    ManifestCorruptError, LayerKindError.
    """
    schema = schema or layer_schema(layer.kind)
    pieces = _object_pieces(layer.object, schema, store, scratch)
    for delta in layer.deltas:
        over = _object_pieces(delta, delta_schema(schema), store, scratch)
        pieces = _laid_over(pieces, Pieces(over, delta_schema(schema)), schema)
    return pieces


def _laid_over(pieces: Iterable[pa.Table], delta: Pieces, schema: pa.Schema) -> Iterator[pa.Table]:
    for piece in pieces:
        if len(piece):
            yield lay_over_layer(piece, delta.until(piece["path"][-1].as_py()))
    for rest in delta.rest():
        yield lay_over_layer(schema.empty_table(), rest)


def _object_pieces(
    digest: bytes, schema: pa.Schema, store: ObjectStore, scratch: Path
) -> Iterator[pa.Table]:
    key = layer_key(digest)
    with tempfile.NamedTemporaryFile(dir=scratch, prefix="layer-") as file:
        file.write(get_verified(store, key, digest))
        file.flush()
        try:
            with pq.ParquetFile(file.name, buffer_size=1 << 20, pre_buffer=False) as parquet:
                names = stored_names(schema)
                rows_at_once = min(PIECE_ROWS, group_rows(schema))
                for batch in parquet.iter_batches(rows_at_once, columns=names):
                    rows = pa.Table.from_batches([batch])
                    yield rows.select(schema.names).cast(schema).combine_chunks()
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise ManifestCorruptError(key, "it is not a Parquet file of a layer") from error


def change_layer_pieces(
    before: LayerRef | None,
    layer: tuple[str, str],
    pairs: Iterable[Pair],
    store: ObjectStore,
    scratch: Path,
    rule: LayerDeltaRule = DEFAULT_LAYER_DELTA_RULE,
) -> LayerRef | None:
    """Store the next state of a layer as `change_layer` and `write_layer` do; None without rows.

    `layer` is its name and kind. `pairs` come in path order: what it was, which counts only where
    `before` has the same kind, and what it is. Raises EntryOrderError and what `layer_pieces`
    raises.
    """
    name, kind = layer
    change = _Delta(before if before is not None and before.kind == kind else None, rule)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="rows-") as folder:
        after = _spilled(change.seen(pairs), kind, Path(folder) / "rows.arrow")
        if not len(after):
            return None
        content = content_of_pieces(
            len(after), after.column, content_domain(kind), content_columns(kind)
        )
        laid = change.laid(len(after), content, store)
        if laid is not None:
            return laid
        return LayerRef(name, kind, len(after), content, _put(after, store, Path(folder)))


class _Delta:
    """Gathers the rows of a delta for as long as they are few enough for one."""

    def __init__(self, before: LayerRef | None, rule: LayerDeltaRule) -> None:
        self._before = before
        self._rule = rule
        self._rows: list[pa.Table] = []
        self._count = 0

    def _fits(self, changes: int) -> bool:
        before = self._before
        return before is not None and self._rule.fits(before.rows, len(before.deltas), changes)

    def seen(self, pairs: Iterable[Pair]) -> Iterator[pa.Table]:
        """Yield what the layer is."""
        for old, new in pairs:
            if self._fits(self._count):
                rows = layer_delta_rows(old, new)
                self._count += len(rows)
                self._rows = [*self._rows, rows] if self._fits(self._count) else []
            yield new

    def laid(self, rows: int, content: bytes, store: ObjectStore) -> LayerRef | None:
        """Return the layer as it was, or with one delta more; None if it must be rewritten."""
        if self._before is None:
            return None
        if content == self._before.content:
            return self._before
        if not self._fits(abs(rows - self._before.rows)) or not self._fits(self._count):
            return None
        delta = put_rows_object(pa.concat_tables(self._rows).combine_chunks(), store)
        deltas = (*self._before.deltas, delta)
        return replace(self._before, rows=rows, content=content, deltas=deltas)


def _spilled(tables: Iterable[pa.Table], kind: str, path: Path) -> SpilledRows:
    schema = layer_schema(kind)

    def checked() -> Iterator[pa.Table]:
        previous = None
        for table in tables:
            if len(table):
                check_order(table, previous)
                previous = table["path"][-1].as_py()
                yield table.cast(schema)

    return spill_rows(checked(), schema, path)


def _put(rows: SpilledRows, store: ObjectStore, folder: Path) -> bytes:
    path = folder / "rows.parquet"
    write_rows(_row_groups(rows), rows.schema, path)
    data = path.read_bytes()
    digest = digest_of(data)
    store.put(layer_key(digest), data)
    return digest


def _row_groups(rows: SpilledRows) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    size = group_rows(rows.schema)
    for table in rows.tables():
        waiting.append(table)
        while sum(map(len, waiting)) >= size:
            group = pa.concat_tables(waiting)
            yield group.slice(0, size)
            waiting = [group.slice(size)]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting)
