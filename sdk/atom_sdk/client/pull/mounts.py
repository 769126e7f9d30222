"""Mounts a version: its packs are brought to this machine, then shown as a folder."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from atom_sdk.client.config import cache_path
from atom_sdk.client.progress import Progress
from atom_sdk.client.refs import parse_ref

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets
    from atom_sdk.mount import MountOptions, MountRecord
    from atom_sdk.readers import LocalDataset


def mount_version(
    datasets: Datasets,
    reference: str,
    folder: Path,
    options: MountOptions | None,
    progress: Progress,
) -> MountRecord:
    """Show a version as a folder. Raises what `atom_sdk.mount.mount` does, IncompleteViewError."""
    from atom_sdk.mount import MountOptions, mount
    from atom_sdk.mount.errors import MountVerificationError, PackTooShortError

    version = datasets.version(reference)
    # A branch may move while packs are fetched; what is mounted is one version.
    ref = parse_ref(reference)
    project = f"atom://{ref.project}/" if ref.project else ""
    pinned = f"{project}{ref.dataset}@{version['ref']}"
    dataset = datasets.open(pinned, progress)
    require_complete(dataset, version["file_count"])
    created_at = datetime.fromisoformat(version["created_at"])
    dated = replace(options or MountOptions(), modified_at_s=int(created_at.timestamp()))
    try:
        return mount(dataset, folder, cache_path(), pinned, dated)
    except (MountVerificationError, PackTooShortError):
        repair_packs(dataset)
        return mount(dataset, folder, cache_path(), pinned, dated)


def repair_packs(dataset: LocalDataset) -> None:
    """Fetch the packs again that are corrupt here: all are read, for one is known to be.

    Raises SampleDigestMismatchError for a pack that stays corrupt.
    """
    if dataset.repair is None:
        return
    packs, rows = np.unique(dataset.index.pack_ids, return_index=True)
    for number, row in zip(packs.tolist(), rows.tolist(), strict=True):
        dataset.repair.repair(dataset.index.packs[number], dataset.index.path_of(row))


def require_complete(dataset: LocalDataset, files: int) -> None:
    """Raise IncompleteViewError if some of a version's files are in no pack.

    `files` counts no links, as versions do; one to a file is a row as well, and no file more.
    """
    from atom_sdk.mount.errors import IncompleteViewError
    from atom_sdk.readers.folder_view import FolderView

    view = FolderView(dataset.index, unsafe_links=True)
    if len(view) != files:
        raise IncompleteViewError(files, len(view))
