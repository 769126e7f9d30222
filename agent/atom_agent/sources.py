"""Reads a pack from a peer or from the origin, range by range, and trusts neither.

No redirect is followed, no proxy is used, and never more than the pack's bytes are read. A broken
connection goes on where it ended; bytes that are wrong are noticed by the digest of the whole.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterator

import httpx

from atom_agent.errors import FetchError, Reason
from atom_agent.messages import Fetch, Source
from atom_sdk.checked_connections import CheckedTransport
from atom_sdk.pace import Pace

RANGE_BYTES = 8 << 20
STALL_S = 5.0
_MOST_BREAKS = 3
# A source that drips is as useless as a silent one, and would hold a place for ever.
_PACE = Pace(grace_s=30.0, bytes_s=16 << 10)
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class _Broken(Exception):
    """The connection ended before the range did."""


class Sources:
    """Connections to peers and to the origin. Safe for threads."""

    def __init__(self, stall_s: float = STALL_S) -> None:
        """A source without a byte in `stall_s` seconds has stalled."""
        self._client = {
            "peer": _client(_address_itself, stall_s),
            "origin": _client(_resolved, stall_s),
        }

    def close(self) -> None:
        """Close idle connections; reads that go on fail."""
        for client in self._client.values():
            client.close()

    def chunks(self, fetch: Fetch) -> Iterator[bytes]:
        """Yield the pack's bytes in order.

        Raises FetchError with `stalled`, `digest`, `refused`, `missing` or `origin`.
        """
        _check_address(fetch.source)
        done = breaks = 0
        while done < fetch.size_bytes:
            before = done
            try:
                for chunk in self._range(fetch, done):
                    done += len(chunk)
                    yield chunk
            except _Broken as error:
                breaks = 1 if done > before else breaks + 1
                if breaks >= _MOST_BREAKS:
                    raise _unreachable(fetch.source, str(error)) from error

    def _range(self, fetch: Fetch, start: int) -> Iterator[bytes]:
        end = min(start + RANGE_BYTES, fetch.size_bytes)
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        if fetch.source.token is not None:
            headers["Authorization"] = f"Bearer {fetch.source.token}"
        client = self._client[fetch.source.kind]
        try:
            with client.stream("GET", fetch.source.url, headers=headers) as answer:
                end = _checked_end(answer, fetch, start, end)
                yield from _exactly(answer, end - start)
        except httpx.ReadTimeout as error:
            raise FetchError(Reason.STALLED, "No byte came in time.") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _Broken(f"{type(error).__name__}: {error}") from error


def _client(addresses_of: object, stall_s: float) -> httpx.Client:
    transport = CheckedTransport(addresses_of, pace=_PACE)  # type: ignore[arg-type]
    timeout = httpx.Timeout(stall_s)
    return httpx.Client(transport=transport, timeout=timeout, follow_redirects=False)


def _exactly(answer: httpx.Response, count: int) -> Iterator[bytes]:
    """Yield `count` bytes. Raises FetchError if more come and _Broken if fewer do."""
    for chunk in answer.iter_raw():
        if len(chunk) > count:
            raise FetchError(Reason.DIGEST, "The source sent more bytes than the range has.")
        count -= len(chunk)
        yield chunk
    if count:
        raise _Broken(f"{count} bytes of a range are missing.")


def _checked_end(answer: httpx.Response, fetch: Fetch, start: int, end: int) -> int:
    """Return where the answer's bytes end. Raises FetchError if they are not those of the range."""
    status, size = answer.status_code, fetch.size_bytes
    if status == httpx.codes.OK and start == 0:
        # The source knows no ranges: it sends the whole pack.
        end = size
    elif status == httpx.codes.PARTIAL_CONTENT:
        match = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", ""))
        if not match or tuple(map(int, match.groups())) != (start, end - 1, size):
            raise FetchError(Reason.DIGEST, "The source sent another range, or of another size.")
    else:
        raise _refusal(fetch.source, status)
    length = answer.headers.get("content-length")
    if length is not None and length != str(end - start):
        raise FetchError(Reason.DIGEST, f"The source announced {length} bytes, not {end - start}.")
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise FetchError(Reason.DIGEST, "The source encoded the bytes.")
    return end


def _refusal(source: Source, status: int) -> FetchError:
    detail = f"The source answered with the status {status}."
    if status == httpx.codes.NOT_FOUND:
        return FetchError(Reason.MISSING, detail)
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        return FetchError(Reason.DIGEST, "The source holds fewer bytes than the pack has.")
    return FetchError(Reason.REFUSED if source.kind == "peer" else Reason.ORIGIN, detail)


def _unreachable(source: Source, detail: str) -> FetchError:
    return FetchError(Reason.REFUSED if source.kind == "peer" else Reason.ORIGIN, detail)


def _check_address(source: Source) -> None:
    """Raise FetchError unless a peer is `http://IP:PORT/…` and the origin is HTTP."""
    try:
        url = httpx.URL(source.url)
        if source.kind == "peer":
            ipaddress.ip_address(url.host)
    except (httpx.InvalidURL, ValueError) as error:
        raise _unreachable(source, f"The source's address cannot be used: {error}.") from error
    is_good = url.scheme in ("http", "https") and not url.userinfo
    if source.kind == "peer":
        is_good = url.scheme == "http" and url.port is not None and not url.userinfo
    if not is_good:
        raise _unreachable(source, "The source's address cannot be used.")


def _address_itself(host: str, port: int) -> list[str]:
    return [str(ipaddress.ip_address(host))]


def _resolved(host: str, port: int) -> list[str]:
    """Return the origin's addresses. Raises httpx.ConnectError if its name has none."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError(f"The name {host} has no address.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
