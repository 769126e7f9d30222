"""The items that an importer yields: files with their metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that can be read again: their size, and what opens them.

    `mtime_ns` is of the file that they lie in.
    """

    size_bytes: int
    open: Callable[[], IO[bytes]]
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the version to be: path, bytes, label, split ("train", "val", "test").

    `objects` counts the objects that the attributes hold, by class.
    """

    path: str
    blob: Blob
    label: str | None = None
    split: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, int] = field(default_factory=dict)


def file_blob(path: Path) -> Blob:
    """Bytes of a file. Raises OSError."""
    status = path.stat()
    return Blob(status.st_size, lambda: path.open("rb"), status.st_mtime_ns)


def read_whole(blob: Blob) -> bytes:
    """All bytes of a blob."""
    with blob.open() as stream:
        return stream.read()
