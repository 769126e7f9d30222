"""Keeping the cache below its limit: above the high watermark, evict down to the low one."""

from __future__ import annotations

import structlog

from atom.cache.backends import local_backend
from atom.cache.errors import VersionPinned
from atom.cache.warming.actions.eviction import evict, evictable
from atom.core.errors import AtomError
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

HIGH_WATERMARK = 0.95
LOW_WATERMARK = 0.70


def make_room() -> int:
    """Evict unpinned versions of this machine, the least recently used first; returns how many."""
    backend = local_backend()
    limit = backend.limit_bytes()
    if backend.used_bytes() <= limit * HIGH_WATERMARK:
        return 0
    evicted = 0
    for record in evictable(backend.node):
        if backend.used_bytes() <= limit * LOW_WATERMARK:
            break
        try:
            evict(record.version, record.node)
        except VersionPinned:
            continue
        except (AtomError, SdkError) as error:
            # One that cannot go must not keep the others here.
            log.warning("cache_not_evicted", version_id=str(record.version_id), error=str(error))
            continue
        evicted += 1
        log.info("cache_evicted", version_id=str(record.version_id))
    return evicted
