"""Hard links to one view and its packs, in a folder per job: all that a job sees of the cache."""

from __future__ import annotations

import os
from pathlib import Path

from atom_sdk.readers.view import ViewIndex

VIEW_NAME = "view.arrow"
# Others may pass through to their own folder and cannot list whose there are.
_PASSAGE = 0o711
_GROUP_READS = 0o750


def link_view(index: Path, packs: Path, folder: Path) -> None:
    """Link a view index, and the packs of `packs` that it points into, below `folder`.

    Links cost no bytes, and what a running job reads stays until it ends. Raises OSError, for
    instance on a file system without hard links.
    """
    shown = folder / "packs"
    shown.mkdir(parents=True, exist_ok=True)
    for part in (folder, shown):
        # Set the mode apart, since the umask of this process may be stricter.
        part.chmod(0o755)
    for digest in packs_of_view(index):
        link_file(packs / f"{digest}.tar", shown / f"{digest}.tar")
    link_file(index, folder / VIEW_NAME)


def packs_of_view(index: Path) -> list[str]:
    """Return the hex digests of the packs that a view index points into. Raises ViewIndexError."""
    return [digest.hex() for digest in ViewIndex(index).packs]


def link_file(source: Path, target: Path) -> None:
    """Give a file of the cache a second name, unless it has it. Raises OSError."""
    try:
        os.link(source, target)
    except FileExistsError:
        return  # both names are made of the content


def open_to(gid: int, folder: Path, root: Path) -> None:
    """Let the group read `folder`, and nothing else below `root`. Needs root."""
    for passage in (root, folder.parent):
        passage.chmod(_PASSAGE)
    os.chown(folder, 0, gid)
    folder.chmod(_GROUP_READS)


def close_to(gid: int, parent: Path, but: str) -> None:
    """Close the folders of `parent` that the group may read, except the one named `but`.

    The next job of a slot has the user of the one before. Needs root.
    """
    with os.scandir(parent) as entries:
        for entry in entries:
            if entry.name != but and entry.stat(follow_symlinks=False).st_gid == gid:
                os.chown(entry.path, 0, 0, follow_symlinks=False)
                os.chmod(entry.path, 0o700)
