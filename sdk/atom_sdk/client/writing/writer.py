"""A writer: files go to a staging branch in the background, and become one version at the end."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Self
from uuid import uuid4

import pyarrow as pa

from atom_sdk.client.commits import HeadMovedError, wait_for_commit, wait_for_operation
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ClientError, WriterClosedError, WriterTakenOverError
from atom_sdk.client.progress import Progress, Silent
from atom_sdk.client.push.changes_file import CHANGES_SCHEMA, send_changes
from atom_sdk.client.push.scratch_packs import packed_file
from atom_sdk.client.refs import parse_ref
from atom_sdk.client.transport.upload import UploadTarget, upload_file, wait_verified
from atom_sdk.client.writing.files import WriterFile, as_text
from atom_sdk.client.writing.segment import Details, Segment, Stored, details_of
from atom_sdk.client.writing.spooling import Spool, SpoolLimits
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.plan import PackLimits, PackPlan
from atom_sdk.packs.writer import PackSummary

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets
    from atom_sdk.client.transport.http import Http

_PACKS_AT_ONCE = 2
_POLL_S = 0.2
_NO_DETAILS = Details()
_GIVEN = (pa.field("label", pa.string()), pa.field("split", pa.string()))
_SCHEMA = pa.schema([*CHANGES_SCHEMA, *_GIVEN])
Content = bytes | bytearray | memoryview | os.PathLike[str] | BinaryIO


@dataclass(frozen=True)
class WriterOptions:
    """How a writer works.

    `on_conflict` says whose side counts where the branch changed the same files meanwhile: fail,
    ours (the branch's) or theirs (the writer's). `provenance` is kept with the version: where the
    files come from.
    """

    message: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    on_conflict: str = "fail"
    spool: SpoolLimits = field(default_factory=SpoolLimits)
    packs: PackLimits = field(default_factory=PackLimits)
    progress: Progress = field(default_factory=Silent)

    def commit_body(
        self, on_conflict: str | None, message: str, resolutions: Sequence[Mapping[str, str]]
    ) -> dict[str, Any]:
        """Return what asks for the version."""
        body = {"on_conflict": on_conflict or self.on_conflict, "message": message}
        named = [dict(each) for each in resolutions]
        return {**body, "resolutions": named} if named else body


@dataclass(frozen=True)
class Site:
    """The dataset that is written to."""

    datasets: Datasets
    http: Http
    dataset: str

    @property
    def base(self) -> str:
        """Return the dataset's address."""
        return self.datasets.base(self.dataset)


