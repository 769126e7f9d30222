"""Packs that wait to be sent, in files of the cache folder that nobody else sees."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atom_sdk.client.config import cache_path
from atom_sdk.disk import naming_full_disk
from atom_sdk.packs.plan import PackPlan
from atom_sdk.packs.writer import FileSink, PackSummary, write_pack


@contextmanager
def packed_file(plan: PackPlan, folder: Path) -> Iterator[tuple[Path, PackSummary]]:
    """Write a pack of files below `folder`; its file is there until the block ends.

    Raises DiskFullError and what `write_pack` raises.
    """
    with tempfile.NamedTemporaryFile(dir=scratch_folder(), suffix=".tar") as file:
        with naming_full_disk(scratch_folder()):
            summary = write_pack(plan.files, folder, FileSink(file.fileno()))
        yield Path(file.name), summary


def scratch_folder() -> Path:
    """Where a push keeps what it is about to send."""
    folder = cache_path() / "push"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
