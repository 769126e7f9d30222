"""Documents in few bytes: what repeats is written once; coordinates and ids are no text.

A packed document is a byte that says its form, the bytes of its head and the number of its objects
(4 bytes each), its head, the objects' ids (8 bytes each) and all their coordinates (float64), all
little-endian. The head is JSON in a zstd frame: the different objects, without ids and labels and
with counts in place of coordinates; which of them each object is, unless all are equal; the labels;
the rest of the document. Coordinates are a zstd frame where that is shorter: the form says so.
`pack` returns None for a document that would not come back exactly, such as one with whole numbers
as coordinates.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import threading
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import zstandard

from atom_sdk.annotations.box_columns import BOX, BOX_BYTES, NUMBERS_OF_BOX, BoxDocument

_PLAIN_NUMBERS: Final = b"\x02"
_ZIPPED_NUMBERS: Final = b"\x03"
# No frame of zstd begins with them.
FORMS: Final = (_PLAIN_NUMBERS, _ZIPPED_NUMBERS)
_LENGTHS: Final = struct.Struct("<cII")
# Heads are short and alike: they are compressed as if this text stood before them. It may never
# change, since stored documents need it.
_BEFORE_HEADS: Final = zstandard.ZstdCompressionDict(
    b'{"attributes":{"1":1},"ignore":true,"kind":"mask","rle":{"counts":"","size":[1080,1920]},'
    b'"text":"","track":"","kind":"point","points":2},{"kind":"polyline","points":4},'
    b'{"box":4,"kind":"keypoints","points":[2,2,2,2,2,1,0]},{"angle":0.0,"box":4,'
    b'"kind":"rotated_box"},{"kind":"polygon","parts":[[8]]},{"attributes":{"2":[1]},'
    b'"relations":[{"from":"","id":"","relation":1,"to":""}],"labels":[0,1,2,3,4,5,6,7,8,9,10,'
    b'11,12,13,14,15,16,17,18,19],"height":720,"width":1280,"height":480,"version":2,"width":640}}'
    b'{"is":[0,1,0,1,2],"labels":[1],"of":[{"box":4,"kind":"box"}],"rest":{"height":1080,'
    b'"version":2,"width":1920}}',
    dict_type=zstandard.DICT_TYPE_RAWCONTENT,
)
_ID_BYTES: Final = 8
_NUMBER_BYTES: Final = 8
_ID: Final = re.compile("[0-9a-f]{16}")
# A keypoint is x, y and whether it is visible: the head keeps the latter.
_KEYPOINT: Final = 3
# The shapes and the other fields of a document of nothing but boxes.
_ONLY_BOXES: Final = [{"box": NUMBERS_OF_BOX, "kind": BOX}]
_SIZED: Final = {"version", "width", "height"}
Json = dict[str, Any]
# `ZstdDecompressor.decompress`: the frame, and how much memory it gets if it names no size.
Decompress = Callable[..., bytes]


class _NotPackableError(Exception):
    pass


def pack(document: Mapping[str, Any]) -> bytes | None:
    """Return the packed form of a document of objects, or None where it has none."""
    items = document.get("objects")
    if not isinstance(items, list) or not items:
        return None
    numbers = array("d")
    places: dict[str, int] = {}
    try:
        ids = "".join([_id_of(item) for item in items])
        labels = [_label_of(item) for item in items]
        shapes = [_text(_shape_of(item, numbers)) for item in items]
    except _NotPackableError:
        return None
    which = [places.setdefault(shape, len(places)) for shape in shapes]
    rest = {name: value for name, value in document.items() if name != "objects"}
    # The shapes are JSON already.
    text = f'{{"is":{_text(which if len(places) > 1 else [])},"labels":{_text(labels)}'
    text += f',"of":[{",".join(places)}],"rest":{_text(rest)}}}'
    head = zstandard.ZstdCompressor(level=3, dict_data=_BEFORE_HEADS).compress(text.encode())
    form, stored = _stored(numbers)
    lengths = _LENGTHS.pack(form, len(head), len(items))
    return b"".join([lengths, head, bytes.fromhex(ids), stored])


def unpack(data: bytes, max_bytes: int) -> Json:
    """Undo `pack`.

    Raises ZstdError for a head above `max_bytes` or coordinates above twice as many, before memory
    is taken for them; ValueError for a document that was cut off.
    """
    return _document(_read(data, max_bytes))


def unpack_for_layer(data: bytes, max_bytes: int) -> Json | BoxDocument:
    """Undo `pack`; a document of nothing but boxes stays in columns. Raises as `unpack` does."""
    packed = _read(data, max_bytes)
    return _boxes(packed) or _document(packed)


@dataclass(slots=True)
class _Packed:
    """The parts of a packed document; `numbers` are the bytes of its coordinates."""

    count: int
    head: Json
    ids: bytes
    numbers: bytes


class _Decompressors(threading.local):
    """One thread's decompressors: they may not be shared, and cost more than a head to make."""

    def __init__(self) -> None:
        self.head = zstandard.ZstdDecompressor(dict_data=_BEFORE_HEADS).decompress
        self.numbers = zstandard.ZstdDecompressor().decompress


_DECOMPRESSORS: Final = _Decompressors()


def bounded(decompress: Decompress, frame: bytes, max_bytes: int) -> bytes:
    """Return the bytes of a zstd frame. Raises ZstdError for more than `max_bytes` of them.

    A frame that names its size would get that much memory, whatever the limit is: it is refused
    before.
    """
    size = zstandard.frame_content_size(frame)
    if size > max_bytes:
        raise zstandard.ZstdError(f"a frame of {size} bytes, more than {max_bytes}")
    return decompress(frame, max_output_size=max_bytes)


