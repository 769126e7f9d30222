"""Meanings of a web server's answers, for all sources that are reached over plain HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx

from atom.datasets.sentences import no_answer_from
from atom.datasets.sources.errors import (
    SourceAway,
    SourceDenied,
    SourceMissing,
    SourceOdd,
    SourceThrottled,
)
from atom.datasets.sources.pipelines.patience import retry_after_s
from atom_sdk.sentences import Sentence

# An answer that is read whole, a page of a listing for example.
_MOST_BYTES = 64 << 20


@contextmanager
def answering(place: str) -> Iterator[None]:
    """Tell a broken connection in our words: never the client's, which may quote the address."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise SourceAway(no_answer_from(place)) from exc


def check_status(answer: httpx.Response, what: str) -> None:
    """Raise what any status but 200 and 206 means; `what` was asked for."""
    status = answer.status_code
    if status in {401, 403}:
        raise SourceDenied(
            Sentence("datasets.server_refuses", "The server refuses {name}.", name=what)
        )
    if status in {404, 410}:
        raise SourceMissing(
            Sentence("datasets.server_lacks", "The server does not have {name}.", name=what)
        )
    if status in {429, 503}:
        raise SourceThrottled(retry_after_s=retry_after_s(answer.headers.get("Retry-After")))
    if status >= 500:
        raise SourceAway(
            Sentence(
                "datasets.server_fails", "The server fails with status {status}.", status=status
            )
        )
    if status not in {200, 206}:
        raise SourceOdd(
            Sentence(
                "datasets.server_redirects",
                "The server answers with status {status}; redirects are not followed.",
                status=status,
            )
        )


def whole_body(answer: httpx.Response) -> bytes:
    """Return an answer of reasonable size. Raises SourceOdd."""
    data = bytearray()
    for chunk in answer.iter_raw():
        data += chunk
        if len(data) > _MOST_BYTES:
            raise SourceOdd(
                Sentence("datasets.server_answer_endless", "The server's answer does not end.")
            )
    return bytes(data)


def part_of(answer: httpx.Response, start: int, end: int) -> bytes:
    """Return the wanted part, also of a server that sends all of it. Raises SourceAway."""
    skip = start if answer.status_code == 200 else 0
    data = bytearray()
    for chunk in answer.iter_raw():
        data += chunk
        if len(data) >= skip + end - start:
            break
    wanted = bytes(data[skip : skip + end - start])
    if len(wanted) != end - start:
        raise SourceAway(Sentence("datasets.server_cut_file_off", "The server cut the file off."))
    return wanted


def size_of(answer: httpx.Response) -> str:
    """Return the size of the whole object as the server says it, "" if it does not."""
    total = str(answer.headers.get("Content-Range", "")).rpartition("/")[2]
    return total or str(answer.headers.get("Content-Length", ""))


def etag_of(answer: httpx.Response) -> str | None:
    """Return the ETag without its quotes."""
    return answer.headers.get("ETag", "").strip('"') or None


def mtime_of(answer: httpx.Response) -> datetime | None:
    """Return Last-Modified, None if there is none that can be read."""
    return http_time(answer.headers.get("Last-Modified", ""))


def http_time(text: str) -> datetime | None:
    """Return the time that a header means, None if it means none."""
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None


@contextmanager
def understood(kind: str) -> Iterator[None]:
    """Tell an answer that cannot be taken apart. Raises SourceOdd."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, SyntaxError) as exc:
        raise SourceOdd(
            Sentence(
                "datasets.server_answer_is_not", "The server's answer is not {kind}.", kind=kind
            )
        ) from exc
