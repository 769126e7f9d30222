"""The writing side of `atom://`: every change goes through a writer and becomes a version.

One call is one version: a file that is closed, a `put`, `pipe`, `rm`, `cp` or `mv` of however many
files. What happens within `with fs.transaction:` is one version together, or none after an
exception. Where somebody else changed the same path meanwhile, the last to commit wins, as in an
object store; the version before keeps the other's.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem
from fsspec.transaction import Transaction

from atom_sdk.client.errors import ApiError
from atom_sdk.client.refs import DatasetRef, parse_ref
from atom_sdk.run.writing import origin_of

if TYPE_CHECKING:
    from atom_sdk.client import Client
    from atom_sdk.client.writing import DatasetWriter
    from atom_sdk.client.writing.files import WriterFile
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
        self.written: set[str] = set()

    def writer(self, ref: DatasetRef) -> DatasetWriter:
        """Return the writer of a branch. Raises PermissionError where there is no such branch."""
        from atom_sdk.client.writing import WriterOptions

        key = (ref.project or "", ref.dataset, ref.ref)
        if key not in self._writers:
            name = f"atom://{ref.project}/{ref.dataset}"
            origin = origin_of(self._client.config.token)
            options = WriterOptions(on_conflict="theirs", provenance=origin)
            try:
                found = self._client.datasets.writer(name, ref.ref, options=options)
            except ApiError as error:
                if error.code == "ref_not_found":
                    raise PermissionError(f"{READ_ONLY} {error}") from error
                raise
            self._writers[key] = found
        return self._writers[key]

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


class AtomTransaction(Transaction):  # type: ignore[misc]
    """One version of everything that is written within it."""

    def __init__(self, fs: WritingFileSystem, **options: Any) -> None:
        super().__init__(fs, **options)
        self.fs: WritingFileSystem | None = fs
        self.batch = fs.new_batch()

    def complete(self, commit: bool = True) -> None:
        """Commit or give up."""
        # The files themselves belong to their writers.
        self.files.clear()
        fs, self.fs = self.fs, None
        if fs is not None:
            fs._intrans, fs._transaction = False, None
        if commit:
            self.batch.commit()
        else:
            self.batch.abandon()


class WritingFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """What a file system needs to write to datasets; reading is the subclass's."""

    transaction_type = AtomTransaction

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._own = threading.local()

    def new_batch(self) -> Batch:
        """Return an empty batch of changes."""
        raise NotImplementedError

    def place_of(self, path: str) -> Place | None:
        """Return where a file's bytes lie, None where they are in no pack.

        Raises FileNotFoundError.
        """
        raise NotImplementedError

    def mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None:
        """Do nothing: there is a folder as soon as it has a file. Raises PermissionError."""
        writable(self._strip_protocol(path))

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing, as `mkdir`."""
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Do nothing for an empty folder, which does not exist. Raises OSError for another."""
        self.mkdir(path)
        if self.exists(path):
            raise OSError(f"The folder {path} is not empty.")

    def rm_file(self, path: str) -> None:
        """Remove one file. Raises FileNotFoundError, PermissionError."""
        path = self._strip_protocol(path)
        ref = writable(path)
        with self._batch() as batch:
            if path not in batch.written:
                if self.info(path)["type"] == "directory":
                    return
            elif not self.exists(path):
                batch.written.discard(path)
            batch.writer(ref).remove(ref.path)

    _rm = rm_file

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        """Copy one file; within a project its bytes are not sent. Raises FileNotFoundError.

        There its label, its split and its attributes go along.
        """
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        ref = writable(target)
        if self.info(source)["type"] == "directory":
            return
        place = self.place_of(source)
        with self._batch() as batch:
            if place is not None and place.project == ref.project:
                batch.writer(ref).link(
                    _file_of(ref),
                    place.stored,
                    place.label,
                    attributes=place.attributes,
                    split=place.split,
                )
                batch.written.add(target)
                return
            with self.open(source, "rb") as found, self.open(target, "wb") as copy:
                while piece := found.read(self.blocksize):
                    copy.write(piece)

    def put(self, *args: Any, **options: Any) -> None:
        """Copy files of this machine, as one version."""
        with self._batch():
            super().put(*args, **options)

    def pipe(self, *args: Any, **options: Any) -> None:
        """Write bytes to one or many paths, as one version."""
        with self._batch():
            super().pipe(*args, **options)

    def rm(self, *args: Any, **options: Any) -> None:
        """Remove files and folders, as one version."""
        with self._batch():
            super().rm(*args, **options)

    def copy(self, *args: Any, **options: Any) -> None:
        """Copy files and folders, as one version."""
        with self._batch():
            super().copy(*args, **options)

    def mv(self, path1: str | list[str], path2: str | list[str], **options: Any) -> None:
        """Move files and folders, as one version. Raises PermissionError before it copies."""
        for path in [path1] if isinstance(path1, str) else path1:
            writable(self._strip_protocol(path))
        with self._batch():
            super().mv(path1, path2, **options)

    def open_to_write(self, path: str, mode: str) -> WriterFile:
        """Return a file that is written when it is closed.

        Raises PermissionError, FileExistsError for "xb", ValueError for other modes.
        """
        from atom_sdk.client.packing import scratch_folder
        from atom_sdk.client.writing.files import WriterFile

        ref = writable(path)
        if mode not in {"wb", "xb"}:
            raise ValueError(f"A file of a dataset is written whole, with wb or xb, not {mode!r}.")
        inside = _file_of(ref)
        if mode == "xb" and self.exists(path):
            raise FileExistsError(path)
        with tempfile.NamedTemporaryFile(dir=scratch_folder(), delete=False) as made:
            local = Path(made.name)
        # Decided now: a file that a transaction opened belongs to it, whenever it is closed.
        batch = self.transaction.batch if self._intrans else None

        def done(file: Path) -> None:
            with self._batch(batch) as chosen:
                chosen.writer(ref).adopt(inside, file)
                chosen.written.add(path)

        return WriterFile(local, done)

    @contextmanager
    def _batch(self, given: Batch | None = None) -> Iterator[Batch]:
        """The batch of the transaction, or of the call that this thread is in, or a new one."""
        present = given or (
            self.transaction.batch if self._intrans else getattr(self._own, "batch", None)
        )
        if present is not None:
            yield present
            return
        batch = self._own.batch = self.new_batch()
        try:
            yield batch
        except BaseException:
            batch.abandon()
            raise
        else:
            batch.commit()
        finally:
            self._own.batch = None


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


def _file_of(ref: DatasetRef) -> str:
    """Return the path inside the dataset. Raises IsADirectoryError, PathError."""
    from atom_sdk.packs.paths import encode_path

    if not ref.path:
        raise IsADirectoryError(str(ref))
    encode_path(ref.path)
    return ref.path
