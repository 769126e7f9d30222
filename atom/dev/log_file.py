"""A process's log on the disk: it has a limit, and costs lines rather than the process."""

from pathlib import Path
from typing import BinaryIO

LOG_LIMIT_BYTES = 20 * 1024 * 1024


class LogFile:
    """Appends to a file; at its limit the file becomes the one older one that is kept.

    Output that cannot be written is lost. The reader of a process's output must go on reading, or
    the process stops once the pipe is full, even when the disk has room again.
    """

    def __init__(self, path: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self._path, self._limit_bytes = path, limit_bytes
        self._file: BinaryIO | None = None

    def write(self, data: bytes) -> None:
        """Append, or lose what the disk does not take."""
        try:
            if self._file is None:
                self._file = self._path.open("ab", buffering=0)
            if self._file.tell() > self._limit_bytes:
                self.close()
                self._path.replace(self._path.with_suffix(".log.1"))
                self._file = self._path.open("ab", buffering=0)
            self._file.write(data)
        except OSError:
            # Tried again with the next lines.
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
