"""Parquet as Hugging Face writes it: a row a picture, its bytes in `struct<bytes, path>`.

Classes are numbers, whose names are in the schema's metadata; a file is one shard of one split:
`train-00000-of-00004.parquet`. Files are named after shard and row, `train/00000-00000012.png`;
those of a list have their place in it, `…-00000012-001.png`, those of a further column its name,
`…-00000012-mask.png`. Sounds and videos are read alike.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from threading import Lock
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.importers.downloads import Downloads
from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    FormatUnknownError,
    NoPicturesInTableError,
)
from atom_sdk.importers.hf_features import with_names
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.json_values import ValueRefusedError, json_value
from atom_sdk.importers.media_bytes import HEAD_BYTES, suffix_of
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.parquet_columns import is_file, is_list, parquet_columns
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.row_objects import ObjectReading
from atom_sdk.importers.sentences import not_readable
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

_SHARD = re.compile(r"(?P<split>.+?)-(?P<number>\d{5})-of-\d{5}")
_CHUNK_BYTES = 1 << 20
_TAIL_CHUNKS = 16
_DAMAGES = (pa.ArrowException, OSError)


def detect(tree: Tree) -> str | None:
    """Say why the tree is Parquet, None if it is not."""
    paths = tree.with_suffix(".parquet")
    path = next((path for path in paths if _may_have_pictures(tree, path)), None)
    return f"{path} is a Parquet file" if path else None


def explain(tree: Tree, path: str) -> str | None:
    """Return why a Parquet file is not read, None for one that can be."""
    if _may_have_pictures(tree, path):
        return None
    return (
        "a Parquet file was found and not read: it has no column with the bytes of pictures. "
        "If it says something of other files, name it metadata.parquet, with a column file_name"
    )


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the pictures of all shards.

    Raises FormatUnknownError, AnnotationsUnreadableError, NoPicturesInTableError.
    """
    files = tree.with_suffix(".parquet")
    if not files:
        raise FormatUnknownError(
            Sentence("formats.no_parquet", "{name} has no Parquet file.", name=tree.name)
        )
    shards = 0
    for number, path in enumerate(files):
        try:
            shard = _Shard(tree, path, number, reading.downloads)
            shards += 1
            yield from shard.items(report)
        except NoPicturesInTableError:
            if number == len(files) - 1 and not shards:
                raise
        except _DAMAGES as error:
            raise AnnotationsUnreadableError(not_readable(path, error)) from error


class _Cell(NamedTuple):
    """A file in a column: its row, its place in a list or None, its size, how its path ends."""

    row: int
    place: int | None
    size_bytes: int
    suffix: str


