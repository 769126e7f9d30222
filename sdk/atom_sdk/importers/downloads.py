"""Files that an annotation names by their addresses, fetched into the scratch folder.

A few at once, each bounded; a file that an earlier, cut-off import fetched is not fetched again.
Redirects are followed, and where they lead is checked like the address itself; connections go to
the addresses that were checked and to no other.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpx

from atom_sdk.amounts import counted
from atom_sdk.checked_connections import CheckedTransport
from atom_sdk.importers.errors import DownloadRefusedError
from atom_sdk.importers.items import Blob, file_blob
from atom_sdk.importers.report import Report
from atom_sdk.public_hosts import (
    AddressRefusedError,
    HostUnknownError,
    check_public_url,
    public_addresses,
)

_AT_ONCE = 8
_TIMEOUT_S = 60.0
_TRIES = 3
_REDIRECTS = 5
_RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Size of one file, and hosts or networks that may be fetched from though not public."""

    file_bytes: int = 256 * MIB
    allowed_hosts: Sequence[str] = ()


class _BrokenOffError(Exception):
    """It may work another time; the text says what happened."""


class Downloads:
    """Fetches addresses; with `is_dry` it fetches nothing and says so."""

    def __init__(
        self, folder: Path, limits: DownloadLimits, report: Report, *, is_dry: bool = False
    ) -> None:
        """Files are kept in `folder` until the import is through."""
        self._folder = folder
        self._limits = limits
        self._report = report
        self._is_dry = is_dry
        self._found: dict[str, Blob | None] = {}
        self._refusals: dict[str, str] = {}
        addresses_of = partial(public_addresses, allowed=limits.allowed_hosts)
        self._client = httpx.Client(
            transport=CheckedTransport(addresses_of),
            follow_redirects=False,
            timeout=_TIMEOUT_S,
            trust_env=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "atom-sdk"},
        )

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections; a dry one says what it did not fetch."""
        self._client.close()
        if self._is_dry and self._found:
            files = counted(len(self._found), "file")
            self._report.note(f"{files} would be downloaded; the size is not known yet")

    @property
    def folder(self) -> Path:
        """Where there is room for what is not worth keeping in memory."""
        return self._folder

    def fetch_all(self, urls: Iterable[str]) -> None:
        """Fetch several at once."""
        wanted = [url for url in dict.fromkeys(urls) if url not in self._found]
        with ThreadPoolExecutor(_AT_ONCE, "atom-download") as pool:
            self._found.update(zip(wanted, pool.map(self._get, wanted), strict=True))

    def fetch(self, url: str) -> Blob | None:
        """Return what an address has, None where `refusal` says why not."""
        if url not in self._found:
            self._found[url] = self._get(url)
        return self._found[url]

    def refusal(self, url: str) -> tuple[str, str]:
        """Return the name of an address that was not fetched, for the report, and the reason."""
        # The part after the question mark may be a signature.
        return url.partition("?")[0], self._refusals.get(url, "it was not fetched")

    def _get(self, url: str) -> Blob | None:
        if self._is_dry:
            return Blob(0, BytesIO, is_there=False)
        target = self._folder / hashlib.sha256(url.encode()).hexdigest()
        try:
            if not target.exists():
                self._fetch(url, target)
        except (DownloadRefusedError, AddressRefusedError, HostUnknownError) as refused:
            self._refusals[url] = str(refused)
            return None
        # The address is what it is known by: fetched again, it must pass for the same file.
        return file_blob(target)

    def _fetch(self, url: str, target: Path) -> None:
        for attempt in range(_TRIES):
            try:
                self._follow(url, target)
                return
            except (_BrokenOffError, httpx.HTTPError) as error:
                if attempt == _TRIES - 1:
                    raise DownloadRefusedError(f"it cannot be fetched: {error}") from error
                time.sleep(0.2 * 2**attempt)

    def _follow(self, url: str, target: Path) -> None:
        for _ in range(_REDIRECTS + 1):
            check_public_url(url, self._limits.allowed_hosts)
            try:
                with self._client.stream("GET", url) as answer:
                    if not answer.is_redirect:
                        self._save(answer, target)
                        return
                    url = urljoin(url, answer.headers.get("Location", ""))
            except (httpx.InvalidURL, ValueError) as error:
                raise DownloadRefusedError("it is not a URL") from error
        raise DownloadRefusedError("it redirects too often")

    def _save(self, answer: httpx.Response, target: Path) -> None:
        if answer.status_code in _RETRIED_STATUS:
            raise _BrokenOffError(f"the server answers with status {answer.status_code}")
        if answer.status_code != httpx.codes.OK:
            raise DownloadRefusedError(f"the server answers with status {answer.status_code}")
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise DownloadRefusedError("the server sends it compressed, though not asked to")
        half = target.with_suffix(f".{os.getpid()}.part")
        done = 0
        try:
            with half.open("wb") as file:
                for chunk in answer.iter_raw():
                    done += len(chunk)
                    self._check_size(done)
                    file.write(chunk)
            half.rename(target)
        finally:
            half.unlink(missing_ok=True)

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._limits.file_bytes:
            most = self._limits.file_bytes // MIB
            raise DownloadRefusedError(f"it has more than {most} MiB (--max-download-mib)")
