"""Folders of HDFS, over WebHDFS: the name node has the entries, data nodes have the bytes.

A name node sends a reader on to a data node, the one redirect that any source follows: it goes to
an address that was checked, as every connection does. Files are pinned by inode, size and time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx

from atom.datasets.source_spec import SourceSpec, no_whole_path
from atom.datasets.sources.errors import SourceAway, SourceChanged, SourceMissing, SourceOdd
from atom.datasets.sources.pipelines.answers import check_status, part_of, understood, whole_body
from atom.datasets.sources.pipelines.endless import EndlessGuard
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom.datasets.sources.pipelines.web import WebPlace, json_of
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_PAGE = 1000
_KIND = "WebHDFS"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Answers of the standby name node of a pair, or of one that is starting.
_PASSING = {"StandbyException", "RetriableException", "SafeModeException"}


class HdfsReader:
    """One folder of one file system."""

    def __init__(
        self, spec: SourceSpec, allowed: Sequence[str], patience: Patience = BATCH
    ) -> None:
        """Raises Invalid, SourceAddressRefused or SourceAway."""
        parts = urlsplit(spec.url)
        scheme = "https" if parts.scheme == "swebhdfs" else "http"
        self._folder = unquote(parts.path).rstrip("/")
        if any(step in {".", ".."} for step in self._folder.split("/")):
            raise no_whole_path()
        self._nodes = _Nodes(f"{scheme}://{parts.netloc}", allowed)
        self._patience = patience
        keys = spec.credentials
        self._who = {"delegation": keys.delegation_token} if keys.delegation_token else {}
        if keys.hdfs_user and not self._who:
            self._who = {"user.name": keys.hdfs_user}

    def folders(self, prefix: str) -> list[str] | None:
        """Return the folders directly below."""
        return [name for name, row in self._names(prefix) if row is None]

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the files of a shard that come after a path, in the order of whole paths."""
        page: list[SourceObject] = []
        for found in self._walk(shard.prefix, after, is_deep=shard.is_deep):
            page.append(found)
            if len(page) == _PAGE:
                yield page
                page = []
        yield page

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        if end <= start:
            return b""
        return self._patience.run(lambda: self._read(pin, start, end))

    def _read(self, pin: Pin, start: int, end: int) -> bytes:
        self._require_pinned(pin)
        params = {"offset": str(start), "length": str(end - start)}
        with self._ask(pin.key, "OPEN", params) as answer:
            data = part_of(answer, 0, end - start)
        # Again: it may have been written to in between.
        self._require_pinned(pin)
        return data

    def _require_pinned(self, pin: Pin) -> None:
        try:
            with self._ask(pin.key, "GETFILESTATUS", {}) as answer:
                row = json_of(whole_body(answer), _KIND).get("FileStatus", {})
        except SourceMissing:
            # The file, or the whole folder? That would be another thing to do something about.
            with self._ask("", "GETFILESTATUS", {}):
                raise SourceChanged.of([pin.key]) from None
        now = _object(pin.key, row)
        if (now.size_bytes, now.etag, now.mtime) != (pin.size, pin.etag, pin.mtime):
            raise SourceChanged.of([pin.key])

    def _walk(self, prefix: str, after: str, *, is_deep: bool) -> Iterator[SourceObject]:
        for name, row in self._names(prefix):
            if row is None:
                # A whole folder comes before `after` unless it leads there.
                if is_deep and (name > after or after.startswith(name)):
                    yield from self._walk(name, after, is_deep=True)
            elif name > after:
                yield _object(name, row)

    def _names(self, prefix: str) -> list[tuple[str, dict[str, Any] | None]]:
        """Return what is directly below, in the order of whole paths; folders have no row."""
        found: list[tuple[str, dict[str, Any] | None]] = []
        for rows in self._batches(prefix):
            for row in rows:
                with understood(_KIND):
                    name, kind = str(row["pathSuffix"]), row["type"]
                if not name or name in {".", ".."} or "/" in name:
                    raise SourceOdd(
                        Sentence(
                            "datasets.folder_unreadable",
                            "{folder} is no folder, or has odd names.",
                            folder=repr(prefix or self._folder),
                        )
                    )
                if kind == "DIRECTORY":
                    found.append((f"{prefix}{name}/", None))
                elif kind == "FILE":
                    found.append((prefix + name, row))
        return sorted(found, key=lambda one: one[0])

    def _batches(self, prefix: str) -> Iterator[list[dict[str, Any]]]:
        guard, after = EndlessGuard(), ""
        while True:
            rows, remaining = self._patience.run(partial(self._batch, prefix, after))
            yield rows
            if not remaining:
                return
            with understood(_KIND):
                names = [str(row["pathSuffix"]) for row in rows]
                guard.see(names)
                after = names[-1] if names else after

    def _batch(self, prefix: str, after: str) -> tuple[list[dict[str, Any]], int]:
        params = {"startAfter": after} if after else {}
        with self._ask(prefix.rstrip("/"), "LISTSTATUS_BATCH", params) as answer:
            found = json_of(whole_body(answer), _KIND)
        with understood(_KIND):
            listing = found["DirectoryListing"]
            rows = listing["partialListing"]["FileStatuses"]["FileStatus"]
            return list(rows), int(listing["remainingEntries"])

    @contextmanager
    def _ask(self, key: str, op: str, params: dict[str, str]) -> Iterator[httpx.Response]:
        path = f"{self._folder}/{key}" if key else self._folder or "/"
        asked = {"op": op, **params, **self._who}
        with self._nodes.answer(f"/webhdfs/v1{quote(path)}", asked) as answer:
            _check(answer, repr(key or self._folder or "/"))
            yield answer


class _Nodes:
    """The name node, and the data nodes that it sends us to."""

    def __init__(self, base: str, allowed: Sequence[str]) -> None:
        self._allowed = allowed
        self._name_node = WebPlace(base, allowed)

    @contextmanager
    def answer(self, path: str, params: dict[str, str]) -> Iterator[httpx.Response]:
        with self._name_node.stream(path, params) as answer:
            there = answer.headers.get("Location", "")
            if answer.status_code != 307 or not there:
                yield answer
                return
        with self._data_node(there) as answer:
            yield answer

    @contextmanager
    def _data_node(self, url: str) -> Iterator[httpx.Response]:
        with understood("an address of a data node"):
            parts = urlsplit(url)
        # Checked in `WebPlace` and at the connection; what comes back is not followed again.
        place = WebPlace(f"{parts.scheme}://{parts.netloc}", self._allowed)
        try:
            with place.stream(f"{parts.path}?{parts.query}") as answer:
                yield answer
        finally:
            place.close()


def _check(answer: httpx.Response, what: str) -> None:
    if answer.status_code >= 400:
        try:
            body = json_of(whole_body(answer), _KIND)
            name = str(body.get("RemoteException", {}).get("exception", ""))
        except (SourceOdd, AttributeError):
            name = ""
        if name in _PASSING:
            raise SourceAway(
                Sentence(
                    "datasets.name_node_not_serving",
                    "The name node does not serve now ({reason}).",
                    reason=name,
                )
            )
    check_status(answer, what)


def _object(name: str, row: dict[str, Any]) -> SourceObject:
    with understood(_KIND):
        inode = row.get("fileId")
        mtime = _EPOCH + timedelta(milliseconds=int(row["modificationTime"]))
        return SourceObject(name, int(row["length"]), str(inode) if inode else None, mtime)
