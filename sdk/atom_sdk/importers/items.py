"""The items that an importer yields: files with their metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that can be read again: their size, and what opens them.

    `mtime_ns` is of the file that they lie in. A look does not fetch bytes of an address: those
    are not there.
    """

    size_bytes: int
    open: Callable[[], IO[bytes]]
    mtime_ns: int = 0
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the version to be: path, bytes, label, split ("train", "val", "test").

    `document` is the JSON of what is drawn on the picture, None where nobody has looked at it;
    `objects` counts its objects by class.
    """

    path: str
    blob: Blob
    label: str | None = None
    split: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, int] = field(default_factory=dict)
    document: str | None = None


def file_blob(path: Path) -> Blob:
    """Bytes of a file. Raises OSError."""
    status = path.stat()
    return Blob(status.st_size, lambda: path.open("rb"), status.st_mtime_ns)


def read_whole(blob: Blob) -> bytes:
    """All bytes of a blob."""
    with blob.open() as stream:
        return stream.read()