def _read(data: bytes, max_bytes: int) -> _Packed:
    form, head_bytes, count = _LENGTHS.unpack_from(data)
    ids_from = _LENGTHS.size + head_bytes
    numbers_from = ids_from + _ID_BYTES * count
    frame = data[_LENGTHS.size : ids_from]
    head = json.loads(bounded(_DECOMPRESSORS.head, frame, max_bytes))
    if len(data) < numbers_from:
        raise ValueError(f"a packed document of {count} objects ends within their ids")
    numbers = data[numbers_from:]
    if form == _ZIPPED_NUMBERS:
        # As text, a number takes half of its bytes at least.
        numbers = bounded(_DECOMPRESSORS.numbers, numbers, 2 * max_bytes)
    return _Packed(count, head, data[ids_from:numbers_from], numbers)


def _boxes(packed: _Packed) -> BoxDocument | None:
    """Return a document of nothing but boxes; None for any other, a damaged one among them."""
    head, count = packed.head, packed.count
    labels, rest = head["labels"], head["rest"]
    if head["of"] != _ONLY_BOXES or head["is"] or rest.keys() != _SIZED:
        return None
    if len(labels) != count or len(packed.numbers) != BOX_BYTES * count:
        return None
    return BoxDocument(rest["width"], rest["height"], packed.ids, labels, packed.numbers)


def _document(packed: _Packed) -> Json:
    head, count = packed.head, packed.count
    numbers = _Numbers(packed.numbers)
    shapes = [_Shape(item) for item in head["of"]]
    kinds = [shapes[at] for at in head["is"]] or shapes * count
    digits = packed.ids.hex()
    step = 2 * _ID_BYTES
    ids = [digits[at : at + step] for at in range(0, step * count, step)]
    objects = []
    for number, label, shape in zip(ids, head["labels"], kinds, strict=True):
        item = shape.filled(numbers)
        item["id"] = number
        item["label"] = label
        objects.append(item)
    document: Json = head["rest"]
    document["objects"] = objects
    return document


class _Numbers:
    """Coordinates, handed out in the order in which they were stored."""

    def __init__(self, raw: bytes) -> None:
        self._all = struct.unpack(f"<{len(raw) // _NUMBER_BYTES}d", raw)
        self._at = 0

    def take(self, count: int) -> list[float]:
        start = self._at
        self._at = start + count
        return list(self._all[start : self._at])

    def points(self, value: int | list[int]) -> list[float]:
        """Return so many coordinates, or keypoints with whether each is visible."""
        if isinstance(value, int):
            return self.take(value)
        places = iter(self.take(2 * len(value)))
        return [number for seen in value for number in (next(places), next(places), seen)]


class _Shape:
    """An object without its id, its label and its coordinates."""

    def __init__(self, fields: Json) -> None:
        self._plain = {
            name: value for name, value in fields.items() if isinstance(value, str | bool)
        }
        self._others = [(name, value) for name, value in fields.items() if name not in self._plain]

    def filled(self, numbers: _Numbers) -> Json:
        """Return an object of this shape with the next coordinates."""
        item: Json = self._plain.copy()
        for name, value in self._others:
            if name == "box":
                item[name] = numbers.take(value)
            elif name == "points":
                item[name] = numbers.points(value)
            elif name == "parts":
                item[name] = [[numbers.take(ring) for ring in part] for part in value]
            else:
                item[name] = _copy(value)
        return item


def _id_of(item: Any) -> str:
    number = item.get("id") if isinstance(item, dict) else None
    if not isinstance(number, str) or not _ID.fullmatch(number):
        raise _NotPackableError
    return number


def _label_of(item: Json) -> int:
    label = item.get("label")
    if type(label) is not int:
        raise _NotPackableError
    return label


def _shape_of(item: Json, numbers: array[float]) -> Json:
    """Return an object without id and label, with counts in place of its coordinates."""
    shape: Json = {}
    # The head's names are sorted: coordinates come back in their order.
    for name, value in sorted(item.items()):
        if name == "box":
            shape[name] = _lift(value, numbers)
        elif name == "points":
            shape[name] = _lift_points(value, numbers)
        elif name == "parts":
            shape[name] = [[_lift(ring, numbers) for ring in _list(part)] for part in _list(value)]
        elif name not in ("id", "label"):
            shape[name] = value
    return shape


def _lift(value: Any, numbers: array[float]) -> int:
    """Move coordinates to `numbers` and return how many they are."""
    for number in _list(value):
        # A whole number would come back as another text.
        if type(number) is not float:
            raise _NotPackableError
    numbers.extend(value)
    return len(value)


def _lift_points(value: Any, numbers: array[float]) -> int | list[int]:
    """Move points to `numbers`; return their count, or whether each keypoint is visible."""
    seen = _list(value)[2::_KEYPOINT]
    if not seen or len(value) % _KEYPOINT or not all(type(number) is int for number in seen):
        return _lift(value, numbers)
    places = [number for at, number in enumerate(value) if at % _KEYPOINT != 2]
    _lift(places, numbers)
    return seen


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _NotPackableError
    return value


def _stored(numbers: array[float]) -> tuple[bytes, bytes]:
    """Return the form of the shorter bytes of coordinates, and these."""
    if sys.byteorder == "big":
        numbers.byteswap()
    raw = numbers.tobytes()
    frame = zstandard.ZstdCompressor(level=3).compress(raw)
    return (_ZIPPED_NUMBERS, frame) if len(frame) < len(raw) else (_PLAIN_NUMBERS, raw)


def _copy(value: Any) -> Any:
    """Return JSON whose lists and objects belong to nothing else."""
    if isinstance(value, dict):
        return {name: _copy(one) for name, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
