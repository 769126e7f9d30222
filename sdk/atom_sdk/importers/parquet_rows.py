"""Parquet as Hugging Face writes it: a row a picture, its bytes in `struct<bytes, path>`.

Classes are numbers, whose names are in the schema's metadata; a file is one shard of one split:
`train-00000-of-00004.parquet`. Files are named after shard and row, `train/00000-00000012.png`.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from io import BytesIO
from threading import Lock
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.importers.downloads import Downloads
from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    FormatUnknownError,
    NoPicturesInTableError,
)
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

_SHARD = re.compile(r"(?P<split>.+?)-(?P<number>\d{5})-of-\d{5}")
_IMAGE_COLUMNS = ("image", "img", "picture", "file")
_LABEL_COLUMNS = ("label", "labels", "class", "category", "fine_label")
_MAGIC = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}
_ATTRIBUTE_TYPES = (pa.types.is_string, pa.types.is_integer, pa.types.is_floating)
_DAMAGES = (pa.ArrowException, OSError)


def detect(tree: Tree) -> str | None:
    """Say why the tree is Parquet, None if it is not."""
    paths = tree.with_suffix(".parquet")
    if not paths or not _may_have_pictures(tree, paths[0]):
        return None
    return f"{paths[0]} is a Parquet file"


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the pictures of all shards. Raises FormatUnknownError, AnnotationsUnreadableError."""
    files = tree.with_suffix(".parquet")
    if not files:
        raise FormatUnknownError(f"{tree.name} has no Parquet file.")
    for number, path in enumerate(files):
        try:
            shard = _Shard(tree, path, number, reading.downloads)
            yield from shard.items(report)
        except _DAMAGES as error:
            raise AnnotationsUnreadableError(f"{path} cannot be read: {error}.") from error


class _Shard:
    """One file; row groups are read one at a time, and the last one is kept."""

    def __init__(self, tree: Tree, path: str, number: int, downloads: Downloads) -> None:
        blob = tree.files[path]
        self._path = path
        self._mtime_ns = blob.mtime_ns
        stream = tree.resources.enter_context(_seekable(blob, downloads))
        self._file = tree.resources.enter_context(pq.ParquetFile(stream))
        self._schema: pa.Schema = self._file.schema_arrow
        self._image = _image_column(self._schema, path)
        self._label = next((n for n in _LABEL_COLUMNS if n in self._schema.names), None)
        self._names = _class_names(self._schema, self._label)
        name = path.rpartition("/")[2].removesuffix(".parquet")
        shard = _SHARD.fullmatch(name)
        said = shard["split"] if shard else name
        self._split = split_of(said) or split_in(path)
        self._prefix = f"{self._split or said}/{int(shard['number']) if shard else number:05d}"
        self._lock = Lock()
        self._kept: tuple[int, pa.ChunkedArray] | None = None

    def items(self, report: Report) -> Iterator[Item]:
        """Yield a picture a row; the bytes are read again when they are packed."""
        first = 0
        others = [name for name in self._schema.names if name not in (self._image, self._label)]
        others = [name for name in others if _is_attribute(self._schema.field(name).type)]
        for group in range(self._file.num_row_groups):
            images = self._images(group)
            columns = [*others, *([self._label] if self._label else [])]
            rows = self._file.read_row_group(group, columns=columns).to_pylist()
            sizes = pc.binary_length(images).to_pylist()
            for row, size in enumerate(sizes):
                item = self._item(
                    group, row, first + row, (size, images), rows[row] if rows else {}
                )
                if item is None:
                    report.skip(f"{self._path}, row {first + row}", "it has no bytes of a picture")
                elif self._label and item.label is None:
                    report.skip(item.path, "its class has no name; it goes without a label")
                if item is not None:
                    yield item
            first += len(sizes)

    def _item(
        self,
        group: int,
        row: int,
        number: int,
        found: tuple[int | None, pa.ChunkedArray],
        values: Mapping[str, Any],
    ) -> Item | None:
        size_bytes, images = found
        if not size_bytes:
            return None
        head = images[row].as_py()[:16]
        path = f"{self._prefix}-{number:08d}{_suffix(head)}"
        attributes = {
            name: value
            for name, value in values.items()
            if name != self._label and value is not None
        }
        blob = Blob(size_bytes, partial(self._open, group, row), self._mtime_ns)
        label = self._label_of(values.get(self._label or ""))
        return Item(path, blob, label, self._split, attributes)

    def _label_of(self, value: Any) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and self._names:
            return self._names[value] if 0 <= value < len(self._names) else None
        return None if value is None or isinstance(value, (list, dict)) else str(value)

    def _open(self, group: int, row: int) -> IO[bytes]:
        with self._lock:
            return BytesIO(self._images(group)[row].as_py())

    def _images(self, group: int) -> pa.ChunkedArray:
        if self._kept is None or self._kept[0] != group:
            column = self._file.read_row_group(group, columns=[self._image])[self._image]
            if pa.types.is_struct(column.type):
                column = pc.struct_field(column, "bytes")
            self._kept = group, column
        return self._kept[1]


def _seekable(blob: Blob, downloads: Downloads) -> IO[bytes]:
    stream = blob.open()
    if stream.seekable():
        return stream
    # In an archive: Parquet is read from its end.
    spool: IO[bytes] = tempfile.TemporaryFile(dir=downloads.folder)  # noqa: SIM115  # returned
    with stream:
        shutil.copyfileobj(stream, spool)
    spool.seek(0)
    return spool


def _image_column(schema: pa.Schema, path: str) -> str:
    named = [name for name in _IMAGE_COLUMNS if name in schema.names]
    for name in [*named, *schema.names]:
        kind = schema.field(name).type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return str(name)
        if pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0:
            return str(name)
    raise NoPicturesInTableError(f"{path} has no column with the bytes of pictures.")


def _may_have_pictures(tree: Tree, path: str) -> bool:
    """False only for a table that is sure to have none; `read` says what is wrong with others."""
    with tree.files[path].open() as stream:
        if not stream.seekable():
            return True
        try:
            _image_column(pq.read_schema(stream), path)
        except NoPicturesInTableError:
            return False
        except _DAMAGES:
            return True
    return True


def _class_names(schema: pa.Schema, label: str | None) -> list[str]:
    """The names of a class label, of the metadata that Hugging Face's `datasets` writes."""
    try:
        metadata = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        feature = metadata["info"]["features"][label]
        names = feature["names"]
        return [str(name) for name in names] if isinstance(names, list) else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _is_attribute(kind: pa.DataType) -> bool:
    return pa.types.is_boolean(kind) or any(fits(kind) for fits in _ATTRIBUTE_TYPES)


def _suffix(head: bytes) -> str:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    found = (suffix for magic, suffix in _MAGIC.items() if head.startswith(magic))
    return next(found, ".bin")
