"""Gives an attempt's folder to the uid that its command runs under."""

from __future__ import annotations

import os
from collections.abc import Callable

from .config import AttemptPaths
from .processes import forbid_new_privileges

# Sticky: the job may add files to the folder and cannot replace root's.
ROOT_MODE = 0o1770


def hand_over(paths: AttemptPaths, uid: int, gid: int) -> None:
    """Let `uid` reach what is its own in this attempt, and nothing else. Needs root."""
    os.chown(str(paths.root), 0, gid)
    os.chmod(str(paths.root), ROOT_MODE)
    for path, mode in ((paths.job, 0o640), (paths.supervisor, 0o640)):
        os.chown(str(path), 0, gid)
        os.chmod(str(path), mode)
    os.chown(str(paths.token), uid, gid)
    os.chmod(str(paths.token), 0o600)
    for folder in paths.folders():
        os.chown(str(folder), uid, gid)
        os.chmod(str(folder), 0o700)


def dropper(uid: int, gid: int) -> Callable[[], None]:
    """Return what a child must do between fork and exec to become `uid` for good."""

    def drop() -> None:
        forbid_new_privileges()
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)

    return drop