class _Shard:
    """One file; row groups are read one at a time, and the last one of a column is kept."""

    def __init__(self, tree: Tree, path: str, number: int, downloads: Downloads) -> None:
        """Raises NoPicturesInTableError."""
        blob = tree.files[path]
        self._path = path
        self._mtime_ns = blob.mtime_ns
        stream = tree.resources.enter_context(_seekable(blob, downloads))
        self._file = tree.resources.enter_context(pq.ParquetFile(stream))
        self._columns = parquet_columns(self._file, path)
        self._objects = ObjectReading(corners=tree.text.has_corners)
        name = path.rpartition("/")[2].removesuffix(".parquet")
        shard = _SHARD.fullmatch(name)
        stem = shard["split"] if shard else name
        self._split = split_of(stem) or split_in(path)
        self._prefix = f"{self._split or stem}/{int(shard['number']) if shard else number:05d}"
        self._lock = Lock()
        self._kept: dict[str, tuple[int, pa.ChunkedArray]] = {}

    def items(self, report: Report) -> Iterator[Item]:
        """Yield the files of all rows; the bytes are read again when they are packed."""
        columns = self._columns
        for name in columns.left_out:
            reason = "its values are bytes, which no attribute holds"
            report.skip(f"{self._path}: column {name}", reason)
        first = 0
        for group in range(self._file.num_row_groups):
            rows = self._values(group)
            for name in columns.media:
                yield from self._files(group, name, first, rows, report)
            first += self._file.metadata.row_group(group).num_rows
        for note in self._objects.notes(self._path):
            report.note(note)

    def _values(self, group: int) -> list[dict[str, Any]]:
        """The rows of a group without its files."""
        columns = self._columns
        more = [name for name in (columns.label, columns.objects) if name]
        count = self._file.metadata.row_group(group).num_rows
        if not columns.attributes and not more:
            return [{} for _ in range(count)]
        table = self._file.read_row_group(group, columns=[*columns.attributes, *more])
        return [dict(row) for row in table.to_pylist()]

    def _files(
        self, group: int, name: str, first: int, rows: list[dict[str, Any]], report: Report
    ) -> Iterator[Item]:
        """The files of one column; those of the first column have what is known of the row."""
        is_main = name == self._columns.media[0]
        filled: set[int] = set()
        for cell in self._cells(group, name):
            filled.add(cell.row)
            path = self._file_path(name, first + cell.row, cell)
            blob = Blob(cell.size_bytes, partial(self._open, group, name, cell), self._mtime_ns)
            if is_main:
                yield self._item(path, blob, rows[cell.row], report)
            else:
                yield Item(path, blob, split=self._split)
        for row in range(len(rows)) if is_main else ():
            if row not in filled:
                self._lose(f"{self._path}, row {first + row}", rows[row], report)

    def _lose(self, subject: str, values: Mapping[str, Any], report: Report) -> None:
        label = self._label_of(values)
        objects, _ = self._objects.read(subject, self._objects_of(values), {})
        report.lose_picture(subject, "it has no bytes of a picture", objects.counts(), label)

    def _file_path(self, column: str, row: int, cell: _Cell) -> str:
        place = "" if cell.place is None else f"-{cell.place:03d}"
        more = "" if column == self._columns.media[0] else f"-{column.replace('/', '_')}"
        return f"{self._prefix}-{row:08d}{place}{more}{cell.suffix}"

    def _item(self, path: str, blob: Blob, values: Mapping[str, Any], report: Report) -> Item:
        label = self._label_of(values)
        if self._columns.label and label is None:
            report.skip(path, "its class has no name; it goes without a label")
        attributes = self._attributes(path, values, report)
        if self._columns.objects is None:
            return Item(path, blob, label, self._split, attributes)
        objects, unit = self._objects.read(path, self._objects_of(values), attributes)
        item = objects.item(path, blob, report, self._split, attributes, unit)
        return replace(item, label=label)

    def _objects_of(self, values: Mapping[str, Any]) -> Any:
        name = self._columns.objects or ""
        return with_names(values.get(name), self._columns.features.get(name))

    def _attributes(self, path: str, values: Mapping[str, Any], report: Report) -> dict[str, Any]:
        attributes = {}
        for name in self._columns.attributes:
            try:
                value = json_value(with_names(values[name], self._columns.features.get(name)))
            except (ValueRefusedError, RecursionError) as refused:
                report.skip(f"{path}: column {name}", str(refused))
                continue
            if value is not None:
                attributes[name] = value
        return attributes

    def _label_of(self, values: Mapping[str, Any]) -> str | None:
        value = values.get(self._columns.label or "")
        names = self._columns.label_names
        if isinstance(value, int) and not isinstance(value, bool) and names:
            return names[value] if 0 <= value < len(names) else None
        return None if value is None or value == "" else str(value)

    def _cells(self, group: int, name: str) -> Iterator[_Cell]:
        """The files of a column that have bytes."""
        column = self._column(group, name)
        if not is_list(column.type):
            yield from (cell for cell in map(_cell, range(len(column)), column) if cell)
            return
        for row, values in enumerate(column):
            for place, value in enumerate(values if values.is_valid else ()):
                cell = _cell(row, value, place)
                if cell is not None:
                    yield cell

    def _open(self, group: int, name: str, cell: _Cell) -> IO[bytes]:
        with self._lock:
            value = self._column(group, name)[cell.row]
            if cell.place is not None:
                value = value[cell.place]
            return BytesIO(_bytes_of(value).as_py())

    def _column(self, group: int, name: str) -> pa.ChunkedArray:
        kept = self._kept.get(name)
        if kept is None or kept[0] != group:
            kept = group, self._file.read_row_group(group, columns=[name])[name]
            self._kept[name] = kept
        return kept[1]


def _bytes_of(value: pa.Scalar) -> pa.Scalar:
    return value["bytes"] if is_file(value.type) else value


def _cell(row: int, value: pa.Scalar, place: int | None = None) -> _Cell | None:
    if not value.is_valid:
        return None
    data = _bytes_of(value)
    size_bytes = pc.binary_length(data).as_py() if data.is_valid else 0
    if not size_bytes:
        return None
    has_name = is_file(value.type) and value.type.get_field_index("path") >= 0
    name = value["path"].as_py() if has_name else None
    suffix = suffix_of(data.as_buffer()[:HEAD_BYTES].to_pybytes(), name) or ".bin"
    return _Cell(row, place, size_bytes, suffix)


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


def _may_have_pictures(tree: Tree, path: str) -> bool:
    """False only for a table that is sure to have none; `read` says what is wrong with others."""
    with tree.files[path].open() as stream:
        try:
            parquet_columns(pq.ParquetFile(_end_of(stream)), path)
        except NoPicturesInTableError:
            return False
        except _DAMAGES:
            return True
    return True


def _end_of(stream: IO[bytes]) -> IO[bytes]:
    """The stream, or the last bytes of one in an archive: the schema lies at the end."""
    if stream.seekable():
        return stream
    chunks: deque[bytes] = deque()
    while chunk := stream.read(_CHUNK_BYTES):
        chunks.append(chunk)
        while len(chunks) > _TAIL_CHUNKS:
            chunks.popleft()
    return BytesIO(b"".join(chunks))
