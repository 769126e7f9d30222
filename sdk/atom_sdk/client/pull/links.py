"""The symbolic links of a pull: which are created, and those that stand in its way.

A version's links never lead out of its folder unless that is asked for. A file that was in the
folder before may still turn one: a link to a folder of an earlier version that is somewhere else
now. Such a link is looked at on the disk, once all are there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from atom_sdk.disk import naming_full_disk, naming_the_way, whole_file
from atom_sdk.errors import LinksImpossibleError, PathInTheWayError
from atom_sdk.packs.walk import SkippedPath

LEAVES = "its link leads out of the version"
_TURNED = "another link in the folder makes its link lead out of it"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP})


def has_link(path: Path, target: str) -> bool:
    """Whether a link to this target is there."""
    try:
        return os.readlink(path) == target
    except OSError:
        return False


def stays_inside(link: Path, folder: Path) -> bool:
    """Whether what a link leads to lies in the folder, or would."""
    top = os.path.realpath(folder)
    try:
        real = os.path.realpath(link, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            # A circle leads nowhere; a path made of it would be a wrong one.
            return True
        real = os.path.realpath(link)
    return real == top or real.startswith(f"{top.rstrip(os.sep)}{os.sep}")


def is_own_link(path: Path, folder: Path) -> bool:
    """Whether a version can have put it there: a link that leads out is the user's own."""
    return path.is_symlink() and stays_inside(path, folder)


def refuse_links_above(folder: Path, paths: Iterable[str]) -> None:
    """Raise PathInTheWayError where a folder of a path is a link to elsewhere in the folder."""
    seen: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in seen:
            seen.add(above)
            if is_own_link(folder / above, folder):
                raise PathInTheWayError(str(folder / above))
            above = above.rpartition("/")[0]


def write_links(
    folder: Path, links: Mapping[str, str], *, unsafe: bool, is_empty: bool
) -> list[SkippedPath]:
    """Create links, each whole or not at all; returns those that had to be taken away again.

    `is_empty` says that nothing else was in the folder before. Raises PathInTheWayError,
    LinksImpossibleError, DiskFullError.
    """
    for path, target in links.items():
        place = folder / path
        with naming_the_way(place), naming_full_disk(folder):
            place.parent.mkdir(parents=True, exist_ok=True)
        with naming_the_way(place), whole_file(place) as temporary:
            try:
                os.symlink(target, temporary)
            except OSError as error:
                if error.errno in _NO_LINKS:
                    raise LinksImpossibleError(str(folder)) from error
                raise
    if unsafe or is_empty:
        return []
    turned = [path for path in links if not stays_inside(folder / path, folder)]
    for path in turned:
        (folder / path).unlink()
    return [SkippedPath(path, _TURNED) for path in turned]
