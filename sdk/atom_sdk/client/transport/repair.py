"""Fetches packs of a version again that are corrupt in this machine's cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from atom_sdk.client.config import Config
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.ranges import PackRange

if TYPE_CHECKING:
    from atom_sdk.readers.repair import PackRepair


def pack_repair(config: Config, version_base: str, store: PackStore) -> PackRepair:
    """Return the repair of a version's packs; nothing is connected before one is corrupt."""
    from atom_sdk.readers.repair import PackRepair

    return PackRepair(store.root, _Origin(config, version_base))


@dataclass(frozen=True)
class _Origin:
    """Reads ranges over connections that end with each: few readers ever need one."""

    config: Config
    version_base: str

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return `length` bytes from `start`. Raises what `PackRanges.read` does."""
        from atom_sdk.client.transport.pack_urls import PackUrls
        from atom_sdk.client.transport.ranges import PackRanges

        # Packs beside it may be of files at a source, which no server has.
        ranges = PackRanges(PackUrls(self.config, self.version_base, []))
        try:
            return ranges.read(pack, start, length)
        finally:
            ranges.close()

    def doubt(self, pack: bytes) -> None:
        """Read the pack elsewhere from now on, if it is stored twice."""
        from atom_sdk.client.transport.pack_urls import PackUrls
        from atom_sdk.client.transport.ranges import PackRanges

        ranges = PackRanges(PackUrls(self.config, self.version_base, []))
        try:
            ranges.doubt(pack)
        finally:
            ranges.close()
