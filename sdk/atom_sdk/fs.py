"""`atom://project/dataset@ref/path` for fsspec: pandas, DuckDB, pyarrow, Dask and others use it.

Reads go to the packs that are on this machine, otherwise in ranges to the object store; nothing is
downloaded whole. Versions are immutable: what is written to a branch is its next version, see
`fs_writing`.
"""

from __future__ import annotations

import json
import threading
import weakref
from bisect import bisect_left
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractBufferedFile

from atom_sdk.client import Client
from atom_sdk.client.config import cache_path
from atom_sdk.client.refs import DatasetRef, parse_ref
from atom_sdk.fs_writing import Batch, Key, Place, WritingFileSystem
from atom_sdk.packs.partial import BLOCK_BYTES
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.mending import PackMending
from atom_sdk.readers.view import ViewIndex

if TYPE_CHECKING:
    from atom_sdk.client.http import Http
    from atom_sdk.client.registered import SourceRanges
    from atom_sdk.client.writing.files import WriterFile
    from atom_sdk.manifests.listing import Listing

_END = "\U0010ffff"


class _Version:
    """The files of one version: sorted paths, and where their bytes are."""

    def __init__(self, index: ViewIndex, ranges: SourceRanges) -> None:
        self.index = index
        self.ranges = ranges
        self.mending = PackMending(cache_path(), ranges)
        self.made_at: datetime | None = None
        self._listing: Listing | None = None
        self.paths = [index.path_of(row) for row in range(len(index))]

    def row_of(self, path: str) -> int | None:
        """Row of a file; None if there is no file of this path."""
        # By code points and by UTF-8 bytes the order is the same.
        row = bisect_left(self.paths, path)
        return row if row < len(self.paths) and self.paths[row] == path else None

    def below(self, folder: str) -> range:
        """Rows of all files below a folder, which is "" or ends in a slash."""
        start = bisect_left(self.paths, folder)
        return range(start, bisect_left(self.paths, folder + _END, start))

    def attributes_of(self, row: int, http: Http) -> dict[str, Any]:
        """What is written of a file, which a view does not have; files come in path order."""
        from atom_sdk.client.attributes import UNREADABLE
        from atom_sdk.client.manifest import RemoteManifest
        from atom_sdk.manifests.listing import Listing

        if self._listing is None:
            manifest = RemoteManifest(http, self.ranges.version_base)
            self._listing = Listing(manifest.root, manifest)
        found: dict[str, Any] = json.loads(self._listing.lookup(self.paths[row]).attributes or "{}")
        # The server says that of the same bytes again.
        return {name: value for name, value in found.items() if name != UNREADABLE}

    def read(self, row: int, start: int, length: int) -> bytes:
        """Bytes of a file, from this machine if its pack is here."""
        pack = self.index.packs[int(self.index.pack_ids[row])]
        offset = int(self.index.offsets[row]) + start
        try:
            with PackStore(cache_path()).path(pack).open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError:
            return bytes(self.ranges.read(pack, offset, length).data)

    def verified(self, row: int, data: bytes) -> bytes:
        """A whole file, read again if its pack was damaged. Raises SampleDigestMismatchError."""
        pack = self.index.packs[int(self.index.pack_ids[row])]
        if self._is_good(row, data):
            return data
        if not PackStore(cache_path()).has(pack):
            raise self.mending.of_the_store(pack, self.paths[row])
        self.mending.mend(pack, self.paths[row])
        data = self.read(row, 0, int(self.index.sizes[row]))
        if not self._is_good(row, data):
            raise self.mending.still_damaged(pack, self.paths[row])
        return data

    def _is_good(self, row: int, data: bytes) -> bool:
        from blake3 import blake3

        digest = self.index.digest_of(row)
        # Of a file at its source the digest is that of the pin, which the server has checked.
        is_pin = self.index.packs[int(self.index.pack_ids[row])] == digest
        return is_pin or blake3(data).digest() == digest


