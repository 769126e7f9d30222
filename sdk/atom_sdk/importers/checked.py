"""A stream that says what is wrong when a member is not what its header said."""

from __future__ import annotations

import io
from typing import IO, Any

from atom_sdk.importers.errors import ArchiveDamagedError


class Checked(io.RawIOBase):
    """Reads a member; a damage, and an end before its size, are errors that name it."""

    def __init__(
        self, stream: IO[bytes], name: str, size_bytes: int, damages: tuple[type[Exception], ...]
    ) -> None:
        """`damages` are what reading raises for damaged bytes."""
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
            raise ArchiveDamagedError(f"The member {self._name!r} is damaged: {error}.") from error
        if not data and len(view) and self._left:
            raise ArchiveDamagedError(
                f"The member {self._name!r} ends {self._left} bytes before its stated size."
            )
        self._left -= len(data)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the member."""
        if not self.closed:
            self._stream.close()
        super().close()
