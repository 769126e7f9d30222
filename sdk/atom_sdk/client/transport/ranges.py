"""Reads ranges of packs from the object store: retries, renewed addresses, hedged requests."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from atom_sdk.client.errors import PackUnreadableError
from atom_sdk.client.transport.hedging import Hedge
from atom_sdk.client.transport.pack_urls import PackAddresses
from atom_sdk.errors import AtomError
from atom_sdk.forks import forget_in_children
from atom_sdk.readers.ranges import PackRange

_RETRIED_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_CONNECTIONS = 32


@dataclass(frozen=True)
class Patience:
    """How long to wait for the store, and how often to try."""

    tries: int = 6
    first_wait_s: float = 0.25
    longest_wait_s: float = 8.0
    # Without a single byte in all this time, the connection is given up.
    silence_s: float = 20.0


class _Passing(Exception):
    """A failure that may be over in a moment."""


class _Refused(Exception):
    """The store refused the address: it has expired."""

    def __init__(self, url: str) -> None:
        super().__init__("The object store answered 403")
        self.url = url


class _NoPackError(PackUnreadableError):
    """The store has no such pack."""


class _Abandoned(Exception):
    """Another request was faster."""


@dataclass(frozen=True)
class _RangeRequest:
    pack: bytes
    start: int
    length: int
    abandoned: threading.Event = field(default_factory=threading.Event)


class PackRanges:
    """Reads ranges. Thread-safe, fork-safe, can be pickled; `hedge` counts the requests."""

    def __init__(self, addresses: PackAddresses, patience: Patience | None = None) -> None:
        """Connections are opened when the first range is read."""
        self.addresses = addresses
        self._patience = patience or Patience()
        self.hedge = Hedge()
        self._client: httpx.Client | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        forget_in_children(self)

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return `length` bytes from `start`, fewer at the end of the pack.

        Raises PackUnreadableError when retries did not help, ApiError and NetworkError when there
        is no address for the pack.
        """
        used = self.addresses.url(pack)
        try:
            return self._read_from_one_store(pack, start, length)
        except PackUnreadableError as error:
            # A pack that is replicated can be read elsewhere.
            trouble = "missing" if isinstance(error, _NoPackError) else "away"
            if not self._may_lead_elsewhere(pack, used, trouble):
                raise
        return self._read_from_one_store(pack, start, length)

    def doubt(self, pack: bytes) -> None:
        """Read a pack elsewhere from now on, if it is stored twice: its bytes were wrong."""
        with suppress(AtomError):
            self._leads_elsewhere(pack, self.addresses.url(pack), "digest")

    def _may_lead_elsewhere(self, pack: bytes, used: str, trouble: str) -> bool:
        """Return whether another store has the pack; False if the server does not tell."""
        try:
            return self._leads_elsewhere(pack, used, trouble)
        except AtomError:
            return False

    def _leads_elsewhere(self, pack: bytes, used: str, trouble: str) -> bool:
        """Return whether the pack has an address in another store than the one that was used."""
        known = self.addresses.url(pack)
        if _place(known) == _place(used):
            known = self.addresses.renew(pack, known, trouble)
        # Otherwise another thread had the same trouble before.
        return _place(known) != _place(used)

    def _read_from_one_store(self, pack: bytes, start: int, length: int) -> PackRange:
        renewed = False
        reason = ""
        for attempt in range(self._patience.tries):
            try:
                return self._read_hedged(pack, start, length)
            except _Refused as refused:
                if renewed:
                    raise PackUnreadableError(pack.hex(), f"{refused}, twice,") from refused
                self.addresses.renew(pack, refused.url)
                renewed = True
            except _Passing as passing:
                reason = str(passing)
                self._pause(attempt)
        raise PackUnreadableError(pack.hex(), reason)

    def close(self) -> None:
        """Close the connections; reading opens new ones."""
        with self._lock:
            client, threads = self._client, self._threads
            self._client = self._threads = None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
        if client is not None:
            client.close()
        self.addresses.close()

    def forget(self) -> None:
        """Use connections and threads of this process."""
        self._client = self._threads = None
        self._lock, self.hedge = threading.Lock(), Hedge()

    def __del__(self) -> None:
        """Close the connections; there are none if the constructor failed."""
        with suppress(AttributeError):
            self.close()

    def _pause(self, attempt: int) -> None:
        wait_s = min(self._patience.longest_wait_s, self._patience.first_wait_s * 2**attempt)
        if attempt + 1 < self._patience.tries:
            time.sleep(wait_s * random.uniform(0.75, 1.25))

    def _read_hedged(self, pack: bytes, start: int, length: int) -> PackRange:
        client, threads = self._connections()
        begun_s = time.monotonic()
        request = _RangeRequest(pack, start, length)
        running = {threads.submit(self._request, client, request)}
        done, _ = wait(running, timeout=self.hedge.begin())
        if not done and self.hedge.take():
            running.add(threads.submit(self._request, client, request))
        found = _first_good(running)
        request.abandoned.set()
        self.hedge.end(time.monotonic() - begun_s)
        return found

    def _connections(self) -> tuple[httpx.Client, ThreadPoolExecutor]:
        with self._lock:
            if self._client is None or self._threads is None:
                silence_s = self._patience.silence_s
                limits = httpx.Limits(
                    max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS
                )
                self._client = httpx.Client(
                    timeout=httpx.Timeout(silence_s, connect=min(10.0, silence_s)), limits=limits
                )
                self._threads = ThreadPoolExecutor(_CONNECTIONS, "atom-range")
            return self._client, self._threads

    def _request(self, client: httpx.Client, request: _RangeRequest) -> PackRange:
        url = self.addresses.url(request.pack)
        last = request.start + request.length - 1
        headers = {"Range": f"bytes={request.start}-{last}", "Accept-Encoding": "identity"}
        try:
            with client.stream("GET", url, headers=headers) as response:
                pack_bytes = _pack_bytes(response, request, url)
                data = bytearray()
                for chunk in response.iter_raw():
                    if request.abandoned.is_set():
                        raise _Abandoned
                    data += chunk
        except httpx.TransportError as error:
            raise _Passing(f"The connection to the object store broke ({error})") from error
        expected = min(request.length, pack_bytes - request.start)
        if len(data) != expected:
            raise _Passing(f"The object store sent {len(data)} of {expected} bytes")
        return PackRange(memoryview(data).toreadonly(), pack_bytes)

    def __reduce__(self) -> tuple[type[PackRanges], tuple[PackAddresses, Patience]]:
        """Pickle what to read, not the connections."""
        return PackRanges, (self.addresses, self._patience)


def _place(url: str) -> str:
    """Return an address without its signature, which is new each time."""
    return url.partition("?")[0]


def _pack_bytes(response: httpx.Response, request: _RangeRequest, url: str) -> int:
    """Size of the whole pack, from the headers of an answer."""
    status = response.status_code
    if status == httpx.codes.FORBIDDEN:
        raise _Refused(url)
    if status in _RETRIED_STATUS:
        raise _Passing(f"The object store answered {status}")
    unit, _, total = response.headers.get("content-range", "").partition("/")
    if status != httpx.codes.PARTIAL_CONTENT or not total.isdecimal():
        kind = _NoPackError if status == httpx.codes.NOT_FOUND else PackUnreadableError
        raise kind(
            request.pack.hex(), f"The object store answered {status} to a request for a range"
        )
    if not unit.startswith(f"bytes {request.start}-"):
        raise PackUnreadableError(request.pack.hex(), "The object store sent another range")
    return int(total)


def _first_good(running: set[Future[PackRange]]) -> PackRange:
    """The first answer; a failure counts only when no request is left."""
    while True:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            if future.exception() is None:
                return future.result()
        if not running:
            return next(iter(done)).result()
