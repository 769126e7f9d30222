"""Width and height of a picture as people see it: after its EXIF orientation."""

from __future__ import annotations

import io
import warnings
from typing import Final

from PIL import Image

from atom_sdk.readers.pixels import is_sideways, orientation_of

# Headers and EXIF come first. Most pictures need far less, so a short read is tried first.
SHORT_HEAD_BYTES: Final = 64 << 10
HEAD_BYTES: Final = 1 << 20


def upright_size(head: bytes) -> tuple[int, int] | None:
    """Return `(width, height)`, or None where the first bytes do not tell."""
    try:
        with warnings.catch_warnings():
            # A bomb is described, never decoded.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(head)) as image:
                width, height = image.size
                # Pillow gives the size of a TIFF as turned already.
                if image.format != "TIFF" and is_sideways(orientation_of(image)):
                    width, height = height, width
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception:
        return None
    return (width, height) if width > 0 and height > 0 else None
