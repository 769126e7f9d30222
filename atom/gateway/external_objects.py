"""Objects that stay at their source: read there, in exactly the state that a version pinned.

One row is asked of the database per source and minute, without the ORM: where it is and how to
read it. A source that is removed, or whose key is changed, is so here within that minute.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from django.db import connection

from atom.core.crypto import BadSignature
from atom.datasets.credentials import decrypted
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import SourceDenied, SourceRemoved
from atom.datasets.sources.pipelines.objects import SourceReader
from atom.datasets.sources.pipelines.opening import open_source
from atom.datasets.sources.pipelines.patience import INTERACTIVE
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_KEPT_S = 60.0
_QUERY = """
    SELECT url, endpoint, region, credentials FROM datasets_source
    WHERE id = %s AND state <> 'removed'
"""


@dataclass(frozen=True)
class _Known:
    reader: SourceReader
    until: float


class RegisteredObjects:
    """Readers of sources, kept for a minute each. For several threads."""

    def __init__(self) -> None:
        """The database is first asked at the first read."""
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes `start` (inclusive) to `end` (exclusive).

        Raises SourceChanged, SourceRemoved, or what else can go wrong at a source.
        """
        return self._reader(pin.source).read(pin, start, end)

    def _reader(self, source_id: str) -> SourceReader:
        with self._lock:
            known = self._known.get(source_id)
        if known is not None and known.until > time.monotonic():
            return known.reader
        reader = open_source(_spec(source_id), INTERACTIVE)
        with self._lock:
            self._known[source_id] = _Known(reader, time.monotonic() + _KEPT_S)
        return reader


def _spec(source_id: str) -> SourceSpec:
    try:
        with connection.cursor() as cursor:
            cursor.execute(_QUERY, [source_id])
            row = cursor.fetchone()
    finally:
        # Once a minute: a connection per reading thread would be held for nothing.
        connection.close()
    if row is None:
        raise SourceRemoved
    url, endpoint, region, stored = row
    try:
        return SourceSpec(source_id, url, endpoint, region, decrypted(stored))
    except BadSignature as exc:
        raise SourceDenied(
            Sentence(
                "gateway.credentials_not_decryptable", "The stored credentials cannot be decrypted."
            )
        ) from exc
