"""Differences of objects: counted for all pictures at once, named for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.manifests.diff.diff import LayerDiff

# Columns of an object that change together, by the name of what they say.
OBJECT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "label": ("label",),
    "geometry": ("kind", "geometry", "sizes"),
    "attributes": ("attributes",),
    "ignore": ("ignore",),
    "text": ("text",),
    "track": ("track_id",),
}
COUNTED = ("added", "removed", "changed")
_COUNTS = pa.schema([("path", pa.string()), *((name, pa.int64()) for name in COUNTED)])
_SIZES = "sizes"
_PLAIN = [name for names in OBJECT_FIELDS.values() for name in names if name != _SIZES]


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object that differs; `fields` are those of OBJECT_FIELDS that do, if it only changed.

    Label and kind are those of the newer side that has it.
    """

    id: bytes
    change: Literal["added", "removed", "changed"]
    label: str
    kind: str
    fields: tuple[str, ...] = ()


def object_changes(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[ObjectChange]:
    """Yield how the objects of one picture differ: the new ones in their order, then the removed.

    Objects are values of the layer's list. Their order is no change of any of them.
    """
    before = {each["id"]: each for each in old}
    for each in new:
        was = before.pop(each["id"], None)
        if was is None:
            yield _change(each, "added")
        elif fields := tuple(differing_fields(was, each)):
            yield _change(each, "changed", fields)
    for gone in before.values():
        yield _change(gone, "removed")


def _change(
    each: Mapping[str, Any],
    change: Literal["added", "removed", "changed"],
    fields: tuple[str, ...] = (),
) -> ObjectChange:
    return ObjectChange(each["id"], change, each["label"], each["kind"], fields)


def differing_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of OBJECT_FIELDS that differ."""
    for name, columns in OBJECT_FIELDS.items():
        if any(_plain(old[column]) != _plain(new[column]) for column in columns):
            yield name


def count_object_changes(part: LayerDiff) -> pa.Table:
    """Return path, added, removed and changed objects of each row of a layer that differs."""
    old, new = part.changed_from, part.changed_to
    tables = [
        _counted(part.added["path"], added=_lengths(part.added)),
        _counted(part.removed["path"], removed=_lengths(part.removed)),
        *(
            _compared(old.slice(start, _ROWS_AT_ONCE), new.slice(start, _ROWS_AT_ONCE))
            for start in range(0, len(new), _ROWS_AT_ONCE)
        ),
    ]
    return pa.concat_tables(tables).sort_by("path").combine_chunks()


_ROWS_AT_ONCE = 1 << 14


def _compared(old: pa.Table, new: pa.Table) -> pa.Table:
    """Count changes between rows of the same paths."""
    before, after = _Objects(old), _Objects(new)
    row = pc.index_in(after.keys, value_set=before.keys)
    known = row.is_valid().to_numpy(zero_copy_only=False)
    is_kept = np.zeros(len(before.keys), np.bool_)
    is_kept[row.drop_null().to_numpy()] = True
    is_same = pa.repeat(pa.scalar(True), int(known.sum()))
    for left, right in zip(before.columns, after.columns, strict=True):
        is_same = pc.and_(is_same, _equal(left.take(row.drop_null()), right.filter(row.is_valid())))
    differs = ~is_same.to_numpy(zero_copy_only=False)
    return _counted(
        new["path"],
        added=np.bincount(after.rows[~known], minlength=len(new)),
        removed=np.bincount(before.rows[~is_kept], minlength=len(new)),
        changed=np.bincount(after.rows[known][differs], minlength=len(new)),
    )


class _Objects:
    """The objects of some rows one after another, with the row of each and its columns."""

    def __init__(self, table: pa.Table) -> None:
        lists = _whole(table["objects"])
        values = lists.flatten()
        self.rows = np.repeat(np.arange(len(table)), _lengths(table))
        keys = np.empty((len(values), 16), np.uint8)
        keys[:, :8] = self.rows.astype(">u8").view(np.uint8).reshape(-1, 8)
        ids = pc.binary_join(pa.ListArray.from_arrays([0, len(values)], _ids(values)), b"")
        keys[:, 8:] = np.frombuffer(ids[0].as_buffer(), np.uint8).reshape(-1, 8)
        self.keys = pa.Array.from_buffers(
            pa.binary(16), len(values), [None, pa.py_buffer(keys.tobytes())]
        )
        sizes = _as_bytes(pc.struct_field(values, _SIZES))
        self.columns = [*(pc.struct_field(values, name) for name in _PLAIN), sizes]


def _ids(values: pa.StructArray) -> pa.Array:
    return pc.struct_field(values, "id").cast(pa.binary())


def _as_bytes(lists: pa.ListArray) -> pa.Array:
    """Numbers of each list as bytes, which can be compared; null is empty."""
    lengths = 4 * pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype("<i4")
    data = lists.flatten().to_numpy(zero_copy_only=False).astype("<i4").tobytes()
    return pa.Array.from_buffers(
        pa.binary(), len(lists), [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )


def _counted(paths: pa.ChunkedArray, **counts: NDArray[np.int64]) -> pa.Table:
    none = np.zeros(len(paths), np.int64)
    columns = [_whole(paths), *(pa.array(counts.get(name, none), pa.int64()) for name in COUNTED)]
    return pa.Table.from_arrays(columns, schema=_COUNTS)


def _lengths(table: pa.Table) -> NDArray[np.int64]:
    lengths = pc.fill_null(pc.list_value_length(table["objects"]), 0).cast(pa.int64())
    found: NDArray[np.int64] = lengths.to_numpy()
    return found


def _equal(left: pa.Array, right: pa.Array) -> pa.Array:
    both_null = pc.and_(left.is_null(), right.is_null())
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), False))


def _plain(value: Any) -> Any:
    return value or [] if isinstance(value, list) or value is None else value


def _whole(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)
