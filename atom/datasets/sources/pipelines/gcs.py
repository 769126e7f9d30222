"""Buckets of Google Cloud Storage, over its JSON API. Objects are pinned by their generations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from atom.datasets.sentences import listing_stuck
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import SourceChanged, SourceOdd
from atom.datasets.sources.pipelines.answers import check_status, part_of, size_of, understood
from atom.datasets.sources.pipelines.endless import EndlessGuard
from atom.datasets.sources.pipelines.google_keys import GoogleToken, read_service_account
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.pipelines.patience import BATCH, Patience
from atom.datasets.sources.pipelines.web import WebPlace, json_of
from atom_sdk.manifests.pins import Pin

_ENDPOINT = "https://storage.googleapis.com"
_FIELDS = "nextPageToken,prefixes,items(name,size,generation,etag,updated)"
_FOLDER_PAGES = 20
_KIND = "Google Cloud Storage"


class GcsReader:
    """One prefix of one bucket."""

    def __init__(
        self, spec: SourceSpec, allowed: Sequence[str], patience: Patience = BATCH
    ) -> None:
        """Raises Invalid, SourceAddressRefused or SourceAway."""
        self._place = WebPlace(spec.endpoint or _ENDPOINT, allowed)
        self._bucket, self._root = spec.bucket, spec.root
        self._patience = patience
        self._token: GoogleToken | None = None
        if spec.credentials.service_account:
            account = read_service_account(spec.credentials.service_account)
            self._token = GoogleToken(account, self._place)

    def folders(self, prefix: str) -> list[str] | None:
        """Return the prefixes directly below, each ending in a slash; None if they are many."""
        found: list[str] = []
        for number, page in enumerate(self._pages(self._root + prefix, "/", "")):
            if number == _FOLDER_PAGES:
                return None
            found += page.get("prefixes", [])
        return [full.removeprefix(self._root) for full in found]

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the objects of a shard that come after a key."""
        delimiter = "" if shard.is_deep else "/"
        start = self._root + after if after else ""
        for page in self._pages(self._root + shard.prefix, delimiter, start):
            found = [self._object(row) for row in page.get("items", [])]
            # The offset belongs to the listing.
            yield [one for one in found if one.key != after]

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        if end <= start:
            return b""
        return self._patience.run(lambda: self._read(pin, start, end))

    def _read(self, pin: Pin, start: int, end: int) -> bytes:
        path = f"{self._path}/{quote(self._root + pin.key, safe='')}"
        params = {"alt": "media", "generation": str(pin.version_id)}
        headers = {"Range": f"bytes={start}-{end - 1}", **self._headers()}
        with self._place.stream(path, params, headers) as answer:
            if answer.status_code in {404, 412, 416}:
                self._require_bucket()
                raise SourceChanged.of([pin.key])
            check_status(answer, f"the bucket {self._bucket}")
            generation = answer.headers.get("x-goog-generation", pin.version_id)
            if generation != pin.version_id or size_of(answer) != str(pin.size):
                raise SourceChanged.of([pin.key])
            return part_of(answer, start, end)

    def _require_bucket(self) -> None:
        """Tell an object that is gone from a bucket that is."""
        params = {"maxResults": "1", "prefix": self._root, "fields": "kind"}
        self._place.get(self._path, params, f"the bucket {self._bucket}", self._headers())

    def _pages(self, prefix: str, delimiter: str, start: str) -> Iterator[dict[str, Any]]:
        asked = {"prefix": prefix, "maxResults": "1000", "fields": _FIELDS}
        asked |= {"delimiter": delimiter} if delimiter else {}
        asked |= {"startOffset": start} if start else {}
        guard = EndlessGuard()
        while True:
            page = self._patience.run(lambda: self._page(asked))
            with understood(_KIND):
                names = [str(row["name"]) for row in page.get("items", [])]
                guard.see(names + list(page.get("prefixes", [])))
            yield page
            token = page.get("nextPageToken")
            if not token:
                return
            if token == asked.get("pageToken"):
                raise SourceOdd(listing_stuck())
            asked["pageToken"] = str(token)

    def _page(self, asked: dict[str, str]) -> dict[str, Any]:
        what = f"the bucket {self._bucket}"
        return json_of(self._place.get(self._path, asked, what, self._headers())[1], _KIND)

    def _object(self, row: dict[str, Any]) -> SourceObject:
        with understood(_KIND):
            return SourceObject(
                str(row["name"]).removeprefix(self._root),
                int(row["size"]),
                str(row["etag"]) if "etag" in row else None,
                datetime.fromisoformat(row["updated"]) if "updated" in row else None,
                str(int(row["generation"])),
            )

    @property
    def _path(self) -> str:
        return f"/storage/v1/b/{quote(self._bucket, safe='')}/o"

    def _headers(self) -> dict[str, str]:
        return self._token.headers() if self._token else {}
