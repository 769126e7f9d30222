"""Containers of Azure Blob Storage, over its REST API.

Not through obstore: it follows redirects and connects where the name leads at that moment; here
every connection goes to an address that was checked. Blobs are pinned by etag, size and time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote, unquote
from xml.etree import ElementTree

import httpx

from atom.datasets.sentences import listing_stuck
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import SourceChanged, SourceDenied, SourceOdd
from atom.datasets.sources.pipelines.answers import (
    check_status,
    etag_of,
    http_time,
    mtime_of,
    part_of,
    size_of,
    understood,
    whole_body,
)
from atom.datasets.sources.pipelines.azure_keys import azure_auth
from atom.datasets.sources.pipelines.endless import EndlessGuard
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom.datasets.sources.pipelines.web import WebPlace
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_PAGE = "5000"
_FOLDER_PAGES = 20


class AzureReader:
    """One prefix of one container."""

    def __init__(
        self, spec: SourceSpec, allowed: Sequence[str], patience: Patience = BATCH
    ) -> None:
        """Raises Invalid, SourceAddressRefused or SourceAway."""
        endpoint = spec.endpoint or f"https://{spec.bucket}.blob.core.windows.net"
        auth = azure_auth(spec.bucket, spec.credentials)
        self._place = WebPlace(endpoint, allowed, auth)
        self._container, self._root = spec.container, spec.root
        self._patience = patience

    def folders(self, prefix: str) -> list[str] | None:
        """Return the prefixes directly below, each ending in a slash; None if they are many."""
        found: list[str] = []
        for number, page in enumerate(self._pages(self._root + prefix, "/")):
            if number == _FOLDER_PAGES:
                return None
            found += [_name(row) for row in page.iterfind("Blobs/BlobPrefix")]
        return [full.removeprefix(self._root) for full in found]

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the blobs of a shard that come after a key.

        A listing cannot begin in the middle: pages that were seen are asked for again.
        """
        for page in self._pages(self._root + shard.prefix, "" if shard.is_deep else "/"):
            rows = [row for row in page.iterfind("Blobs/Blob") if not _is_folder(row)]
            found = [self._object(row) for row in rows]
            yield [one for one in found if one.key > after]

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        if end <= start:
            return b""
        return self._patience.run(lambda: self._read(pin, start, end))

    def _read(self, pin: Pin, start: int, end: int) -> bytes:
        path = f"/{quote(self._container)}/{quote(self._root + pin.key)}"
        headers = {"x-ms-range": f"bytes={start}-{end - 1}", "If-Match": f'"{pin.etag}"'}
        with self._place.stream(path, headers=headers) as answer:
            code = answer.headers.get("x-ms-error-code", "")
            gone = answer.status_code == 404 and code != "ContainerNotFound"
            if gone or answer.status_code in {412, 416}:
                raise SourceChanged.of([pin.key])
            check_status(answer, f"the container {self._container}")
            if not _is_pinned(answer, pin):
                raise SourceChanged.of([pin.key])
            return part_of(answer, start, end)

    def _pages(self, prefix: str, delimiter: str) -> Iterator[ElementTree.Element]:
        asked = {"restype": "container", "comp": "list", "maxresults": _PAGE, "prefix": prefix}
        asked |= {"delimiter": delimiter} if delimiter else {}
        guard = EndlessGuard()
        while True:
            page = self._patience.run(lambda: self._page(asked))
            guard.see([_name(row) for row in page.iterfind("Blobs/*")])
            yield page
            marker = page.findtext("NextMarker") or ""
            if not marker:
                return
            if marker == asked.get("marker"):
                raise SourceOdd(listing_stuck())
            asked["marker"] = marker

    def _page(self, asked: dict[str, str]) -> ElementTree.Element:
        what = f"the container {self._container}"
        with self._place.stream(f"/{quote(self._container)}", asked) as answer:
            if answer.headers.get("x-ms-error-code") == "PublicAccessNotPermitted":
                raise SourceDenied(
                    Sentence(
                        "datasets.server_needs_credentials",
                        "The server refuses {name} without credentials.",
                        name=what,
                    )
                )
            check_status(answer, what)
            with understood("Azure Blob Storage"):
                page = ElementTree.fromstring(whole_body(answer))
                if page.tag != "EnumerationResults":
                    raise ValueError
                return page

    def _object(self, row: ElementTree.Element) -> SourceObject:
        with understood("Azure Blob Storage"):
            return SourceObject(
                _name(row).removeprefix(self._root),
                int(row.findtext("Properties/Content-Length") or ""),
                (row.findtext("Properties/Etag") or "").strip('"') or None,
                http_time(row.findtext("Properties/Last-Modified") or ""),
            )


def _is_pinned(answer: httpx.Response, pin: Pin) -> bool:
    state = (size_of(answer), etag_of(answer), mtime_of(answer))
    return state == (str(pin.size), pin.etag, pin.mtime)


def _name(row: ElementTree.Element) -> str:
    name = row.find("Name")
    with understood("Azure Blob Storage"):
        if name is None or not name.text:
            raise ValueError
    # Names with characters that XML cannot hold come percent-encoded.
    return unquote(name.text) if name.get("Encoded") == "true" else name.text


def _is_folder(row: ElementTree.Element) -> bool:
    """Accounts with a hierarchical namespace list their folders too."""
    is_own = row.findtext("Properties/ResourceType") == "directory"
    return is_own or row.findtext("Metadata/hdi_isfolder") == "true"
