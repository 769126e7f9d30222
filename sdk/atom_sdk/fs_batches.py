"""Changes that `atom://` collects: a batch is one version of each branch that it touches."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.client.errors import ApiError
from atom_sdk.client.refs import DatasetRef, parse_ref
from atom_sdk.fs_files import ChangedFiles, File, Files, WrittenFile
from atom_sdk.run.writing import origin_of

if TYPE_CHECKING:
    from atom_sdk.client import Client
    from atom_sdk.client.writing import DatasetWriter
    from atom_sdk.client.writing.segment import Stored

READ_ONLY = (
    "A dataset version cannot be changed; write to a branch, such as "
    "atom://project/dataset@main/path."
)
_NO_BRANCH = re.compile(r"v[1-9]\d{0,8}|[0-9a-f]{8,64}")
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Place:
    """A file whose bytes the project has, and what else belongs to it."""

    project: str
    stored: Stored
    label: str | None
    split: str | None
    attributes: Mapping[str, Any]


class Batch:
    """Changes that are committed together: one version of each branch that they touch."""

    def __init__(self, client: Client, forget: Callable[[Key], None]) -> None:
        self._client = client
        self._forget = forget
        self._writers: dict[Key, DatasetWriter] = {}
        # A file system object, and so its transaction, may be in the hands of several threads.
        self._lock = threading.Lock()
        self.written: set[str] = set()

    def writer(self, ref: DatasetRef) -> DatasetWriter:
        """Return the writer of a branch. Raises PermissionError where there is no such branch."""
        key = key_of(ref)
        with self._lock:
            if key not in self._writers:
                self._writers[key] = self._opened(ref)
            return self._writers[key]

    def _opened(self, ref: DatasetRef) -> DatasetWriter:
        from atom_sdk.client.writing import WriterOptions

        origin = origin_of(self._client.config.token)
        options = WriterOptions(on_conflict="theirs", provenance=origin)
        try:
            name = f"atom://{ref.project}/{ref.dataset}"
            return self._client.datasets.writer(name, ref.ref, options=options)
        except ApiError as error:
            if error.code == "ref_not_found":
                raise PermissionError(f"{READ_ONLY} {error}") from error
            raise

    def commit(self) -> None:
        """Make the versions. Raises what committing raises; the rest is abandoned then."""
        try:
            while self._writers:
                key = next(iter(self._writers))
                self._writers[key].finish()
                del self._writers[key]
                self._forget(key)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Give everything up."""
        while self._writers:
            self._writers.popitem()[1].abandon()


class Buffer:
    """Changes that wait to become one version, and the files of the branches as they will be."""

    def __init__(self, batch: Batch, files_of: Callable[[DatasetRef], Files]) -> None:
        """`files_of` gives the files of a branch without the changes."""
        from atom_sdk.client.push.scratch_packs import scratch_folder

        self.batch = batch
        self._files_of = files_of
        self._changed: dict[Key, ChangedFiles] = {}
        self._folder = tempfile.TemporaryDirectory(dir=scratch_folder(), prefix="buffered-")
        self._lock = threading.Lock()

    def files(self, key: Key) -> ChangedFiles | None:
        """Return the files of a branch, None where nothing of it was changed."""
        return self._changed.get(key)

    def change(self, ref: DatasetRef, file: File | None) -> None:
        """Note that a path has another file, or none."""
        with self._lock:
            key = key_of(ref)
            if key not in self._changed:
                self._changed[key] = ChangedFiles(self._files_of(ref))
            self._changed[key].change(ref.path, file)

    def keep(self, local: Path) -> WrittenFile:
        """Keep a file that its writer will move away."""
        kept = Path(self._folder.name, local.name)
        try:
            os.link(local, kept)
        except OSError:
            shutil.copyfile(local, kept)
        return WrittenFile.of(kept)

    def close(self) -> None:
        """Remove what was kept."""
        self._folder.cleanup()


def writable(path: str) -> DatasetRef:
    """Return what a path (without protocol) names, if it may be a branch's.

    Raises PermissionError.
    """
    if path.count("/") < 1:
        raise PermissionError(READ_ONLY)
    ref = parse_ref(f"atom://{path}")
    if _NO_BRANCH.fullmatch(ref.ref):
        raise PermissionError(READ_ONLY)
    return ref


def key_of(ref: DatasetRef) -> Key:
    """Return the identity of a branch or version."""
    return ref.project or "", ref.dataset, ref.ref
