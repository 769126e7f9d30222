"""Objects that earlier imports wrote into attributes, moved to the layer of objects.

Boxes had two decimals and files 16 KiB: what was cut then cannot come back, and is counted. Boxes
of VOC were stored as the files count pixels, from 1 with the last one included.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.object_layers import KEY, with_objects
from atom_sdk.annotations.layer import PictureRow, row_batches
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.importers.objects import (
    RELATIVE,
    ObjectRefusedError,
    TableObject,
    checked_box,
    checked_label,
    checked_polygon,
    checked_shape,
)
from atom_sdk.label_formats import values
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.manifests.build import Changes, apply_changes
from atom_sdk.manifests.layers.object_rows import OBJECTS_LAYER, OBJECTS_SCHEMA
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.roots.roots import Root

Json = Mapping[str, Any]
Row = Mapping[str, Any]
Size = tuple[int, int]
SizeOf = Callable[[Row], Size | None]
KEYS = ("objects", "object_counts", "box_unit")
_MARK = '"object_counts"'
_AT_ONCE, _BATCH_ROWS, _NAMED = 16, 512, 10
_IGNORED = ("crowd", "difficult")
_KNOWN = frozenset(["label", "box", "polygons", *_IGNORED])


@dataclass
class MoveCounts:
    """Counts of a move; `first` names the first pictures that are left."""

    pictures: int = 0
    objects: int = 0
    voc_corrected: int = 0
    """Pictures of VOC whose boxes counted from 1."""
    superseded: int = 0
    """Pictures that have objects in the layer already: these stay, the attributes go."""
    cut: int = 0
    """Pictures whose objects did not fit into 16 KiB: only their counts are there, and stay."""
    left: int = 0
    """Pictures whose objects cannot be moved; they stay in the attributes."""
    first: list[str] = field(default_factory=list)

    def leave(self, path: str) -> None:
        """Count a picture whose objects stay where they are."""
        self.left += 1
        if len(self.first) < _NAMED:
            self.first.append(path)

    def as_json(self) -> dict[str, Any]:
        """Return what is not nothing."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class ObjectMove:
    """How objects are moved.

    `size_of` reads the size of a picture where its attributes do not say it; `from_voc` are the
    attributes that an import of VOC wrote, by path. `origin` is the number of the first pixel, None
    to go by these.
    """

    size_of: SizeOf
    from_voc: Mapping[str, Json] = field(default_factory=dict)
    origin: int | None = None
    counts: MoveCounts = field(default_factory=MoveCounts)

    def has_voc_origin(self, path: str, attributes: Json) -> bool:
        """Whether the boxes of a picture are those of a VOC file that counts from 1."""
        if self.origin is None:
            before = self.from_voc.get(path)
            if before is None or before.get("objects") != attributes.get("objects"):
                return False
        elif self.origin == 0:
            return False
        # As in the files themselves: one with a coordinate 0 counts from 0.
        boxes = [one["box"] for one in attributes["objects"] if "box" in one]
        return all(0 not in (x, y, x + w, y + h) for x, y, w, h in boxes)


def with_moved_objects(
    root: Root, entries: pa.Table, move: ObjectMove, store: ObjectStore, watch: Watch = UNWATCHED
) -> Root:
    """Return the root with the objects of entries in the layer, and not in attributes."""
    chosen = entries.filter(has_objects(entries["attributes"])).combine_chunks()
    watch.begin("reading", len(chosen))
    drawn = _drawn_on(root, chosen, store)
    renewed: dict[str, str | None] = {}
    pictures = _pictures(chosen, drawn, move, renewed, watch)
    batches = list(row_batches(pictures))
    if not renewed:
        return root
    changed = apply_changes(root, Changes(_put_again(chosen, renewed)), store, watch=watch)
    tables = [pa.Table.from_batches([batch], OBJECTS_SCHEMA) for batch in batches]
    watch.begin("labels", move.counts.pictures)
    changed = with_objects(changed, OBJECTS_LAYER, tables, store)
    watch.advance(move.counts.pictures)
    return changed


def has_objects(attributes: pa.ChunkedArray | pa.Array) -> Any:
    """Return for each text of attributes whether an import may have written objects into it."""
    return pc.fill_null(pc.match_substring(attributes, _MARK), False)


def attributes_of(text: str | None) -> Json:
    """Return the attributes in which an import has written objects, else nothing."""
    values_: Any = json.loads(text) if text else {}
    return values_ if isinstance(values_.get("object_counts"), dict) else {}


