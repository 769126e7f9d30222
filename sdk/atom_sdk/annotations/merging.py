"""Two rows of a picture in the layer `objects` made one, where labels are added to labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.annotations.layer import PictureRow, documents_of, rows_table
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation
from atom_sdk.manifests.layers.layers import merge_layer

_SOURCE = "import"


def add_rows(before: pa.Table, coming: pa.Table) -> pa.Table:
    """Return the rows before, with those that come: pictures that have both get all objects.

    A row before whose picture has other bytes by now is replaced. Both are in path order.
    """
    row = pc.index_in(coming["path"], value_set=before["path"].combine_chunks())
    earlier = before["digest"].combine_chunks().take(row.combine_chunks())
    same = pc.fill_null(pc.equal(earlier, coming["digest"].combine_chunks()), False)
    both = coming.filter(same)
    if not len(both):
        return merge_layer(before, coming)
    pairs = before.take(row.filter(same).combine_chunks())
    added = rows_table(_joined(pairs, both))
    return merge_layer(merge_layer(before, coming.filter(pc.invert(same))), added)


def _joined(before: pa.Table, coming: pa.Table) -> Iterator[PictureRow]:
    keys = zip(coming["path"].to_pylist(), coming["digest"].to_pylist(), strict=True)
    documents = zip(documents_of(before), documents_of(coming), strict=True)
    for (path, digest), (old, new) in zip(keys, documents, strict=True):
        yield PictureRow(path, digest, add_document(old, new), source=_SOURCE)


def add_document(before: NamedDocument, coming: NamedDocument) -> NamedDocument:
    """Return all objects of both; an object that is there already is not added again.

    An id that means something else in each gets a new one, which follows from the object, so that
    adding twice adds once. Attributes of the picture stay as they are.
    """
    there = {each.id: each for each in before.objects}
    ids: dict[str, str] = {}
    objects = list(before.objects)
    for each in coming.objects:
        free = each.id
        while free in there and not _is_same(there[free], each):
            free = blake2b(f"{free} {each!r}".encode(), digest_size=8).hexdigest()
        ids[each.id] = free
        if free not in there:
            there[free] = replace(each, id=free)
            objects.append(there[free])
    return replace(
        before,
        labels=tuple(dict.fromkeys((*before.labels, *coming.labels))),
        attributes={**coming.attributes, **before.attributes},
        objects=tuple(objects),
        relations=_relations(before, coming, ids),
    )


def _is_same(one: NamedObject, other: NamedObject) -> bool:
    return replace(one, id="") == replace(other, id="")


def _relations(
    before: NamedDocument, coming: NamedDocument, ids: dict[str, str]
) -> tuple[NamedRelation, ...]:
    relations = {(it.name, it.subject, it.object): it for it in before.relations}
    taken = {it.id for it in before.relations}
    for each in coming.relations:
        key = (each.name, ids[each.subject], ids[each.object])
        if key in relations:
            continue
        free = each.id
        while free in taken:
            free = blake2b(f"{free} {key!r}".encode(), digest_size=8).hexdigest()
        taken.add(free)
        relations[key] = NamedRelation(free, *key)
    return tuple(relations.values())
