"""The work of a cache backend: it brings versions to one node, measures and removes them there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from atom.accounts.models import Project
from atom.cache.engines.fill import FillProgress
from atom.clusters.models import Node
from atom.datasets.models import Version

Selector = Mapping[str, Any] | None
Report = Callable[[FillProgress], None]


@dataclass(frozen=True)
class Coverage:
    """`bitmap` has one bit per pack in the order of `packs_of`; after those, the node's own packs.

    Objects at a source that the node never fetched count as one pack that is absent.
    """

    bitmap: bytes
    packs_total: int
    packs_present: int
    bytes_total: int
    bytes_present: int

    @property
    def is_complete(self) -> bool:
        """Return whether the node has every pack."""
        return self.packs_present == self.packs_total


@dataclass(frozen=True)
class ViewPath:
    """A view index on the node, and the folder with the packs that it points into."""

    index_path: Path
    pack_dir: Path


class CacheBackend(Protocol):
    """Holds versions on one node. Each method may be called again after it was cut off."""

    node: Node

    def measure(self, version: Version) -> Coverage:
        """Look which packs of the version the node has.

        Raises VersionExpired, DatasetDeleted, ManifestError or ObjectNotFoundError for a version
        that cannot be read any more.
        """

    def fill(self, version: Version, report: Report) -> None:
        """Bring the packs that the node lacks; `report` gets the packs and bytes of this fill.

        Raises CorruptPackError, PackStoreFullError, StoreError, or the failure of a source.
        """

    def needed_packs(self, version: Version) -> set[str]:
        """Return the packs (hex) that the version needs on this node. Raises as `measure` does."""

    def remove(self, version: Version, kept: Collection[str]) -> None:
        """Remove the version's packs from the node, except those of `kept` (hex)."""

    def remove_pack(self, project: Project, digest: str) -> None:
        """Remove one pack (hex) from the node, which may not have it."""

    def has_view(self, version: Version, selector: Selector) -> bool:
        """Return whether the view index of this selector was written. Raises Invalid."""

    def write_view(self, version: Version, selector: Selector) -> ViewPath:
        """Write the view index of this selector, unless it is there.

        Raises SelectionEmpty, or Invalid for the selector.
        """

    def used_bytes(self) -> int:
        """Return the bytes of all packs on the node."""

    def limit_bytes(self) -> int:
        """Return how large the node's cache may grow."""
