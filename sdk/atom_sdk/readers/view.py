"""Memory-mapped access to a view index: rows by number and by path, without loading the file."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from atom_sdk.errors import PathNotFoundError, UnknownFormatError, ViewIndexError
from atom_sdk.manifests.view_annotations import ANNOTATIONS_FIELD
from atom_sdk.manifests.views import (
    CHECK_BYTES,
    METADATA_CONTENT,
    METADATA_FORMAT,
    METADATA_LINKS,
    METADATA_PACKS,
    METADATA_SELECTOR,
    VIEW_FIELDS,
    VIEW_FORMAT,
    check_view,
)

_DIGEST_BYTES = 32


class ViewLinks(NamedTuple):
    """Targets of links by path: those that stay inside of the version's tree, and the others."""

    inside: dict[str, str]
    leaving: dict[str, str]


class ViewIndex:
    """The rows of a view in path order; all columns are views of the mapped file.

    `sizes`, `offsets` (int64, bytes), `pack_ids`, `label_codes`, `split_codes` (int32, -1 for none)
    have the shape (rows,). `packs` are digests of 32 bytes; `labels` and `splits` are the names
    behind the codes.
    """

    def __init__(self, path: Path | str) -> None:
        """Map the file and check it once. Raises ViewIndexError or UnknownFormatError."""
        self.path = Path(path)
        batch = _open(self.path)
        metadata = batch.schema.metadata or {}
        self._batch = batch
        self.content = bytes.fromhex(metadata[METADATA_CONTENT].decode())
        self.packs = _digests(bytes.fromhex(metadata[METADATA_PACKS].decode()))
        self.sizes: NDArray[np.int64] = batch.column("size").to_numpy()
        self.offsets: NDArray[np.int64] = batch.column("offset").to_numpy()
        self.pack_ids: NDArray[np.int32] = batch.column("pack_id").to_numpy()
        self.labels, self.label_codes = _category(batch.column("label"))
        self.splits, self.split_codes = _category(batch.column("split"))
        selection = json.loads(metadata.get(METADATA_SELECTOR, b"{}"))
        # Whether the version has splits, also where this view has none of their files.
        self.has_splits = bool(self.splits) or bool(selection.get("has_splits"))
        self._paths = _PathColumn(batch.column("path"))
        # A column without rows has no buffer.
        self._digests = memoryview(batch.column("digest").buffers()[1] or b"")

    @property
    def annotations(self) -> pa.StructArray | None:
        """Annotations of each row's picture; None if the version has no layer of objects.

        Null for a picture that nobody has looked at. Fields: see `view_annotations`.
        """
        place = self._batch.schema.get_field_index(ANNOTATIONS_FIELD.name)
        return None if place < 0 else self._batch.column(place)

    @cached_property
    def links(self) -> ViewLinks:
        """The links among what was selected; those to files are rows as well."""
        value = json.loads((self._batch.schema.metadata or {}).get(METADATA_LINKS, b"{}"))
        return ViewLinks(value.get("inside", {}), value.get("leaving", {}))

    def __len__(self) -> int:
        """Number of rows."""
        return int(self._batch.num_rows)

    def path_of(self, row: int) -> str:
        """Path of a row."""
        return self._paths[row].decode()

    def path_array(self) -> pa.Array:
        """All paths as UTF-8 bytes, type large_binary, shape (rows,); nothing is copied."""
        return self._batch.column("path").cast(pa.large_binary())

    def digest_of(self, row: int) -> bytes:
        """BLAKE3 of a row's bytes, 32 bytes."""
        return bytes(self._digests[row * _DIGEST_BYTES : (row + 1) * _DIGEST_BYTES])

    def rows_at_source(self) -> NDArray[np.int64]:
        """Rows of files whose pack is their own digest, a pin: see `at_their_source`."""
        if not len(self):
            return np.empty(0, np.int64)
        packs = np.frombuffer(b"".join(self.packs), np.uint8).reshape(-1, _DIGEST_BYTES)
        digests = np.frombuffer(self._digests, np.uint8)[: len(self) * _DIGEST_BYTES]
        same = packs[self.pack_ids] == digests.reshape(-1, _DIGEST_BYTES)
        return np.flatnonzero(same.all(axis=1))

    def row_of(self, path: str) -> int:
        """Row of a path, by binary search. Raises PathNotFoundError."""
        encoded = path.encode()
        row = bisect_left(self._paths, encoded)
        if row == len(self._paths) or self._paths[row] != encoded:
            raise PathNotFoundError(path)
        return row

    def label_of(self, row: int) -> str | None:
        """Label of a row, if it has one."""
        code = int(self.label_codes[row])
        return self.labels[code] if code >= 0 else None

    def split_of(self, row: int) -> str | None:
        """Split of a row, if it has one."""
        code = int(self.split_codes[row])
        return self.splits[code] if code >= 0 else None


def is_readable(path: Path) -> bool:
    """Whether there is a view here, whole and of this format; another one can be built again."""
    if not path.exists():
        return False
    try:
        ViewIndex(path)
    except (UnknownFormatError, ViewIndexError):
        return False
    return True


class _PathColumn:
    """A sequence of UTF-8 paths over Arrow buffers; an item costs one small copy."""

    def __init__(self, column: pa.Array) -> None:
        _, offsets, data = column.buffers()
        self._offsets = memoryview(offsets or b"").cast("B").cast("q")
        self._data = memoryview(data or b"")
        self._length = len(column)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: int) -> bytes:
        offsets = self._offsets
        return bytes(self._data[offsets[row] : offsets[row + 1]])


def _open(path: Path) -> pa.RecordBatch:
    try:
        data = pa.memory_map(str(path)).read_buffer()
    except (OSError, pa.ArrowException) as error:
        raise ViewIndexError(f"The view index {path} cannot be opened: {error}.") from error
    # First of all: Arrow believes what a file says about itself, also that it is longer.
    if not check_view(data):
        raise ViewIndexError(f"The view index {path} is damaged, or older than {VIEW_FORMAT}.")
    reader = pa.ipc.open_file(data.slice(0, len(data) - CHECK_BYTES))
    found = (reader.schema.metadata or {}).get(METADATA_FORMAT, b"").decode()
    if found != VIEW_FORMAT:
        raise UnknownFormatError(VIEW_FORMAT, found)
    fields = (VIEW_FIELDS, [*VIEW_FIELDS, ANNOTATIONS_FIELD])
    is_known = any(reader.schema.equals(pa.schema(each)) for each in fields)
    if reader.num_record_batches != 1 or not is_known:
        raise ViewIndexError(f"The view index {path} does not have the columns of {VIEW_FORMAT}.")
    return reader.get_batch(0)


def _digests(joined: bytes) -> list[bytes]:
    return [joined[start : start + _DIGEST_BYTES] for start in range(0, len(joined), _DIGEST_BYTES)]


def _category(column: pa.DictionaryArray) -> tuple[list[str], NDArray[np.int32]]:
    return column.dictionary.to_pylist(), column.indices.fill_null(-1).to_numpy()
