"""Writes the ranges and layers of a version without deltas where these pile up: the content stays.

The commit and its root stay as they are. The catalogue has the newer layout: the version is read
from it, and the next commit builds on it. A lost layout costs only time, unless the version was
repaired (`repair`) or repacked (`repack`).
"""

from __future__ import annotations

from uuid import UUID

import structlog

from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.locks import only_worker
from atom.datasets.catalog.stores import version_store
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import Version
from atom.datasets.packs.actions.layouts import note_layout
from atom_sdk.manifests.build import compact
from atom_sdk.manifests.roots.roots import Root, write_root

log = structlog.get_logger(__name__)

# Each delta is laid over every range that it touches whenever such a range is read, and over a
# layer whenever that is.
COMPACT_AT_DEPTH = 3
_TASK = "atom.datasets.tasks.compact_version"


def compact_soon(version: Version, root: Root) -> None:
    """Have a worker compact the version if too many deltas lie over one range."""
    over_ranges = max((len(part.deltas) for part in root.ranges), default=0)
    over_layers = max((len(layer.deltas) for layer in root.layers), default=0)
    if max(over_ranges, over_layers) >= COMPACT_AT_DEPTH:
        enqueue(_TASK, str(version.pk))


def compact_version(version_id: UUID | str) -> bool:
    """Give a version a layout without deltas; False if it needs none or another is faster."""
    with only_worker(version_id) as mine:
        version = Version.objects.select_related("dataset__project").get(pk=version_id)
        if not mine or version.state != "kept":
            return False
        with hold_gc(version.dataset.project):
            store, before = version_store(version.dataset.project), version.readable_root
            layout = write_root(compact(store.root(before), store.store), store.store).hex()
            reach("compaction.written")
            # A concurrent repair wins: its layout may have deltas, and names no corrupt pack.
            if layout == before or not note_layout(version, layout):
                return False
            reach("compaction.noted")
    log.info("version_compacted", version=str(version.pk), layout=layout)
    return True
