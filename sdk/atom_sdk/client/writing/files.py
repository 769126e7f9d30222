"""Files that a program writes to as to any other; closed, they belong to the writer."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

# Takes the finished file over.
Done = Callable[[Path], None]


class WriterFile(io.BufferedRandom):
    """A file on this machine until it is closed.

    Leaving a `with` block by an exception discards it: half a file is never written.
    """

    def __init__(self, path: Path, done: Done) -> None:
        """Make the file at `path`; `done` gets it when it is closed."""
        super().__init__(io.FileIO(path, "w+b"))
        self._path = path
        self._done: Done | None = done

    def close(self) -> None:
        """Close the file and hand it over. Raises what taking it over raises."""
        if self.closed:
            return
        done, self._done = self._done, None
        try:
            super().close()
        except BaseException:
            self._path.unlink(missing_ok=True)
            raise
        if done is not None:
            done(self._path)

    def discard(self) -> None:
        """Close the file without handing it over."""
        self._done = None
        self.close()
        self._path.unlink(missing_ok=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hand the file over, or discard it after an exception."""
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        """A file that nobody closed is not handed over: nobody said that it is whole."""
        if not self.closed:
            self.discard()


def as_text(file: WriterFile, **options: Any) -> io.TextIOWrapper:
    """Return a text file over a binary one."""
    return _Text(file, **options)


class _Text(io.TextIOWrapper):
    """Text over a writer's file, which it discards as that does."""

    def __init__(self, file: WriterFile, **options: Any) -> None:
        super().__init__(file, **options)
        self._file = file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.discard()
