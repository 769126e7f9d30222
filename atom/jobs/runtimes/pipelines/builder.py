"""Builders of environments: one user per build, since requirements run code.

Needs root; without it a build runs as the server, and the cluster says "single-user".
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil

from atom.jobs.runtimes.pipelines.copies import copy_once

# Far from people and from jobs; two builds at the same time hardly ever share one.
FIRST_UID = 300_000
_UIDS = 100_000
# All builds may use what pip has downloaded before.
GID = FIRST_UID
# Group-writable, for the shared downloads.
UMASK = 0o002
_ENDING_TRIES = 50


@dataclass(frozen=True, slots=True)
class Builder:
    """The user of one build, its home, and the folder of downloads that all builds share."""

    uid: int
    home: Path
    cache: Path

    def own(self, folder: Path) -> None:
        """Make a folder, if it is missing, that belongs to this builder alone."""
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, self.uid, GID)

    def prepare(self) -> None:
        """Make the folders, and give the builder the server's own settings of pip."""
        self.end_processes()
        shutil.rmtree(self.home, ignore_errors=True)
        self.own(self.home)
        self.cache.mkdir(exist_ok=True)
        os.chown(self.cache, 0, GID)
        self.cache.chmod(0o2770)
        for name in (".config/pip/pip.conf", ".pip/pip.conf"):
            settings = Path.home() / name
            if settings.is_file():
                target = self.home / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(settings, target)

    def end_processes(self) -> None:
        """Kill what the build left running, and a build whose worker died."""
        for _ in range(_ENDING_TRIES):
            left = [one for one in psutil.process_iter() if _uid_of(one) == self.uid]
            if not left:
                return
            for process in left:
                try:
                    process.kill()
                except psutil.Error:
                    continue
            time.sleep(0.02)

    def hand_back(self, root: Path) -> None:
        """Give the finished environment to root. The builder has no process any more."""
        for folder, names, files in os.walk(root):
            for path in (Path(folder), *(Path(folder) / name for name in (*names, *files))):
                # A file of another user got here as a hard link: it must stay as it is.
                if path.lstat().st_uid == self.uid:
                    os.chown(path, 0, 0, follow_symlinks=False)


def _uid_of(process: psutil.Process) -> int | None:
    """Return who a process runs as, None if it is gone or ended already."""
    try:
        is_over = process.status() == psutil.STATUS_ZOMBIE
        return None if is_over else int(process.uids().real)
    except psutil.Error:
        return None


def builder_of(path: Path) -> Builder:
    """Return the builder of the environment at `path`, which is named by its digest."""
    # Hash the whole path: two installations may build the same environment at once.
    uid = FIRST_UID + 1 + zlib.crc32(bytes(path.resolve())) % _UIDS
    return Builder(uid, path.with_suffix(".home"), path.parent / "downloads")


def ensure_pip(home: Path) -> Path:
    """Return a copy of the server's pip that every user may run; made once per version.

    pip counts what lies beside it as installed: beside this copy lies nothing.
    """
    target = home / "pip" / version("pip") / "pip"
    copy_once(_own_pip(), target, shutil.ignore_patterns("__pycache__"))
    return target


def _own_pip() -> Path:
    """Return the folder of the server's own pip."""
    found = importlib.util.find_spec("pip")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("The server's Python environment has no pip.")
    return Path(found.submodule_search_locations[0])
