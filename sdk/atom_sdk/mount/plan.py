"""The input of a way of mounting, and the record that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView


@dataclass(frozen=True, slots=True)
class MountPlan:
    """A dataset whose packs are on this machine, and the empty folder that shall show it.

    `view` says which of its rows are files there, and which links there are.
    `image` is where an EROFS image may be kept while it is mounted. `direct_io` reads packs past
    the page cache: each byte is then cached once, for the folder, and not again for the pack.
    """

    dataset: LocalDataset
    folder: Path
    cache: Path
    image: Path
    view: FolderView
    direct_io: bool = False
    modified_at_s: int = 0

    @property
    def packs(self) -> list[Path]:
        """The packs in the order of the view."""
        return [self.dataset.pack_dir / f"{pack.hex()}.tar" for pack in self.dataset.index.packs]
