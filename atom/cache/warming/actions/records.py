"""Measurements and state transitions of cache records."""

from __future__ import annotations

from atom.cache.backends import backend_of
from atom.cache.errors import NodeOutOfReach
from atom.cache.models import CacheRecord
from atom.cache.states import CACHE_STATES
from atom.core import states
from atom.datasets.errors import DatasetDeleted, VersionExpired
from atom_sdk.errors import ManifestError, ObjectNotFoundError

# Its manifest is collected or corrupt, the version left retention, or its dataset was deleted.
MANIFEST_GONE = (ManifestError, ObjectNotFoundError)
UNREADABLE = (VersionExpired, DatasetDeleted, *MANIFEST_GONE)


def note_coverage(record: CacheRecord) -> None:
    """Measure what is on the node; the caller saves it.

    A version that cannot be read counts as absent. A node out of reach keeps its last report.
    """
    try:
        coverage = backend_of(record.node).measure(record.version)
    except NodeOutOfReach:
        return
    except UNREADABLE:
        record.bitmap, record.packs_present, record.bytes_present = b"", 0, 0
        return
    record.bitmap = coverage.bitmap
    record.packs_total, record.packs_present = coverage.packs_total, coverage.packs_present
    record.bytes_total, record.bytes_present = coverage.bytes_total, coverage.bytes_present


def transition(record: CacheRecord, state: str) -> None:
    """Change the state; the caller holds the row's lock and saves it. Raises IllegalTransition."""
    states.check_transition(CACHE_STATES, record.state, state)
    record.state = state
