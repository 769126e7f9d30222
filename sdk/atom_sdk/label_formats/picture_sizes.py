"""Width, height and orientation of a picture, from its head."""

from __future__ import annotations

import warnings
from array import array
from typing import IO, NamedTuple

from atom_sdk.sentences import Sentence

Size = tuple[int, int]
# Beside them, EXIF's numbers 1 to 8.
_NOT_READ, _WITHOUT = 0, 255
_LARGEST = 2**31 - 1


class Sides(NamedTuple):
    """Width and height of a picture as people see it, and EXIF's number of how it is turned."""

    size: Size
    orientation: int


class KnownSides:
    """Sides of many pictures by their row, nine bytes each; labels may name them in any order."""

    def __init__(self, count: int) -> None:
        """Begin with pictures that nobody has read."""
        self._widths = array("i", bytes(4 * count))
        self._heights = array("i", bytes(4 * count))
        self._states = bytearray(count)

    def get(self, row: int) -> Sides | None:
        """Return the sides of a picture that was read, None if it has none."""
        state = self._states[row]
        if state in (_NOT_READ, _WITHOUT):
            return None
        return Sides((self._widths[row], self._heights[row]), state)

    def put(self, row: int, sides: Sides | None) -> None:
        """Note what was read of a picture."""
        # A hostile head may name sides that no picture has.
        if sides is None or max(sides.size) > _LARGEST:
            self._states[row] = _WITHOUT
            return
        self._widths[row], self._heights[row] = sides.size
        self._states[row] = sides.orientation

    def unread(self, row: int, most: int) -> list[int]:
        """Return which of `most` pictures from a row on were not read; [] if that row was."""
        if self._states[row] != _NOT_READ:
            return []
        end = min(row + most, len(self._states))
        return [one for one in range(row, end) if self._states[one] == _NOT_READ]


def size_of(stream: IO[bytes]) -> Size | None:
    """Return the size of a picture after its EXIF orientation, None if it is no picture.

    Only its head is read. Raises MissingLibraryError.
    """
    sides = sides_of(stream)
    return sides and sides.size


def sides_of(stream: IO[bytes]) -> Sides | None:
    """Return size and orientation of a picture, None if it is no picture.

    Only its head is read. Raises MissingLibraryError.
    """
    try:
        from PIL import Image

        from atom_sdk.readers.pixels import is_sideways, orientation_of
    except ImportError as error:
        # Here, since importers read sizes as well.
        from atom_sdk.importers.errors import MissingLibraryError

        raise MissingLibraryError(
            Sentence("formats.pillow_missing", "Pillow is needed to read the sizes of pictures.")
        ) from error
    try:
        with warnings.catch_warnings():
            # No pixels are read here, so their number does no harm.
            warnings.simplefilter("ignore")
            with Image.open(stream) as image:
                width, height = image.size
                # Pillow gives the size of a TIFF as turned already.
                is_turned = image.format == "TIFF"
                turned = 1 if is_turned else orientation_of(image)
    # Pillow raises almost anything for a damaged file.
    except Exception:
        return None
    if not (width > 0 and height > 0):
        return None
    return Sides((height, width) if is_sideways(turned) else (width, height), turned)
