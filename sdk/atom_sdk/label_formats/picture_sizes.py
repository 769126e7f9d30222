"""Width and height of a picture, from its head."""

from __future__ import annotations

import warnings
from typing import IO

from atom_sdk.sentences import Sentence

Size = tuple[int, int]
_SIDEWAYS = frozenset([5, 6, 7, 8])
_ORIENTATION = 0x0112


def size_of(stream: IO[bytes]) -> Size | None:
    """Return the size of a picture after its EXIF orientation, None if it is no picture.

    Only its head is read. Raises MissingLibraryError.
    """
    try:
        from PIL import Image
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
                turned = 1 if is_turned else image.getexif().get(_ORIENTATION, 1)
    # Pillow raises almost anything for a damaged file.
    except Exception:
        return None
    return (height, width) if turned in _SIDEWAYS else (width, height)
