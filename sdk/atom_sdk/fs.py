"""`atom://project/dataset@ref/path` for fsspec: pandas, DuckDB, pyarrow, Dask and others use it.

Reads go to the packs that are on this machine, otherwise in ranges to the object store; nothing is
downloaded whole. Versions are immutable: what is written to a branch is its next version, see
`fs_writing`.
"""

from __future__ import annotations

import threading
import weakref
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractBufferedFile

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, RefSyntaxError
from atom_sdk.client.refs import DatasetRef, parse_ref
from atom_sdk.fs_batches import Batch, Key, Place, key_of
from atom_sdk.fs_files import File, Files, NoFiles, VersionFiles
from atom_sdk.fs_writing import WritingFileSystem
from atom_sdk.packs.partial import BLOCK_BYTES

if TYPE_CHECKING:
    from atom_sdk.client.writing.files import WriterFile


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
        self._versions: dict[Key, Files] = {}
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
        """Name, size in bytes and type of a path. Raises FileNotFoundError."""
        path = self._strip_protocol(path)
        if "/" not in path:
            self._check_project(path)
            return _folder(path)
        files, name, inside = self._find(path)
        row = files.row_of(inside)
        if row is not None:
            return _described(f"{name}/{inside}", files.file(row))
        if inside and not files.below(f"{inside}/"):
            raise FileNotFoundError(path)
        return _folder(path)

    def exists(self, path: str, **options: Any) -> bool:
        """Return whether there is a file or folder.

        Raises what asking raises: a server that does not answer does not say that a file is gone.
        """
        try:
            self.info(path, **options)
        except (FileNotFoundError, RefSyntaxError):
            return False
        return True

    def isdir(self, path: str) -> bool:
        """Return whether there is a folder. Raises as `exists` does."""
        return self._has_type(path, "directory")

    def isfile(self, path: str) -> bool:
        """Return whether there is a file. Raises as `exists` does."""
        return self._has_type(path, "file")

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        """A file, or a part of it; a whole one is verified by its digest.

        Raises SampleDigestMismatchError.
        """
        file = self.file_at(path)
        first, last, _ = slice(start, end).indices(file.size)
        if (first, last) == (0, file.size):
            return file.read_whole()
        return file.read(first, last - first) if last > first else b""

    def _open(
        self, path: str, mode: str = "rb", block_size: int | None = None, **options: Any
    ) -> AbstractBufferedFile | WriterFile:
        if mode != "rb":
            return self.open_to_write(self._strip_protocol(path), mode)
        options.pop("autocommit", None)
        options.pop("size", None)
        return AtomFile(self, path, self.file_at(path), block_size or BLOCK_BYTES, **options)

    def modified(self, path: str) -> datetime:
        """When the version was made: its files never change. Raises FileNotFoundError."""
        if "/" not in self._strip_protocol(path):
            self.info(path)
            raise IsADirectoryError(path)
        files, _, _ = self._find(self._strip_protocol(path))
        made_at = files.made_at if isinstance(files, VersionFiles) else None
        if made_at is None:
            ref = parse_ref(f"atom://{self._strip_protocol(path)}")
            row = self._client.datasets.version(f"atom://{ref.project}/{ref}")
            made_at = datetime.fromisoformat(row["created_at"])
            if isinstance(files, VersionFiles):
                files.made_at = made_at
        return made_at

    created = modified

    def new_batch(self) -> Batch:
        """Return an empty batch of changes."""
        return Batch(self._client, self._forget)

    def place_of(self, path: str, file: File) -> Place | None:
        """Return where a file's bytes lie, None where they are in no pack."""
        stored = file.stored()
        if stored is None:
            return None
        project = parse_ref(f"atom://{path}").project or ""
        return Place(project, stored, file.label, file.split, file.attributes(self._client.http))

    def file_at(self, path: str) -> File:
        """Return the file at a path. Raises FileNotFoundError, IsADirectoryError."""
        path = self._strip_protocol(path)
        if path.count("/") < 2:
            self.info(path)
            raise IsADirectoryError(path)
        files, _, inside = self._find(path)
        row = files.row_of(inside)
        if row is not None:
            return files.file(row)
        raise (IsADirectoryError if files.below(f"{inside}/") else FileNotFoundError)(path)

    def files_of(self, ref: DatasetRef) -> Files:
        """Return the files of a version or branch as it is here now. Raises FileNotFoundError."""
        from atom_sdk.client.pull.pull import version_files

        key = key_of(ref)
        with self._lock:
            if key not in self._versions:
                try:
                    view = version_files(
                        self._client.datasets, self._client.http, f"atom://{ref.project}/{ref}"
                    )
                except ApiError as error:
                    if error.code == "branch_empty":
                        return NoFiles()
                    raise _absent(error, f"atom://{ref.project}/{ref}") from error
                self._versions[key] = VersionFiles(*view)
            return self._versions[key]

    def invalidate_cache(self, path: str | None = None) -> None:
        """Look again where the branches are."""
        with self._lock:
            self._versions.clear()

    def _forget(self, key: Key) -> None:
        with self._lock:
            self._versions.pop(key, None)

    def _list(self, path: str) -> list[dict[str, Any]]:
        if not path:
            return [_folder(row["slug"]) for row in self._client.http.pages("projects/")]
        if "/" not in path:
            self._check_project(path)
            rows = self._client.http.pages(f"projects/{path}/datasets/")
            return [_folder(f"{path}/{row['name']}") for row in rows]
        files, name, inside = self._find(path)
        row = files.row_of(inside)
        if row is not None:
            return [_described(f"{name}/{inside}", files.file(row))]
        return _listed(files, name, f"{inside}/" if inside else "", path)

    def _check_project(self, name: str) -> None:
        """Raise FileNotFoundError unless there is such a project; the root has no name."""
        if not name:
            return
        # A name that no project has would be another address of the API.
        parse_ref(f"atom://{name}/x")
        try:
            self._client.http.get(f"projects/{name}/")
        except ApiError as error:
            raise _absent(error, f"atom://{name}") from error

    def _has_type(self, path: str, kind: str) -> bool:
        try:
            return bool(self.info(path)["type"] == kind)
        except (FileNotFoundError, RefSyntaxError):
            return False

    def _find(self, path: str) -> tuple[Files, str, str]:
        """The files that a path is among, the path's part that names them, and the part inside."""
        ref = parse_ref(f"atom://{path}")
        parts = PurePosixPath(path).parts
        changed = self.changed_files(key_of(ref))
        return changed or self.files_of(ref), "/".join(parts[:2]), ref.path


class AtomFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file that is read in ranges, all of them of the version that it was opened in."""

    def __init__(
        self, fs: AtomFileSystem, path: str, file: File, block_size: int, **options: Any
    ) -> None:
        """`file` stays, also when its branch moves."""
        self._file = file
        super().__init__(fs, path, "rb", block_size, size=file.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        return self._file.read(start, end - start) if end > start else b""


def _close(client: Client, versions: dict[Key, Files]) -> None:
    for files in versions.values():
        if isinstance(files, VersionFiles):
            files.ranges.close()
    client.close()


def _listed(files: Files, name: str, folder: str, path: str) -> list[dict[str, Any]]:
    """Describe what lies directly in a folder, which is "" or ends in a slash."""
    rows = files.below(folder)
    if folder and not rows:
        raise FileNotFoundError(path)
    found: list[dict[str, Any]] = []
    row = rows.start
    while row < rows.stop:
        below, slash, _ = files.paths[row][len(folder) :].partition("/")
        if slash:
            found.append(_folder(f"{name}/{folder}{below}"))
            row = files.below(f"{folder}{below}/").stop
        else:
            found.append(_described(f"{name}/{files.paths[row]}", files.file(row)))
            row += 1
    return found


def _described(name: str, file: File) -> dict[str, Any]:
    digest = file.digest.hex()
    return {
        "name": name,
        "size": file.size,
        "type": "file",
        "digest": digest,
        # Libraries that cache by address ask for it: a branch's file may be another one soon.
        "ETag": digest,
        "label": file.label,
        "split": file.split,
    }


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory"}


def _absent(error: ApiError, address: str) -> Exception:
    """Return what to raise: what the server does not have is a file that is not there."""
    return FileNotFoundError(f"{address}: {error}") if error.status == 404 else error
