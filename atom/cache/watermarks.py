"""Keeping the cache below its limit: above the high watermark, evict down to the low one."""

from __future__ import annotations

import shutil

import structlog
from django.conf import settings

from atom.cache.actions import evict, evictable
from atom.cache.errors import VersionPinned
from atom.cache.placement import cache_root
from atom.clusters.actions import ensure_local_node
from atom.core.errors import AtomError
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

HIGH_WATERMARK = 0.95
LOW_WATERMARK = 0.70


def limit_bytes() -> int:
    """Return how large the cache may grow: the setting, else what the disk could give it."""
    configured: int | None = getattr(settings, "ATOM_CACHE_LIMIT_BYTES", None)
    if configured:
        return configured
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(root).free + used_bytes()


def used_bytes() -> int:
    """Return the bytes of all packs on this machine."""
    return sum(path.stat().st_size for path in cache_root().glob("*/packs/*.tar"))


def make_room() -> int:
    """Evict unpinned versions, the least recently used first; returns how many went."""
    limit = limit_bytes()
    if used_bytes() <= limit * HIGH_WATERMARK:
        return 0
    evicted = 0
    for record in evictable(ensure_local_node()):
        if used_bytes() <= limit * LOW_WATERMARK:
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
