"""A stream that says what is wrong when a member is not what its header said."""

from __future__ import annotations

import io
from typing import IO, Any, Protocol

from atom_sdk.importers.errors import ArchiveDamagedError
from atom_sdk.importers.sentences import member_damaged
from atom_sdk.sentences import Sentence

_BUFFER_BYTES = 1 << 18


class Readable(Protocol):
    """The stream that a member is read from."""

    def read(self, count: int, /) -> bytes:
        """Return up to `count` bytes, none at the end."""

    def close(self) -> None:
        """Close the source."""


def checked(
    stream: Readable, name: str, size_bytes: int, damages: tuple[type[Exception], ...]
) -> IO[bytes]:
    """Return a stream of a member; `damages` are what reading raises for corrupt bytes."""
    return io.BufferedReader(_Checked(stream, name, size_bytes, damages), _BUFFER_BYTES)


class _Checked(io.RawIOBase):
    """Reads a member; corrupt bytes, and an end before its size, are errors that name it."""

    def __init__(
        self, stream: Readable, name: str, size_bytes: int, damages: tuple[type[Exception], ...]
    ) -> None:
        self._stream = stream
        self._name = name
        self._left = size_bytes
        self._damages = damages

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer. Raises ArchiveDamagedError."""
        view = memoryview(buffer).cast("B")
        try:
            data = self._stream.read(len(view))
        except self._damages as error:
            raise ArchiveDamagedError(member_damaged(self._name, error)) from error
        if not data and len(view) and self._left:
            raise ArchiveDamagedError(
                Sentence(
                    "formats.member_ends_early",
                    "The member {member!r} ends {count} bytes before its stated size.",
                    member=self._name,
                    count=self._left,
                )
            )
        self._left -= len(data)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the member."""
        if not self.closed:
            self._stream.close()
        super().close()
