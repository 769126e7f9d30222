"""Many files in little memory: what a folder of ten million files is listed into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from atom_sdk.packs.plan import SourceFile

_CHUNK_FILES = 4096
_CODEC = "zstd"


class _Chunk(NamedTuple):
    """Some files: their paths joined by NUL and compressed; sizes and times, shape (files,).

    Sizes are numbers of the fewest bytes that hold the largest of them.
    """

    paths: bytes
    paths_bytes: int
    sizes: NDArray[np.unsignedinteger[Any]]
    times_ns: NDArray[np.int64]

    def files(self) -> list[SourceFile]:
        joined = pa.decompress(self.paths, self.paths_bytes, _CODEC, asbytes=True).decode()
        columns = (joined.split("\0"), self.sizes.tolist(), self.times_ns.tolist())
        return list(map(SourceFile, *columns))


class FileList(Sequence[SourceFile]):
    """Files in the order in which they were given.

    About 20 bytes each, a tenth of what a list of them takes; they are made again when asked for.
    """

    def __init__(self, files: Iterable[SourceFile] = ()) -> None:
        """Take all of `files`. Paths have no NUL, as `encode_path` sees to."""
        self._chunks: list[_Chunk] = []
        self._length = 0
        # The chunk that was read last: whoever reads one file reads its neighbours.
        self._open: tuple[int, list[SourceFile]] = (-1, [])
        stream = iter(files)
        while chunk := list(islice(stream, _CHUNK_FILES)):
            self._chunks.append(_packed(chunk))
            self._length += len(chunk)

    def __len__(self) -> int:
        """Number of files."""
        return self._length

    def __iter__(self) -> Iterator[SourceFile]:
        """All files, of which one chunk is in memory."""
        for chunk in self._chunks:
            yield from chunk.files()

    @overload
    def __getitem__(self, index: int) -> SourceFile: ...

    @overload
    def __getitem__(self, index: slice) -> list[SourceFile]: ...

    def __getitem__(self, index: int | slice) -> SourceFile | list[SourceFile]:
        """The file with this number. Raises IndexError."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(f"file {index} of {self._length}")
        chunk, within = divmod(index % self._length, _CHUNK_FILES)
        number, files = self._open
        if number != chunk:
            files = self._chunks[chunk].files()
            self._open = chunk, files
        return files[within]


def _packed(files: list[SourceFile]) -> _Chunk:
    joined = "\0".join(file.path for file in files).encode()
    size_type = np.min_scalar_type(max(file.size for file in files))
    return _Chunk(
        pa.compress(joined, _CODEC, asbytes=True),
        len(joined),
        np.fromiter((file.size for file in files), size_type, len(files)),
        np.fromiter((file.mtime_ns for file in files), np.int64, len(files)),
    )
