"""Writing a version's ranges and layers anew where deltas pile up: the same content, read at once.

The commit and its root stay as they are; the catalogue remembers the newer layout, from which the
version is read and on which the next commit builds. A lost layout costs nothing but time.
"""

from __future__ import annotations

from itertools import chain
from uuid import UUID

import structlog

from atom.core.background import enqueue
from atom.core.locks import only_one
from atom.datasets.building import building
from atom.datasets.models import Version
from atom.datasets.stores import version_store
from atom_sdk.manifests.build import compact
from atom_sdk.manifests.roots import Root, write_root

log = structlog.get_logger(__name__)

# Each delta is laid over every range that it touches whenever such a range is read, and over a
# layer whenever that is.
COMPACT_AT_DEPTH = 3
_TASK = "atom.datasets.tasks.compact_version"


def compact_soon(version: Version, root: Root) -> None:
    """Have a worker compact the version if too many deltas lie over one range."""
    layers = (layer.deltas for layer in root.layers)
    ranges = (part.deltas for part in root.ranges)
    if max(map(len, chain(layers, ranges)), default=0) >= COMPACT_AT_DEPTH:
        enqueue(_TASK, str(version.pk))


def compact_version(version_id: UUID | str) -> bool:
    """Give a version a layout without deltas; False if it has one or another worker is at it."""
    with only_one(version_id) as mine:
        version = Version.objects.select_related("dataset__project").get(pk=version_id)
        if not mine or version.layout or version.state != "kept":
            return False
        with building(version.dataset.project):
            store = version_store(version.dataset.project)
            layout = write_root(compact(store.root(version.root), store.store), store.store)
            Version.objects.filter(pk=version.pk).update(layout=layout.hex())
    log.info("version_compacted", version=str(version.pk), layout=layout.hex())
    return True
