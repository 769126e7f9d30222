"""Every write of the cache."""

from atom.cache.actions.eviction import evict, evictable
from atom.cache.actions.showing import (
    attempts_shown_to,
    hide_from_job,
    set_streams_aside,
    show_to_job,
    stream_to_job,
)
from atom.cache.actions.views import packs_to_stream, view_for
from atom.cache.actions.warming import LEASE, recover, request_warm, run_warm

__all__ = [
    "LEASE",
    "attempts_shown_to",
    "evict",
    "evictable",
    "hide_from_job",
    "packs_to_stream",
    "recover",
    "request_warm",
    "run_warm",
    "set_streams_aside",
    "show_to_job",
    "stream_to_job",
    "view_for",
]