def _drawn_on(root: Root, entries: pa.Table, store: ObjectStore) -> Collection[str]:
    """Paths of entries that have a row in the layer, for the bytes that they have."""
    layer = root.layer(OBJECTS_LAYER)
    if layer is None or not len(entries):
        return ()
    drawn: set[str] = set()
    paths = entries["path"].combine_chunks()
    with TemporaryDirectory(prefix="atom-keys-") as scratch:
        for keys in layer_pieces(layer, store, Path(scratch), KEY):
            row = pc.index_in(keys["path"], value_set=paths)
            same = pc.equal(entries["digest"].take(row), keys["digest"])
            drawn.update(keys["path"].filter(pc.fill_null(same, False)).to_pylist())
    return drawn


def _pictures(
    entries: pa.Table,
    drawn: Collection[str],
    move: ObjectMove,
    renewed: dict[str, str | None],
    watch: Watch,
) -> Iterator[PictureRow]:
    """Yield the rows of the layer; `renewed` gets the attributes that stay, by path."""
    with ThreadPoolExecutor(_AT_ONCE, "atom-sizes") as pool:
        for start in range(0, len(entries), _BATCH_ROWS):
            rows = entries.slice(start, _BATCH_ROWS).to_pylist()
            values_ = [attributes_of(row["attributes"]) for row in rows]
            needed = [
                row["path"] not in drawn and isinstance(each.get("objects"), list)
                for row, each in zip(rows, values_, strict=True)
            ]
            sizes = pool.map(
                lambda args: _size(args[0], args[1], move) if args[2] else None,
                zip(rows, values_, needed, strict=True),
            )
            for row, attributes, size in zip(rows, values_, sizes, strict=True):
                if attributes:
                    yield from _picture(row, attributes, size, row["path"] in drawn, move, renewed)
            watch.advance(len(rows))


def _size(row: Row, attributes: Json, move: ObjectMove) -> Size | None:
    width, height = values.side(attributes.get("width")), values.side(attributes.get("height"))
    return (width, height) if width and height else move.size_of(row)


def _picture(
    row: Row,
    attributes: Json,
    size: Size | None,
    is_drawn: bool,
    move: ObjectMove,
    renewed: dict[str, str | None],
) -> Iterator[PictureRow]:
    path, counts = row["path"], move.counts
    if is_drawn:
        counts.superseded += 1
    elif not isinstance(attributes.get("objects"), list):
        counts.cut += 1
        return
    else:
        try:
            document = _document(path, attributes, size, move)
        except (ObjectRefusedError, ValueRefusedError, KeyError, TypeError, ValueError):
            counts.leave(path)
            return
        counts.pictures += 1
        counts.objects += len(document.objects)
        yield PictureRow(path, row["digest"], document, source="import")
    rest = {name: value for name, value in attributes.items() if name not in KEYS}
    renewed[path] = (
        json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if rest
        else None
    )


def _document(path: str, attributes: Json, size: Size | None, move: ObjectMove) -> NamedDocument:
    """Return the document of a picture. Raises ValueError and its kinds."""
    if size is None:
        raise ObjectRefusedError("its width and height are unknown")
    is_voc = move.has_voc_origin(path, attributes)
    objects = []
    for number, one in enumerate(attributes["objects"], 1):
        own = values.object_id(None, path, number)
        objects.append(_object(one, own, size, attributes.get("box_unit", ""), shifted=is_voc))
    if is_voc and objects:
        move.counts.voc_corrected += 1
    return NamedDocument(*size, objects=tuple(objects))


def _object(one: Json, own: str, size: Size, unit: str, *, shifted: bool) -> NamedObject:
    x, y, width, height = checked_box(one["box"])
    if shifted:
        x, y, width, height = x - 1, y - 1, width + 1, height + 1
    polygons: Sequence[Any] = one.get("polygons", ())
    flags = {name: value for name, value in one.items() if name not in _KNOWN and value is True}
    table = TableObject(
        checked_label(one["label"]),
        (x, y, width, height),
        tuple(map(checked_polygon, polygons)),
        flags,
        any(one.get(name) for name in _IGNORED),
    )
    named = table.named(own, size, unit or RELATIVE, LabelReport(""), "")
    return checked_shape(named, size)


def _put_again(entries: pa.Table, renewed: Mapping[str, str | None]) -> pa.Table:
    """Return the entries with the attributes that stay."""
    paths = pa.array(list(renewed), pa.string())
    rows = entries.filter(pc.is_in(entries["path"], value_set=paths))
    texts = [renewed[path] for path in rows["path"].to_pylist()]
    place = rows.schema.get_field_index("attributes")
    return rows.set_column(place, rows.schema.field(place), pa.array(texts, pa.string()))
