"""Handover of the files that an attempt streamed to the next attempt of its run, without a copy.

The folder belongs to the job, which could put anything there. So only plain files with one name are
taken over, through open folders and never by a path.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from atom_sdk.packs.cache_eviction import BLOCKS_SUFFIX, PARTIAL_FOLDER, PARTIAL_SUFFIX

_PACKS = "packs"
_HEX = "[0-9a-f]{64}"
_NAMES = {
    _PACKS: re.compile(rf"{_HEX}\.tar"),
    PARTIAL_FOLDER: re.compile(rf"{_HEX}(?:{PARTIAL_SUFFIX}|{BLOCKS_SUFFIX})"),
}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe would be waited for.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def inherit(old: Path, new: Path, gid: int | None) -> int:
    """Move what a job fetched into the store of the next one; returns how many files.

    Files that the new store has already stay as they are. `gid` is the user of the next job, None
    where jobs run as the server does. Raises OSError.
    """
    moved = 0
    for folder, names in _NAMES.items():
        (new / folder).mkdir(exist_ok=True)
        with _opened(old / folder) as source, _opened(new / folder) as target:
            if source is None or target is None:
                continue
            there = set(os.listdir(target))
            wanted = {name for name in os.listdir(source) if names.fullmatch(name)}
            for name in wanted - there:
                moved += _move(name, source, target, gid)
    return moved


def keep_fetched(folder: Path, aliases: set[str]) -> bool:
    """Remove from an ended attempt's folder all but what its streams fetched; whether some is left.

    Links to the node's own packs go too: they would hold the bytes of what the cache evicts.
    """
    left = False
    for entry in list(folder.iterdir()):
        if entry.name not in aliases:
            shutil.rmtree(entry, ignore_errors=True)
            continue
        for part in list(entry.iterdir()):
            if part.name in _NAMES and not part.is_symlink():
                left |= _keep_own(part)
            else:
                _remove(part)
    return left


def _keep_own(folder: Path) -> bool:
    """Remove what has a second name elsewhere; whether something is left."""
    with _opened(folder) as descriptor:
        if descriptor is None:
            return False
        for name in os.listdir(descriptor):
            # The next attempt may be taking it at this moment.
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                    os.unlink(name, dir_fd=descriptor)
        return bool(os.listdir(descriptor))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _move(name: str, source: int, target: int, gid: int | None) -> bool:
    try:
        descriptor = os.open(name, _FILE, dir_fd=source)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if not _is_own_file(status) or (not name.endswith(".tar") and not _is_on_disk(status)):
            return False
        if gid is not None:
            os.fchown(descriptor, gid, gid)
        os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
    finally:
        os.close(descriptor)
    return True


def _is_own_file(status: os.stat_result) -> bool:
    """Whether it is a plain file with one name: another name may be a file of somebody else."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _is_on_disk(status: os.stat_result) -> bool:
    """Whether the machine runs since it was written: the disk may lack what memory had."""
    return status.st_mtime > time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """Open a folder that is one, and no link to one; None if it is not."""
    try:
        descriptor = os.open(folder, _FOLDER)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
