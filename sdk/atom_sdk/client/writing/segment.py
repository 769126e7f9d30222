"""Files that a writer has taken and not sent yet: a spool of bytes, and a change of each path.

A path that is written twice keeps the last bytes. Nothing here talks to a server.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from atom_sdk.client.errors import AttributesError
from atom_sdk.client.push.attributes import MAX_ATTRIBUTE_BYTES, UNREADABLE
from atom_sdk.manifests.layers.layers import is_label
from atom_sdk.media_types import media_type_of
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.plan import PackLimits, PackPlan, SourceFile, plan_packs
from atom_sdk.packs.writer import FileSink, PackSummary, PackWriter

_COPY_BYTES = 1 << 20
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Details:
    """Metadata of a file beside its bytes; `attributes` are canonical JSON.

    Without a split, a file has the one of its path, or is for training.
    """

    label: str | None = None
    attributes: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class Stored:
    """Bytes that the project has already: pack and digest are 32 bytes, offset is in the pack."""

    pack: bytes
    offset: int
    size: int
    digest: bytes


@dataclass(frozen=True)
class _Spooled:
    file: Path
    offset: int
    size: int
    details: Details


def details_of(label: str | None, attributes: Mapping[str, Any] | None) -> Details:
    """Check a label and attributes. Raises AttributesError."""
    if label is not None and not (isinstance(label, str) and is_label(label)):
        raise AttributesError("A label is plain text of 1 to 255 bytes.")
    if not attributes:
        return Details(label)
    if UNREADABLE in attributes:
        raise AttributesError(f"Only the server says what is {UNREADABLE!r}.")
    try:
        text = json.dumps(
            dict(attributes),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        )
        size_bytes = len(text.encode())
    except (TypeError, ValueError, RecursionError) as exc:
        raise AttributesError(f"The attributes are no JSON object: {exc}.") from exc
    if size_bytes > MAX_ATTRIBUTE_BYTES:
        raise AttributesError(f"Attributes may have {MAX_ATTRIBUTE_BYTES} bytes at most.")
    return Details(label, text)


@dataclass
class Segment:
    """Files that are persisted together, by one commit on the staging branch."""

    spool: Path
    size_bytes: int = 0
    began_at: float = field(default_factory=time.monotonic)
    _puts: dict[str, _Spooled] = field(default_factory=dict)
    _links: dict[str, tuple[Stored, Details]] = field(default_factory=dict)
    _removed: set[str] = field(default_factory=set)
    _spool_bytes: int = 0

    @property
    def files(self) -> int:
        """How many paths it puts."""
        return len(self._puts) + len(self._links)

    @property
    def changes(self) -> int:
        """How many paths it puts or removes."""
        return self.files + len(self._removed)

    @property
    def puts_anything(self) -> bool:
        """Whether it does more than remove."""
        return bool(self._puts or self._links)

    def add(self, path: str, source: BinaryIO, details: Details) -> int:
        """Copy a stream to the end of the spool; returns its size. Raises PathError, OSError.

        When the disk is full, what was added before stays.
        """
        encode_path(path)
        with self.spool.open("ab") as spool:
            start = spool.tell()
            try:
                while piece := source.read(_COPY_BYTES):
                    spool.write(piece)
                spool.flush()
            except BaseException:
                os.ftruncate(spool.fileno(), start)
                raise
            size = spool.tell() - start
        self._put(path, _Spooled(self.spool, start, size, details))
        return size

    def adopt(self, path: str, file: Path, details: Details) -> None:
        """Take a file over, without a copy; it is removed with the segment. Raises PathError."""
        encode_path(path)
        self._put(path, _Spooled(file, 0, file.stat().st_size, details))

    def link(self, path: str, stored: Stored, details: Details) -> None:
        """Put bytes that the project has already. Raises PathError."""
        encode_path(path)
        self._forget(path)
        self._links[path] = (stored, details)

    def remove(self, path: str) -> None:
        """Remove a path, whoever has put it. Raises PathError."""
        encode_path(path)
        self._forget(path)
        self._removed.add(path)

    def packs(self, limits: PackLimits) -> Iterator[PackPlan]:
        """Yield the packs to be made: small files together, a large one alone."""
        ordered = sorted(self._puts, key=str.encode)
        files = (SourceFile(path, self._puts[path].size) for path in ordered)
        return plan_packs(files, limits)

    def write_pack(self, plan: PackPlan, target: Path) -> PackSummary:
        """Write one pack of the spooled bytes. Raises FileChangedError, OSError."""
        with target.open("wb", buffering=0) as out, PackWriter(FileSink(out.fileno())) as writer:
            for path, _, _ in plan.files:
                spooled = self._puts[path]
                descriptor = os.open(spooled.file, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    writer.add(path, spooled.size, _reader(descriptor, spooled.offset))
                finally:
                    os.close(descriptor)
            return writer.close()

    def rows(self, summaries: list[PackSummary]) -> list[Row]:
        """Return the change rows: what was packed, linked and removed."""
        found: list[Row] = []
        for summary in summaries:
            for path, offset, size, digest in summary.members:
                place = Stored(summary.digest, offset, size, digest)
                found.append(_row(path, place, self._puts[path].details))
        found += [_row(path, *linked) for path, linked in self._links.items()]
        found += [("delete", path, *([None] * 9)) for path in self._removed]
        return sorted(found, key=lambda row: str(row[1]).encode())

    def discard(self) -> None:
        """Remove the spooled bytes from this machine."""
        for file in {self.spool, *(spooled.file for spooled in self._puts.values())}:
            file.unlink(missing_ok=True)

    def _put(self, path: str, spooled: _Spooled) -> None:
        self._forget(path)
        self._puts[path] = spooled
        self.size_bytes += spooled.size

    def _forget(self, path: str) -> None:
        """Let a later word on a path count. Bytes in the spool stay in it: it only grows."""
        before = self._puts.pop(path, None)
        if before is not None and before.file != self.spool:
            before.file.unlink(missing_ok=True)
        self._links.pop(path, None)
        self._removed.discard(path)


def _row(path: str, place: Stored, details: Details) -> Row:
    return (
        "put",
        path,
        place.size,
        place.digest,
        media_type_of(path),
        details.attributes,
        place.pack,
        place.offset,
        None,
        details.label,
        details.split,
    )


def _reader(descriptor: int, offset: int) -> Callable[[memoryview], int]:
    return partial(_read_at, descriptor, [offset])


def _read_at(descriptor: int, position: list[int], target: memoryview) -> int:
    """Fill `target` from the position on, which moves along; returns how many bytes there were."""
    done = 0
    while done < len(target):
        count = os.preadv(descriptor, [target[done:]], position[0])
        if not count:
            break
        done += count
        position[0] += count
    return done
