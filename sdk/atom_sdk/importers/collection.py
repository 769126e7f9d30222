"""Gathers the items of an import and checks them against what a version can hold."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from blake3 import blake3

from atom_sdk.client.push.attributes import MAX_ATTRIBUTE_BYTES, UNREADABLE
from atom_sdk.client.push.contents import WritePack
from atom_sdk.importers.formats import PLAIN_FORMATS
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.json_values import attributes_bytes, drop_largest
from atom_sdk.importers.losses import add_counts
from atom_sdk.importers.report import Report
from atom_sdk.manifests.layers.layers import is_label
from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.walk import SkippedPath
from atom_sdk.packs.writer import FileSink, PackSummary, PackWriter

_FIRST_ITEMS = 10
_READ_BYTES = 1 << 20


class DocumentTexts(Mapping[str, str]):
    """JSON texts by path, compressed: those of a large set would fill the memory."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}

    def add(self, path: str, text: str) -> None:
        """Keep the text of a path."""
        self._texts[path] = zlib.compress(text.encode(), 1)

    def discard(self, path: str) -> None:
        """Forget the text of a path, if there is one."""
        self._texts.pop(path, None)

    def __getitem__(self, path: str) -> str:
        """The text of a path. Raises KeyError."""
        return zlib.decompress(self._texts[path]).decode()

    def __iter__(self) -> Iterator[str]:
        """All paths."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Number of paths."""
        return len(self._texts)


@dataclass
class Collected:
    """Items by path, as a push takes them: bytes, labels, splits, attributes, documents; links."""

    blobs: dict[str, Blob] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    objects: dict[str, Mapping[str, int]] = field(default_factory=dict)
    documents: DocumentTexts = field(default_factory=DocumentTexts)
    links: dict[str, str] = field(default_factory=dict)


def collect(items: Iterable[Item], report: Report) -> Collected:
    """Return all items that a version can hold; the others are in the report."""
    found = Collected()
    for item in items:
        if item.path in found.blobs:
            reason = "its path comes twice; the first is kept"
            report.lose_picture(item.path, reason, item.objects, item.label)
        else:
            _add(found, item, report)
    _drop_below_files(found, report)
    _count(found, report)
    return found


def _add(found: Collected, item: Item, report: Report) -> None:
    found.blobs[item.path] = item.blob
    if item.label is not None:
        if is_label(item.label):
            found.labels[item.path] = item.label
        else:
            reason = "its label is no text of 1 to 255 bytes; it goes without"
            report.lose_label(item.path, reason, _readable(item.label))
    if item.split is not None:
        found.splits[item.path] = item.split
    if item.document is not None:
        found.documents.add(item.path, item.document)
    if item.objects:
        found.objects[item.path] = item.objects
    if item.attributes:
        _add_attributes(found, item, report)


def _add_attributes(found: Collected, item: Item, report: Report) -> None:
    values = {name: value for name, value in item.attributes.items() if name != UNREADABLE}
    try:
        fitting, dropped = drop_largest(values)
    except (TypeError, ValueError, RecursionError):
        report.skip(item.path, "its attributes cannot be written as JSON; it goes without")
        return
    for name in dropped:
        report.skip(item.path, f"its attribute {name!r} does not fit into 16 KiB; it goes without")
    if attributes_bytes(fitting) > MAX_ATTRIBUTE_BYTES:
        report.skip(item.path, "its attributes have more than 16 KiB; it goes without")
        return
    found.attributes[item.path] = fitting


def _readable(label: str) -> str:
    """A label that cannot be kept, as a name in a report."""
    return label[:64].encode("utf-8", "replace").decode()


def _drop_below_files(found: Collected, report: Report) -> None:
    """Leave out files below a file: no folder could hold both."""
    for path in sorted(found.blobs):
        folder = path.rpartition("/")[0]
        while folder:
            if folder in found.blobs:
                _drop(found, path, "the folder that it lies in is a file as well", report)
                break
            folder = folder.rpartition("/")[0]


def _drop(found: Collected, path: str, reason: str, report: Report) -> None:
    report.lose_picture(path, reason, found.objects.get(path), found.labels.get(path))
    found.documents.discard(path)
    for values in (found.blobs, found.labels, found.splits, found.attributes, found.objects):
        values.pop(path, None)  # type: ignore[attr-defined]


def _count(found: Collected, report: Report) -> None:
    report.files = len(found.blobs)
    report.size_bytes = sum(blob.size_bytes for blob in found.blobs.values())
    report.labels.update(found.labels.values())
    report.splits.update(found.splits.values())
    report.label_tally.kept.update(found.labels.values())
    for counts in found.objects.values():
        add_counts(report.object_tally.kept, counts)
    report.first = [
        {
            "path": path,
            "size_bytes": found.blobs[path].size_bytes,
            "label": found.labels.get(path),
            "split": found.splits.get(path),
        }
        for path in sorted(found.blobs)[:_FIRST_ITEMS]
    ]


def take_links(found: Collected, links: Mapping[str, str], report: Report, into: str = "") -> None:
    """Keep links where files are taken as they are; annotations are about files."""
    if report.importer in PLAIN_FORMATS:
        folder = f"{into.strip('/')}/" if into.strip("/") else ""
        found.links.update((folder + path, links[path]) for path in sorted(links))
        report.links = len(found.links)
        return
    for path in sorted(links):
        report.skip(path, "it is a link; --follow-links takes what it leads to")


class ImportContents:
    """The items of an import as a push sends them; nothing is unpacked to a folder."""

    def __init__(
        self,
        source_key: bytes,
        blobs: Mapping[str, Blob],
        links: Mapping[str, str] | None = None,
    ) -> None:
        self._blobs = blobs
        self.key = b"import\0" + source_key
        self.files: Sequence[SourceFile] = sorted(
            SourceFile(path, blob.size_bytes, blob.mtime_ns) for path, blob in blobs.items()
        )
        self.links: Mapping[str, str] = links or {}
        self.skipped: list[SkippedPath] = []
        self.same: Mapping[str, str] = _same_bytes(self.files, blobs)

    def digest(self, file: SourceFile) -> bytes:
        """BLAKE3 of an item. Raises ArchiveDamagedError, OSError."""
        hasher = blake3()
        with self._blobs[file.path].open() as stream:
            while chunk := stream.read(_READ_BYTES):
                hasher.update(chunk)
        return hasher.digest()

    @contextmanager
    def packing(self, size_bytes: int) -> Iterator[WritePack]:
        """Give what packs; it raises ArchiveDamagedError, FileChangedError, OSError."""
        yield self._write_pack

    def _write_pack(self, files: Sequence[SourceFile], target: Path) -> PackSummary:
        with target.open("wb", buffering=0) as out, PackWriter(FileSink(out.fileno())) as writer:
            for file in files:
                with self._blobs[file.path].open() as stream:
                    writer.add(file.path, file.size, _Filling(stream))
            return writer.close()


def _same_bytes(files: Sequence[SourceFile], blobs: Mapping[str, Blob]) -> dict[str, str]:
    """The first path of a blob, by each further path of it."""
    if len({id(blob) for blob in blobs.values()}) == len(blobs):
        return {}
    firsts: dict[int, str] = {}
    paths = ((file.path, firsts.setdefault(id(blobs[file.path]), file.path)) for file in files)
    return {path: first for path, first in paths if path != first}


class _Filling:
    """Fills the memory that it is given, as far as the stream goes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def __call__(self, target: memoryview) -> int:
        done = 0
        while done < len(target):
            data = self._stream.read(len(target) - done)
            if not data:
                break
            target[done : done + len(data)] = data
            done += len(data)
        return done