class DatasetWriter:
    """One writer; use it as a context manager.

    Leaving the block commits, unless the block committed or abandoned; leaving it by an exception
    persists what was written whole and leaves the staging branch, to be looked at or gone on with.
    May be used by several threads.
    """

    def __init__(self, site: Site, row: Mapping[str, Any], options: WriterOptions) -> None:
        """`row` is the writer as the server answers it; `Datasets.writer` opens one."""
        self.id = str(row["id"])
        self.branch = str(row["branch"])
        self.version: dict[str, Any] | None = None
        self._staging = str(row["staging"])
        self._site = site
        self._options = options
        self._address = f"{site.base}writers/{self.id}/"
        self._target = UploadTarget(site.http, site.base, options.progress)
        self._head: str | None = row["head"]
        self._retries = False
        self._is_open = True
        self._spool = Spool(cache_path() / "writers", options.spool, self._persist)

    @property
    def reference(self) -> str:
        """Return the reference under which what is persisted can be read, until the end."""
        ref = parse_ref(self._site.dataset)
        project = f"atom://{ref.project}/" if ref.project else ""
        return f"{project}{ref.dataset}@{self._staging}"

    @property
    def state(self) -> str:
        """Ask the server how far the writer is: writing, uploading, persisted or its end."""
        return str(self._site.http.get(self._address)["state"])

    def write(
        self,
        path: str,
        content: Content,
        *,
        label: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Take bytes, a file of this machine (a `Path`) or a binary stream, under a path.

        Written twice, the last counts. Waits while too much is on its way. Raises PathError,
        AttributesError, OSError, WriterClosedError, and what sending earlier files raised.
        """
        details = details_of(label, attributes)
        self._check_open()
        encode_path(path)
        with _opened(content) as source:
            self._spool.take(lambda segment: segment.add(path, source, details))

    def open(
        self,
        path: str,
        mode: str = "wb",
        *,
        label: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        **text: Any,
    ) -> IO[Any]:
        """Return a file to write to; closed, it belongs to the writer.

        `mode` is "wb", or "w" for text, with `encoding` and `newline` as in `open`. Raises
        ValueError, PathError, AttributesError, WriterClosedError.
        """
        if mode not in {"wb", "w", "wt"}:
            raise ValueError(f"A writer's file is opened with wb or w, not {mode!r}.")
        details = details_of(label, attributes)
        self._check_open()
        encode_path(path)
        local = self._spool.folder / f"file-{uuid4().hex}"
        file = WriterFile(local, lambda done: self.adopt(path, done, details))
        return file if mode == "wb" else as_text(file, **text)

    def adopt(self, path: str, file: Path, details: Details = _NO_DETAILS) -> None:
        """Take over a file of this machine: it is moved away when it is sent.

        Raises PathError, OSError, WriterClosedError.
        """
        self._check_open()
        if file.stat().st_size >= self._options.packs.own_pack_bytes:
            self._spool.take(lambda segment: segment.adopt(path, file, details))
            return
        try:
            with file.open("rb") as source:
                self._spool.take(lambda segment: segment.add(path, source, details))
        finally:
            file.unlink(missing_ok=True)

    def remove(self, path: str) -> None:
        """Remove a file of the dataset, or one that was written before."""
        self._check_open()
        self._spool.take(lambda segment: segment.remove(path))

    def link(
        self,
        path: str,
        stored: Stored,
        label: str | None = None,
        *,
        attributes: Mapping[str, Any] | None = None,
        split: str | None = None,
    ) -> None:
        """Put bytes that the project has already under a path; nothing is sent."""
        details = replace(details_of(label, attributes), split=split)
        self._check_open()
        self._spool.take(lambda segment: segment.link(path, stored, details))

    def flush(self) -> None:
        """Return once everything written so far is persisted: from then on no crash loses it.

        Raises NetworkError, ApiError, UploadRejectedError, CommitFailedError; called again, it
        tries again.
        """
        self._check_open()
        self._spool.flush()

    def commit(
        self,
        on_conflict: str | None = None,
        message: str = "",
        resolutions: Sequence[Mapping[str, str]] = (),
    ) -> dict[str, Any]:
        """Make what was written one version of the branch, and return the version.

        Again, it returns the same. Raises MergeConflictError when the branch changed the same
        files: the writer stays, to commit with `on_conflict` for all or `resolutions`, {path,
        layer, field, take}, for single conflicts, or to be abandoned.
        """
        if self.version is None:
            self.flush()
            body = self._options.commit_body(on_conflict, message, resolutions)
            request = self._site.http.post(f"{self._address}commit/", body)
            done = wait_for_operation(self._site.http, self._site.base, request)
            self.version = dict(done["version"])
            self.close()
        return self.version

    def finish(self) -> dict[str, Any] | None:
        """Commit and return the version; without a trace when nothing was written."""
        self.flush()
        if self._head == self._row()["base"]:
            self.abandon()
            return None
        return self.commit()

    def abandon(self) -> None:
        """Give up everything that was not committed."""
        self.close()
        self._site.http.post(f"{self._address}abandon/")

    def close(self) -> None:
        """Stop without a commit; the staging branch stays, with what is persisted."""
        self._is_open = False
        self._spool.close()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit what was written; after an exception, persist and leave it."""
        if not self._is_open:
            return
        try:
            if kind is None:
                self.finish()
            elif issubclass(kind, Exception):
                with suppress(ClientError, OSError):
                    self._spool.flush()
        finally:
            self.close()

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = self._site.http.get(self._address)
        return row

    def _check_open(self) -> None:
        if not self._is_open:
            raise WriterClosedError("The writer is closed.")

    def _persist(self, segment: Segment) -> None:
        """Send one segment and have it put on the staging branch; called by the spool's thread."""
        if self._retries:
            self._head = settled_head(self._site.http, self._address)
        self._retries = True
        if self._head is None and not segment.puts_anything:
            # There is nothing yet that could be removed.
            self._retries = False
            return
        said = {"files": segment.files, "size_bytes": segment.size_bytes}
        self._site.http.post(f"{self._address}uploading/", said)
        rows = segment.rows(self._send_packs(segment))
        changes = pa.Table.from_pylist(
            [dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], schema=_SCHEMA
        )
        body = {
            "changes_upload": send_changes(self._target, [changes]),
            "expected_head": self._head,
        }
        request = self._site.http.post(f"{self._address}flushes/", body)
        try:
            done = wait_for_commit(self._site.http, self._site.base, request)
        except HeadMovedError as exc:
            # To look for the new head would be to write over what the other process does.
            self._retries = False
            raise WriterTakenOverError("Another process writes with this writer.") from exc
        self._head = str(done["version"]["commit"])
        self._retries = False

    def _send_packs(self, segment: Segment) -> list[PackSummary]:
        def send(plan: PackPlan) -> tuple[str, PackSummary]:
            with packed_file(partial(segment.write_pack, plan)) as (path, summary):
                return upload_file(self._target, path, "pack", summary.digest.hex()), summary

        summaries = []
        with ThreadPoolExecutor(_PACKS_AT_ONCE, "atom-writer-pack") as pool:
            for upload_id, summary in pool.map(send, segment.packs(self._options.packs)):
                wait_verified(self._target, upload_id)
                summaries.append(summary)
        return summaries


def settled_head(http: Http, address: str) -> str | None:
    """Return the staging branch's commit, once no worker is at it any more."""
    row = http.get(address)
    while row["is_persisting"]:
        time.sleep(_POLL_S)
        row = http.get(address)
    head: str | None = row["head"]
    return head


def _opened(content: Content) -> Any:
    """Return a context that gives a binary stream. Raises TypeError, OSError."""
    if isinstance(content, bytes | bytearray | memoryview):
        return io.BytesIO(content)
    if isinstance(content, os.PathLike):
        return Path(content).open("rb")
    if isinstance(content, str) or not hasattr(content, "read"):
        raise TypeError("Give bytes, a Path or a binary stream; encode text first.")
    return _Borrowed(content)


class _Borrowed:
    """A stream that belongs to the caller, who closes it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def __enter__(self) -> BinaryIO:
        return self._stream

    def __exit__(self, *_: object) -> None:
        pass