class AtomFileSystem(WritingFileSystem):
    """Datasets as folders: the first part of a path is the project, the second `dataset@ref`."""

    protocol = "atom"
    root_marker = ""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        project: str | None = None,
        **options: Any,
    ) -> None:
        """Connect as `Client(url, token, project)` does. Raises NotConfiguredError."""
        super().__init__(**options)
        self._client = Client(url, token, project)
        self._versions: dict[tuple[str, str, str], _Version] = {}
        self._lock = threading.Lock()
        # fsspec makes an instance for each thread, which nobody closes.
        weakref.finalize(self, _close, self._client, self._versions).atexit = False

    @property
    def fsid(self) -> str:
        """Which server this is."""
        return f"atom-{self._client.config.url}"

    def close(self) -> None:
        """Close the connections; what is read afterwards opens new ones to the object store."""
        _close(self._client, self._versions)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        """List a project's datasets, or the files and folders directly below a folder.

        Raises FileNotFoundError.
        """
        path = self._strip_protocol(path)
        rows = self._list(path)
        return rows if detail else [row["name"] for row in rows]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """What is at a path: name, size in bytes, type. Raises FileNotFoundError."""
        path = self._strip_protocol(path)
        if path.count("/") < 1:
            return _folder(path)
        version, name, inside = self._find(path)
        row = version.row_of(inside)
        if row is not None:
            return self._file(version, name, row)
        if inside and not version.below(f"{inside}/"):
            raise FileNotFoundError(path)
        return _folder(path)

    def read_range(self, path: str, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of a file. Raises FileNotFoundError, PackUnreadableError."""
        version, row = self._row(path)
        return version.read(row, start, max(0, end - start)) if end > start else b""

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        """A file, or a part of it; a whole one is verified by its digest.

        Raises SampleDigestMismatchError.
        """
        version, row = self._row(path)
        size = int(version.index.sizes[row])
        first, last, _ = slice(start, end).indices(size)
        data = version.read(row, first, last - first) if last > first else b""
        return version.verified(row, data) if (first, last) == (0, size) else data

    def _open(
        self, path: str, mode: str = "rb", block_size: int | None = None, **options: Any
    ) -> AbstractBufferedFile | WriterFile:
        if mode != "rb":
            return self.open_to_write(self._strip_protocol(path), mode)
        options.pop("autocommit", None)
        size = self.info(path)["size"]
        return AtomFile(self, path, mode, block_size or BLOCK_BYTES, size=size, **options)

    def modified(self, path: str) -> datetime:
        """When the version was made: its files never change. Raises FileNotFoundError."""
        version, _, _ = self._find(self._strip_protocol(path))
        if version.made_at is None:
            ref = parse_ref(f"atom://{self._strip_protocol(path)}")
            found = self._client.datasets.version(f"atom://{ref.project}/{ref}")
            version.made_at = datetime.fromisoformat(found["created_at"])
        return version.made_at

    created = modified

    def new_batch(self) -> Batch:
        """Return an empty batch of changes."""
        return Batch(self._client, self._forget)

    def place_of(self, path: str) -> Place | None:
        """Return where a file's bytes lie, None where they are in no pack.

        Raises FileNotFoundError.
        """
        from atom_sdk.client.writing.segment import Stored

        version, row = self._row(path)
        index = version.index
        pack_id = int(index.pack_ids[row])
        if pack_id < 0:
            return None
        offset, size = int(index.offsets[row]), int(index.sizes[row])
        stored = Stored(index.packs[pack_id], offset, size, index.digest_of(row))
        project = parse_ref(f"atom://{self._strip_protocol(path)}").project or ""
        with self._lock:
            attributes = version.attributes_of(row, self._client.http)
        return Place(project, stored, index.label_of(row), index.split_of(row), attributes)

    def invalidate_cache(self, path: str | None = None) -> None:
        """Look anew where the branches are."""
        with self._lock:
            self._versions.clear()

    def _forget(self, key: Key) -> None:
        with self._lock:
            self._versions.pop(key, None)

    def _list(self, path: str) -> list[dict[str, Any]]:
        if not path:
            return [_folder(row["slug"]) for row in self._client.http.pages("projects/")]
        if "/" not in path:
            rows = self._client.http.pages(f"projects/{path}/datasets/")
            return [_folder(f"{path}/{row['name']}") for row in rows]
        version, name, inside = self._find(path)
        row = version.row_of(inside)
        if row is not None:
            return [self._file(version, name, row)]
        return self._below(version, name, f"{inside}/" if inside else "", path)

    def _below(self, version: _Version, name: str, folder: str, path: str) -> list[dict[str, Any]]:
        rows = version.below(folder)
        if not rows:
            raise FileNotFoundError(path)
        found: list[dict[str, Any]] = []
        row = rows.start
        while row < rows.stop:
            below, slash, _ = version.paths[row][len(folder) :].partition("/")
            if slash:
                found.append(_folder(f"{name}/{folder}{below}"))
                row = version.below(f"{folder}{below}/").stop
            else:
                found.append(self._file(version, name, row))
                row += 1
        return found

    def _row(self, path: str) -> tuple[_Version, int]:
        path = self._strip_protocol(path)
        if path.count("/") < 2:
            raise IsADirectoryError(path)
        version, _, inside = self._find(path)
        row = version.row_of(inside)
        if row is None:
            raise (
                IsADirectoryError(path) if version.below(f"{inside}/") else FileNotFoundError(path)
            )
        return version, row

    def _find(self, path: str) -> tuple[_Version, str, str]:
        """The version that a path names, the path's part that names it, and the part inside."""
        ref = parse_ref(f"atom://{path}")
        parts = PurePosixPath(path).parts
        return self._version(ref), "/".join(parts[:2]), ref.path

    def _version(self, ref: DatasetRef) -> _Version:
        from atom_sdk.client.errors import ApiError
        from atom_sdk.client.pull import version_files

        key = (ref.project or "", ref.dataset, ref.ref)
        with self._lock:
            if key not in self._versions:
                try:
                    index, ranges = version_files(
                        self._client.datasets, self._client.http, f"atom://{ref.project}/{ref}"
                    )
                except ApiError as error:
                    if error.status == 404:
                        raise FileNotFoundError(f"atom://{ref.project}/{ref}: {error}") from error
                    raise
                self._versions[key] = _Version(index, ranges)
            return self._versions[key]

    def _file(self, version: _Version, name: str, row: int) -> dict[str, Any]:
        digest = version.index.digest_of(row).hex()
        return {
            "name": f"{name}/{version.paths[row]}",
            "size": int(version.index.sizes[row]),
            "type": "file",
            "digest": digest,
            # What libraries that cache by address ask for: a branch's file may be another one soon.
            "ETag": digest,
            "label": version.index.label_of(row),
            "split": version.index.split_of(row),
        }


class AtomFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file of a version, read in ranges."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        fs: AtomFileSystem = self.fs
        return fs.read_range(self.path, start, min(end, self.size))


def _close(client: Client, versions: dict[Key, _Version]) -> None:
    for version in versions.values():
        version.ranges.close()
    client.close()


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory"}
