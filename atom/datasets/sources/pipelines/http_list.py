"""Files of a web server, named by a text file there: one address a line, `#` begins a comment.

Addresses are relative to the list, or whole; they lie below the list's folder, so that one check
of one host covers them. No redirect is followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx

from atom.datasets.sentences import no_answer_from
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import SourceAway, SourceChanged, SourceOdd
from atom.datasets.sources.pipelines.addresses import check_url
from atom.datasets.sources.pipelines.answers import (
    check_status,
    etag_of,
    mtime_of,
    part_of,
    size_of,
    understood,
)
from atom.datasets.sources.pipelines.connections import http_client
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_AT_ONCE = 8
_PAGE = 200
_LINE_CHARS = 8192
_LINE_BYTES = 4 * _LINE_CHARS
# An exabyte has one more.
_SIZE_DIGITS = 18


class HttpListReader:
    """The files that one list names."""

    def __init__(
        self, spec: SourceSpec, allowed: Sequence[str], patience: Patience = BATCH
    ) -> None:
        """Raises SourceAddressRefused or SourceAway for the list's host."""
        check_url(spec.url, allowed)
        self._list, self._base = spec.url, urljoin(spec.url, ".")
        self._patience = patience
        self._client = http_client(allowed)

    def folders(self, prefix: str) -> list[str] | None:
        """Return None: a list has no folders to go through one by one."""
        return None

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the files that the list names after `after`, in its order."""
        keys = self._keys()
        if after:
            for key in keys:
                if key == after:
                    break
        with ThreadPoolExecutor(_AT_ONCE, "http-head") as pool:
            while some := list(islice(keys, _PAGE)):
                yield [one for one in pool.map(self._look, some) if one is not None]

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        if end <= start:
            return b""
        return self._patience.run(lambda: self._read(pin, start, end))

    def _read(self, pin: Pin, start: int, end: int) -> bytes:
        headers = {"Range": f"bytes={start}-{end - 1}"}
        if pin.etag and not pin.etag.startswith("W/"):
            headers["If-Match"] = f'"{pin.etag}"'
        try:
            with self._client.stream("GET", self._url(pin.key), headers=headers) as answer:
                if answer.status_code in {404, 410, 412, 416} or not _is_pinned(answer, pin):
                    raise SourceChanged.of([pin.key])
                return part_of(answer, start, end)
        except httpx.HTTPError as exc:
            raise SourceAway(no_answer_from(self._base)) from exc

    def _keys(self) -> Iterator[str]:
        try:
            with self._client.stream("GET", self._list) as answer:
                check_status(answer, "the list")
                for number, line in enumerate(_lines(answer), 1):
                    text = line.strip()
                    if text and not text.startswith("#"):
                        yield self._key(text, number)
        except httpx.HTTPError as exc:
            raise SourceAway(no_answer_from(self._base)) from exc

    def _key(self, text: str, number: int) -> str:
        try:
            url = urljoin(self._base, text)
            query = urlsplit(url).query
        except ValueError:
            url = query = ""
        if len(text) > _LINE_CHARS or not url.startswith(self._base) or query:
            raise SourceOdd(
                Sentence(
                    "datasets.list_line_outside_folder",
                    "Line {line} of the list is no address below the list's folder.",
                    line=number,
                )
            )
        return unquote(url.removeprefix(self._base).partition("#")[0])

    def _url(self, key: str) -> str:
        return self._base + quote(key)

    def _look(self, key: str) -> SourceObject | None:
        return self._patience.run(lambda: self._head(key))

    def _head(self, key: str) -> SourceObject | None:
        try:
            answer = self._client.head(self._url(key))
        except httpx.HTTPError as exc:
            raise SourceAway(no_answer_from(self._base)) from exc
        if answer.status_code in {404, 410}:
            return None
        check_status(answer, repr(key))
        length = answer.headers.get("Content-Length", "")
        etag, mtime = etag_of(answer), mtime_of(answer)
        if not length.isdecimal() or len(length) > _SIZE_DIGITS or (etag is None and mtime is None):
            raise SourceOdd(
                Sentence(
                    "datasets.changes_not_noticeable",
                    (
                        "The server gives no ETag, no Last-Modified or no size for {key}, so Atom "
                        "could not notice a change."
                    ),
                    key=repr(key),
                )
            )
        return SourceObject(key, int(length), etag, mtime)


def _lines(answer: httpx.Response) -> Iterator[str]:
    """Yield lines as they come; none may be so long that it would fill the memory."""
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise SourceOdd(
            Sentence(
                "datasets.list_compressed_unasked",
                "The server sends the list compressed, though not asked to.",
            )
        )
    rest = b""
    with understood("a list in UTF-8"):
        for chunk in answer.iter_raw():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line.decode() for line in lines)
            if len(rest) > _LINE_BYTES:
                raise SourceOdd(
                    Sentence("datasets.list_line_endless", "The list has a line that does not end.")
                )
        yield rest.decode()


def _is_pinned(answer: httpx.Response, pin: Pin) -> bool:
    check_status(answer, repr(pin.key))
    state = (size_of(answer), etag_of(answer), mtime_of(answer))
    return state == (str(pin.size), pin.etag, pin.mtime)
