"""The meaning of the columns of a Parquet file: files, a label, objects, attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.importers.errors import NoPicturesInTableError
from atom_sdk.importers.hf_features import class_names, features_of, is_media
from atom_sdk.importers.media_bytes import HEAD_BYTES, suffix_of
from atom_sdk.importers.row_objects import COLUMNS as OBJECT_COLUMNS
from atom_sdk.importers.row_objects import has_boxes
from atom_sdk.sentences import Sentence

_MEDIA_NAMES = ("image", "img", "picture", "file", "audio", "video", "bytes", "content")
_LABEL_NAMES = ("label", "labels", "class", "category", "fine_label")
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """Names of columns by what they hold; the first of `media` are the files of the rows.

    `left_out` are columns of bytes that are no files.
    """

    media: tuple[str, ...]
    label: str | None
    label_names: tuple[str, ...]
    objects: str | None
    attributes: tuple[str, ...]
    left_out: tuple[str, ...]
    features: Mapping[str, Any]


def parquet_columns(file: pq.ParquetFile, path: str) -> ParquetColumns:
    """Return the columns of a file. Raises NoPicturesInTableError."""
    schema: pa.Schema = file.schema_arrow
    features = features_of(schema)
    media = _media(file, schema, features)
    if not media:
        raise NoPicturesInTableError(
            Sentence(
                "formats.no_picture_column",
                "{path} has no column with the bytes of pictures.",
                path=path,
            )
        )
    others = [name for name in schema.names if name not in media]
    label = _label(schema, others, features)
    objects = next((name for name in others if _is_objects(schema.field(name))), None)
    rest = [name for name in others if name not in (label, objects)]
    left_out = tuple(name for name in rest if _has_bytes(schema.field(name).type))
    attributes = tuple(name for name in rest if name not in left_out)
    names = tuple(class_names(features.get(label or "")))
    return ParquetColumns(media, label, names, objects, attributes, left_out, features)


def is_list(kind: pa.DataType) -> bool:
    """Whether a column holds lists of any kind."""
    return any(is_kind(kind) for is_kind in _LISTS)


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a column holds bytes of any length."""
    return any(is_kind(kind) for is_kind in _BYTES)


def is_file(kind: pa.DataType) -> bool:
    """Whether a column holds files as Hugging Face does: a struct with bytes and a path."""
    if not pa.types.is_struct(kind) or kind.get_field_index("bytes") < 0:
        return False
    return is_bytes(kind.field("bytes").type)


def _media(file: pq.ParquetFile, schema: pa.Schema, features: Mapping[str, Any]) -> tuple[str, ...]:
    """Structs of files and lists of them; a column of plain bytes only where nothing else is."""
    order = {name: place for place, name in enumerate(_MEDIA_NAMES)}
    names = sorted(schema.names, key=lambda name: order.get(name, len(order)))
    structs = [name for name in names if is_file(_item_type(schema.field(name).type))]
    plain = [name for name in names if is_bytes(schema.field(name).type)]
    sure = [name for name in plain if name in order or is_media(features.get(name))]
    if structs or sure:
        return (*structs, *sure)
    return tuple(name for name in plain if _begins_as_media(file, name))[:1]


def _begins_as_media(file: pq.ParquetFile, column: str) -> bool:
    if not file.num_row_groups:
        return False
    values = file.read_row_group(0, columns=[column])[column].drop_null()
    return len(values) > 0 and suffix_of(values[0].as_py()[:HEAD_BYTES]) is not None


def _item_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if is_list(kind) else kind


def _label(schema: pa.Schema, names: list[str], features: Mapping[str, Any]) -> str | None:
    """A column of single labels by its name, else the only class label of the schema."""
    single = [name for name in names if not pa.types.is_nested(schema.field(name).type)]
    named = next((name for name in _LABEL_NAMES if name in single), None)
    classes = [name for name in single if class_names(features.get(name))]
    return named or (classes[0] if len(classes) == 1 else None)


def _is_objects(field: pa.Field) -> bool:
    kind = _item_type(field.type)
    if field.name not in OBJECT_COLUMNS or not pa.types.is_struct(kind):
        return False
    return has_boxes({kind.field(place).name: None for place in range(kind.num_fields)})


def _has_bytes(kind: pa.DataType) -> bool:
    if is_bytes(kind):
        return True
    if pa.types.is_dictionary(kind):
        return _has_bytes(kind.value_type)
    fields = [kind.field(place) for place in range(kind.num_fields)]
    return any(_has_bytes(field.type) for field in fields)
