"""The writing side of `atom://`: every change goes through a writer and becomes a version.

One call is one version: a file that is closed, a `put`, `pipe`, `rm`, `cp` or `mv` of however many
files. Changes within `with fs.transaction:` or `with fs.buffered():` are one version together, or
none after an exception; in the second, the file system reads what it has written.

Where somebody else changed the same path meanwhile, the last to commit wins, as in an object store;
the version before keeps the other's.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fsspec import AbstractFileSystem
from fsspec.transaction import Transaction

from atom_sdk.client.refs import DatasetRef
from atom_sdk.fs_batches import Batch, Buffer, Key, Place, writable
from atom_sdk.fs_files import File, Files

if TYPE_CHECKING:
    from atom_sdk.client.writing.files import WriterFile


class AtomTransaction(Transaction):  # type: ignore[misc]
    """One version of everything that is written within it."""

    def __init__(self, fs: WritingFileSystem, **options: Any) -> None:
        super().__init__(fs, **options)
        fs.check_not_buffered()
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
    """The part of a file system that writes to datasets; the subclass reads."""

    transaction_type = AtomTransaction

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._own = threading.local()
        self._buffer: Buffer | None = None

    def new_batch(self) -> Batch:
        """Return an empty batch of changes."""
        raise NotImplementedError

    def files_of(self, ref: DatasetRef) -> Files:
        """Return the files of a branch. Raises FileNotFoundError."""
        raise NotImplementedError

    def file_at(self, path: str) -> File:
        """Return the file at a path. Raises FileNotFoundError, IsADirectoryError."""
        raise NotImplementedError

    def place_of(self, path: str, file: File) -> Place | None:
        """Return where a file's bytes lie, None where they are in no pack."""
        raise NotImplementedError

    @contextmanager
    def buffered(self) -> Iterator[Self]:
        """Make one version of everything that is written within, or none after an exception.

        This object reads what it has written before it is committed; nobody else does. Files wait
        on this machine's disk. Raises RuntimeError within a transaction or another buffer.
        """
        self.check_not_buffered()
        if self._intrans:
            raise RuntimeError("A transaction cannot be buffered: it is one version already.")
        self._buffer = buffer = Buffer(self.new_batch(), self.files_of)
        try:
            yield self
        except BaseException:
            buffer.batch.abandon()
            raise
        else:
            buffer.batch.commit()
        finally:
            self._buffer = None
            buffer.close()

    def changed_files(self, key: Key) -> Files | None:
        """Return the files of a branch with what waits to be committed, None without changes."""
        return None if self._buffer is None else self._buffer.files(key)

    def check_not_buffered(self) -> None:
        """Raise RuntimeError within `buffered`."""
        if self._buffer is not None:
            raise RuntimeError("Writes are buffered already: they become one version at the end.")

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
            if self._buffer is not None or path not in batch.written:
                if self.info(path)["type"] == "directory":
                    return
            elif not self.exists(path):
                batch.written.discard(path)
            batch.writer(ref).remove(ref.path)
            self._note(ref, None)

    _rm = rm_file

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        """Copy one file; within a project its bytes are not sent. Raises FileNotFoundError.

        There its label, its split and its attributes go along.
        """
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        ref = writable(target)
        if self.isdir(source):
            return
        # Asked for once: its branch may move meanwhile.
        file = self.file_at(source)
        place = self.place_of(source, file)
        with self._batch() as batch:
            if place is None or place.project != ref.project:
                self._copy_bytes(file, target)
                return
            batch.writer(ref).link(
                _file_of(ref),
                place.stored,
                place.label,
                attributes=place.attributes,
                split=place.split,
            )
            batch.written.add(target)
            self._note(ref, file)

    def _copy_bytes(self, file: File, target: str) -> None:
        with self.open(target, "wb") as copy:
            for start in range(0, file.size, self.blocksize):
                copy.write(file.read(start, min(self.blocksize, file.size - start)))

    def put(self, *args: Any, **options: Any) -> None:
        """Copy files of this machine, as one version."""
        with self._batch():
            super().put(*args, **options)

    def pipe(self, *args: Any, **options: Any) -> None:
        """Write bytes to one or many paths, as one version."""
        with self._batch():
            super().pipe(*args, **options)

    def rm(
        self, path: str | list[str], recursive: bool = False, maxdepth: int | None = None
    ) -> None:
        """Remove files and folders, as one version."""
        with self._batch():
            paths = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
            # Asked for first: a folder is gone with its last file.
            folders = set(filter(self.isdir, paths))
            for each in reversed(paths):
                if each not in folders:
                    self.rm_file(each)

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
        from atom_sdk.client.push.scratch_packs import scratch_folder
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
        batch, buffer = self._shared_batch(), self._buffer

        def done(file: Path) -> None:
            with self._batch(batch) as chosen:
                kept = buffer.keep(file) if buffer is not None else None
                chosen.writer(ref).adopt(inside, file)
                chosen.written.add(path)
            if buffer is not None:
                buffer.change(ref, kept)

        return WriterFile(local, done)

    @contextmanager
    def _batch(self, given: Batch | None = None) -> Iterator[Batch]:
        """The batch of the transaction, or of the call that this thread is in, or a new one."""
        present = given or self._shared_batch() or getattr(self._own, "batch", None)
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

    def _shared_batch(self) -> Batch | None:
        """The batch of the buffer or the transaction that this object is in."""
        if self._buffer is not None:
            return self._buffer.batch
        return self.transaction.batch if self._intrans else None

    def _note(self, ref: DatasetRef, file: File | None) -> None:
        if self._buffer is not None:
            self._buffer.change(ref, file)


def _file_of(ref: DatasetRef) -> str:
    """Return the path inside the dataset. Raises IsADirectoryError, PathError."""
    from atom_sdk.packs.paths import encode_path

    if not ref.path:
        raise IsADirectoryError(str(ref))
    encode_path(ref.path)
    return ref.path
