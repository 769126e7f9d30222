"""Where each content of a large version is stored: a sorted array of numbers, and a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_RECORD = np.dtype([("digest", "V32"), ("offset", "<i8"), ("size", "<i8"), ("pack", "<i4")])


class Known(NamedTuple):
    """Where a content is stored: pack digest (32 bytes), byte offset in it, size in bytes."""

    pack: bytes
    offset: int
    size: int


class StoredContents(Mapping[bytes, Known]):
    """Contents by digest; of equal ones the first that was added.

    Eight bytes of memory each: the upper bits of the digest's beginning, the lower ones the number
    of a record in a file, which says whether the rest of the digest is the same.
    """

    def __init__(self, path: Path, most: int) -> None:
        """`path` is written as `most` contents at most are added."""
        self._path = path
        self._file = pa.OSFile(str(path), "wb")
        self._row_bits = np.uint64(max(most.bit_length(), 1))
        self._keys: NDArray[np.uint64] = np.empty(most, np.uint64)
        self._rows = 0
        self._packs: dict[bytes, int] = {}
        self._pack_names: list[bytes] = []

    def add(self, table: pa.Table) -> None:
        """Take contents with digest, offset, size and pack, none of them null. Raises OSError."""
        rows = len(table)
        if not rows:
            return
        digests = table["digest"].combine_chunks()
        records = np.empty(rows, _RECORD)
        records["digest"] = np.frombuffer(digests.buffers()[1], "V32", rows, 32 * digests.offset)
        for name in ("offset", "size"):
            records[name] = table[name].to_numpy()
        records["pack"] = self._pack_numbers(table["pack"])
        self._file.write(records.tobytes())
        here = slice(self._rows, self._rows + rows)
        numbers = np.arange(here.start, here.stop, dtype=np.uint64)
        starts = np.ascontiguousarray(records["digest"]).view("<u8")[::4]
        self._keys[here] = (starts >> self._row_bits << self._row_bits) | numbers
        self._rows += rows

    def _pack_numbers(self, column: pa.ChunkedArray) -> NDArray[np.int32]:
        coded = column.combine_chunks().dictionary_encode()
        names = coded.dictionary.to_pylist()
        for name in names:
            if self._packs.setdefault(name, len(self._pack_names)) == len(self._pack_names):
                self._pack_names.append(name)
        numbers = np.array([self._packs[name] for name in names], np.int32)
        found: NDArray[np.int32] = numbers[coded.indices.to_numpy()]
        return found

    def close(self) -> None:
        """End adding: from now on contents can be asked for."""
        self._file.close()
        self._file = pa.OSFile(str(self._path))
        self._keys = self._keys[: self._rows]
        self._keys.sort()

    def __getitem__(self, digest: bytes) -> Known:
        """Where a content is stored. Raises KeyError."""
        if not digest:
            raise KeyError(digest)
        start = np.frombuffer(digest, "<u8", 1)[0] >> self._row_bits
        at = int(np.searchsorted(self._keys, start << self._row_bits))
        while at < self._rows and self._keys[at] >> self._row_bits == start:
            row = self._keys[at] - (start << self._row_bits)
            record = self._record(int(row))
            if record["digest"].tobytes() == digest:
                pack = self._pack_names[record["pack"]]
                return Known(pack, int(record["offset"]), int(record["size"]))
            at += 1
        raise KeyError(digest.hex())

    def _record(self, row: int) -> np.void:
        data = self._file.read_at(_RECORD.itemsize, row * _RECORD.itemsize)
        found: np.void = np.frombuffer(data, _RECORD)[0]
        return found

    def __iter__(self) -> Iterator[bytes]:
        """The digests, each as often as it was added."""
        for row in range(self._rows):
            yield self._record(row)["digest"].tobytes()

    def __len__(self) -> int:
        """How many contents were added."""
        return self._rows
