"""What every change of a record does."""

from __future__ import annotations

from atom.cache.coverage import measure
from atom.cache.models import CacheRecord
from atom.cache.states import CACHE_STATES
from atom.core import states
from atom.datasets.errors import DatasetDeleted, VersionExpired
from atom_sdk.errors import ManifestError, ObjectNotFoundError

# Its manifest is collected or damaged; or retention let it go, or its dataset was deleted.
MANIFEST_GONE = (ManifestError, ObjectNotFoundError)
UNREADABLE = (VersionExpired, DatasetDeleted, *MANIFEST_GONE)


def note_coverage(record: CacheRecord) -> None:
    """Measure what is on the node; the caller saves it. What nobody can read is not there."""
    try:
        found = measure(record.version)
    except UNREADABLE:
        record.bitmap, record.packs_present, record.bytes_present = b"", 0, 0
        return
    record.bitmap = found.bitmap
    record.packs_total, record.packs_present = found.packs_total, found.packs_present
    record.bytes_total, record.bytes_present = found.bytes_total, found.bytes_present


def move(record: CacheRecord, state: str) -> None:
    """Change the state; the caller holds the row's lock and saves it. Raises IllegalMove."""
    states.check_move(CACHE_STATES, record.state, state)
    record.state = state
