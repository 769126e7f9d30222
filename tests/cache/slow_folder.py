"""`python -m tests.cache.slow_folder SOURCE FOLDER DELAY_S`: a folder on a disk that is slow.

Everything goes to another folder; what a disk would have to write waits before. A process of its
own, so that SIGSTOP makes a disk that does not answer at all. Lines on its standard input change
the disk: `delay SECONDS`, or `refuse ERRNO`, with which all writes fail as those to a disk do that
turned read-only under open files; 0 ends that.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import mfusepy


class SlowFolder(mfusepy.Operations):  # type: ignore[misc, unused-ignore]  # may not be installed
    """The files of another folder; each step that changes the disk takes `delay_s`."""

    use_ns = True

    def __init__(self, source: Path, delay_s: float) -> None:
        self._source = source
        self._delay_s = delay_s
        self._refusal = 0

    def obey(self, line: str) -> None:
        """Change as a line of the standard input says."""
        word, value = line.split()
        if word == "delay":
            self._delay_s = float(value)
        else:
            self._refusal = int(value)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """Attributes of a file or folder."""
        found = os.fstat(fh) if fh is not None else os.lstat(self._at(path))
        names = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_blocks")
        times = {f"st_{kind}time": getattr(found, f"st_{kind}time_ns") for kind in "amc"}
        return {name: getattr(found, name) for name in names} | times

    def readdir(self, path: str, fh: int) -> list[str]:
        """Names in a folder."""
        return [".", "..", *os.listdir(self._at(path))]

    def statfs(self, path: str) -> dict[str, int]:
        """Space of the disk."""
        found = os.statvfs(self._at(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_frsize", "f_files", "f_ffree")
        return {name: getattr(found, name) for name in names}

    def open(self, path: str, flags: int) -> int:
        """Open a file that is there."""
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._check()
        return os.open(self._at(path), flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        """Make a file and open it."""
        self._wait()
        file = os.open(self._at(path), os.O_RDWR | os.O_CREAT, mode)
        self._give(self._at(path))
        return file

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Bytes of an open file."""
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        """Write into an open file."""
        self._wait()
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        """Cut or lengthen a file."""
        self._check()
        os.truncate(self._at(path) if fh is None else fh, length)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        """Have the disk write what it took."""
        self._wait()

    def fsyncdir(self, path: str, datasync: int, fh: int) -> None:
        """Have the disk write the names in a folder."""
        self._wait()

    def release(self, path: str, fh: int) -> None:
        """Close a file."""
        os.close(fh)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name."""
        self._wait()
        os.rename(self._at(old), self._at(new))

    def chmod(self, path: str, mode: int) -> None:
        """Set who may do what."""
        self._check()
        os.chmod(self._at(path), mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        """Set whose it is."""
        self._check()
        os.lchown(self._at(path), uid, gid)

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> None:
        """Set when it was read and changed."""
        self._check()
        os.utime(self._at(path), ns=times or (time.time_ns(), time.time_ns()))

    def link(self, target: str, source: str) -> None:
        """Give a file a second name."""
        self._check()
        os.link(self._at(source), self._at(target))

    def symlink(self, target: str, source: str) -> None:
        """Make a link to another path."""
        self._check()
        os.symlink(source, self._at(target))
        self._give(self._at(target))

    def mknod(self, path: str, mode: int, dev: int) -> None:
        """Make what is neither a folder nor a link: a socket that a server listens on."""
        self._check()
        os.mknod(self._at(path), mode, dev)
        self._give(self._at(path))

    def readlink(self, path: str) -> str:
        """Where a link leads."""
        return os.readlink(self._at(path))

    def mkdir(self, path: str, mode: int) -> None:
        """Make a folder."""
        self._check()
        os.mkdir(self._at(path), mode)
        self._give(self._at(path))

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        self._check()
        os.rmdir(self._at(path))

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._check()
        os.unlink(self._at(path))

    def _at(self, path: str) -> Path:
        return self._source / path.lstrip("/")

    def _wait(self) -> None:
        time.sleep(self._delay_s)
        self._check()

    def _check(self) -> None:
        if self._refusal:
            raise OSError(self._refusal, os.strerror(self._refusal))

    def _give(self, made: Path) -> None:
        """Give a new file to the user who made it."""
        uid, gid, _ = mfusepy.fuse_get_context()
        os.lchown(made, uid, gid)


def main() -> None:
    """Serve until the folder is unmounted."""
    source, folder, delay_s = sys.argv[1:]
    disk = SlowFolder(Path(source), float(delay_s))
    threading.Thread(target=_listen, args=(disk,), daemon=True).start()
    # Jobs and services that run as other users use it too.
    mfusepy.FUSE(disk, folder, foreground=True, fsname="slow", allow_other=True)


def _listen(disk: SlowFolder) -> None:
    for line in sys.stdin:
        disk.obey(line)


if __name__ == "__main__":
    main()
