"""Answers to what a query asks of objects, as columns: one value a picture for each question.

Objects are read once, some pictures at a time and only in the fields that are asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.layers.layers import layer_schema
from atom_sdk.manifests.layers.object_labels import objects_schema_of
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query.evaluation import evaluate_objects, fact_name
from atom_sdk.manifests.query.tree import AnyObject, Column, Query, columns_of, object_terms
from atom_sdk.manifests.roots.roots import LayerRef, Root

_STORED = {"track": "track_id", "count": "label", "counts": "label"}
_KEY = [layer_schema(OBJECTS_KIND).field(name) for name in ("path", "digest")]


def read_object_facts(root: Root, store: ObjectStore, query: Query | None) -> pa.Table | None:
    """Return the facts that a query needs, by path and digest; None if it asks of no object.

    A picture that is not among the rows was not looked at. Raises what `layer_pieces` raises.
    """
    if query is None or not object_terms(query):
        return None
    layer = root.layer(OBJECTS_LAYER)
    if layer is None or layer.kind != OBJECTS_KIND:
        return _schema(object_terms(query)).empty_table()
    return object_facts(layer, store, query)


def object_facts(layer: LayerRef, store: ObjectStore, query: Query) -> pa.Table:
    """Return the facts of a layer's pictures, in path order."""
    terms = object_terms(query)
    schema = objects_schema_of(_fields(terms))
    with tempfile.TemporaryDirectory(prefix="atom-objects-") as scratch:
        tables = [_facts(rows, terms) for rows in layer_pieces(layer, store, Path(scratch), schema)]
    return pa.concat_tables([_schema(terms).empty_table(), *tables]).combine_chunks()


def _fields(terms: Sequence[AnyObject | Column]) -> list[str]:
    asked = {
        column.keys[0]
        for term in terms
        for column in ([term] if isinstance(term, Column) else columns_of(term))
    }
    return sorted({_STORED.get(name, name) for name in asked})


def _schema(terms: Sequence[AnyObject | Column]) -> pa.Schema:
    kinds = [pa.bool_() if isinstance(term, AnyObject) else pa.float64() for term in terms]
    named = zip(terms, kinds, strict=True)
    return pa.schema([*_KEY, *(pa.field(fact_name(term), kind) for term, kind in named)])


def _facts(rows: pa.Table, terms: Sequence[AnyObject | Column]) -> pa.Table:
    lists = rows["objects"].combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    values = lists.flatten()
    objects = pa.Table.from_arrays(list(values.flatten()), names=[f.name for f in values.type])
    parents = np.repeat(np.arange(len(rows)), lengths)
    columns = list(_columns(objects, parents, len(rows), terms))
    return pa.Table.from_arrays([rows["path"], rows["digest"], *columns], schema=_schema(terms))


def _columns(
    objects: pa.Table, parents: np.ndarray, count: int, terms: Sequence[AnyObject | Column]
) -> Iterator[pa.Array]:
    for term in terms:
        if isinstance(term, AnyObject):
            # An object of which it is not known does not count.
            found = pc.fill_null(evaluate_objects(term.term, objects), False)
            hits = parents[found.to_numpy(zero_copy_only=False)]
            yield pa.array(np.bincount(hits, minlength=count) > 0)
        else:
            hits = parents
            if term.keys[0] == "counts":
                is_class = pc.equal(objects["label"], term.keys[1])
                hits = parents[is_class.to_numpy().astype(np.bool_)]
            yield pa.array(np.bincount(hits, minlength=count).astype(np.float64))
