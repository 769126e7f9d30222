"""`python -m tests.cache.slow_disk SOURCE FOLDER DELAY_S`: a folder on a disk that takes its time.

Everything goes to another folder; what a disk would have to write waits before. A process of its
own, so that SIGSTOP makes a disk that does not answer at all.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mfusepy

_STARTS_WITHIN_S = 30.0


class SlowFolder(mfusepy.Operations):  # type: ignore[misc, unused-ignore]  # may not be installed
    """The files of another folder; each step that changes the disk takes `delay_s`."""

    use_ns = True

    def __init__(self, source: Path, delay_s: float) -> None:
        self._source = source
        self._delay_s = delay_s

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
        return os.open(self._at(path), flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        """Make a file and open it."""
        self._wait()
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Bytes of an open file."""
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        """Write into an open file."""
        self._wait()
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        """Cut or lengthen a file."""
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
        os.chmod(self._at(path), mode)

    def mkdir(self, path: str, mode: int) -> None:
        """Make a folder."""
        os.mkdir(self._at(path), mode)

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._at(path))

    def unlink(self, path: str) -> None:
        """Remove a file."""
        os.unlink(self._at(path))

    def _at(self, path: str) -> Path:
        return self._source / path.lstrip("/")

    def _wait(self) -> None:
        time.sleep(self._delay_s)


class SlowDisk:
    """A mounted folder; `silent` makes its disk answer nothing meanwhile."""

    def __init__(self, folder: Path, server: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._server = server

    @contextmanager
    def silent(self) -> Iterator[None]:
        """As a disk whose cable is out, or whose server is away."""
        self._server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._server.send_signal(signal.SIGCONT)


@contextmanager
def slow_disk(source: Path, folder: Path, delay_s: float) -> Iterator[SlowDisk]:
    """Mount it, and take it away again. Both folders are created."""
    for each in (source, folder):
        each.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.cache.slow_disk", str(source), str(folder), str(delay_s)]
    with subprocess.Popen(words) as server:
        try:
            deadline = time.monotonic() + _STARTS_WITHIN_S
            while not os.path.ismount(folder):
                assert server.poll() is None, "the disk did not start"
                assert time.monotonic() < deadline, "the disk was not mounted in time"
                time.sleep(0.02)
            yield SlowDisk(folder, server)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
            server.kill()


def main() -> None:
    """Serve until the folder is unmounted."""
    source, folder, delay_s = sys.argv[1:]
    mfusepy.FUSE(SlowFolder(Path(source), float(delay_s)), folder, foreground=True, fsname="slow")


if __name__ == "__main__":
    main()
