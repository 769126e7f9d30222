"""The files of a run's dataset as an importer reads them: by path, opened when they are needed."""

from __future__ import annotations

import io
from functools import partial
from typing import IO, Any

from atom_sdk.importers.items import Blob
from atom_sdk.readers import LocalDataset
from atom_sdk.run.split import SplitView

_BUFFER_BYTES = 1 << 18


def stored_files(samples: SplitView) -> dict[str, Blob]:
    """Return all files of a view by path; their bytes are mapped when they are opened."""
    index = samples.dataset.index
    return {
        index.path_of(row): Blob(int(index.sizes[row]), partial(_open, samples.dataset, row))
        for row in samples.rows.tolist()
    }


def _open(dataset: LocalDataset, row: int) -> IO[bytes]:
    return io.BufferedReader(_MemoryFile(dataset[row].data), _BUFFER_BYTES)


class _MemoryFile(io.RawIOBase):
    """Reads mapped memory as a file: `BytesIO` would copy an archive as a whole."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read at any place."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place. Raises ValueError for one before the beginning."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}[whence]
        if base + offset < 0:
            raise ValueError("negative seek position")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as the bytes go."""
        target = memoryview(buffer).cast("B")
        piece = self._data[self._at : self._at + len(target)]
        target[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
