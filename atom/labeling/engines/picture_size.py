"""Width and height of a picture as people see it, and whether a browser shows it whole."""

from __future__ import annotations

import io
import warnings
from typing import Final

from PIL import Image

from atom_sdk.label_formats import picture_sizes
from atom_sdk.label_formats.picture_sizes import Sides

# Headers and EXIF come first. Most pictures need far less, so a short read is tried first.
SHORT_HEAD_BYTES: Final = 64 << 10
HEAD_BYTES: Final = 1 << 20
_SHOWN_FORMATS: Final = frozenset({"JPEG", "PNG", "WEBP", "GIF", "BMP", "AVIF"})
_PNG_DEPTH_AT, _DEEP_BITS = 24, 16


def upright_size(head: bytes) -> tuple[int, int] | None:
    """Return `(width, height)`, or None where the first bytes do not tell."""
    sides = sides_of(head)
    return sides and sides.size


def sides_of(head: bytes) -> Sides | None:
    """Return size and orientation, or None where the first bytes do not tell."""
    return picture_sizes.sides_of(io.BytesIO(head))


def is_tiled(head: bytes, size: tuple[int, int], most_pixels: int) -> bool:
    """Whether tiles show the picture: it is deep, browsers cannot decode it, or it is larger."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(head)) as image:
                form, mode = image.format, image.mode
    except Exception:
        return False
    is_deep = mode.startswith("I") or (
        form == "PNG" and len(head) > _PNG_DEPTH_AT and head[_PNG_DEPTH_AT] == _DEEP_BITS
    )
    return is_deep or form not in _SHOWN_FORMATS or size[0] * size[1] > most_pixels
