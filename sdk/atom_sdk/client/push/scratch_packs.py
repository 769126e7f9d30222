"""Packs that wait to be sent, in files of the cache folder that nobody else sees."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from atom_sdk.client.config import cache_path
from atom_sdk.disk import naming_full_disk
from atom_sdk.packs.writer import PackSummary


@contextmanager
def packed_file(write: Callable[[Path], PackSummary]) -> Iterator[tuple[Path, PackSummary]]:
    """Have `write` fill a file with a pack; it is there until the block ends.

    Raises DiskFullError and what `write` raises.
    """
    with tempfile.NamedTemporaryFile(dir=scratch_folder(), suffix=".tar") as file:
        with naming_full_disk(scratch_folder()):
            summary = write(Path(file.name))
        yield Path(file.name), summary


def scratch_folder() -> Path:
    """Return where packs are written before they are sent."""
    folder = cache_path() / "push"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
