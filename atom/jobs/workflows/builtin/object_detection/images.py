"""Image files to arrays: turned upright, scaled to fit a square, and filled up to it.

A picture keeps its shape and lies in the square's upper left corner.
"""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from atom_sdk.readers.pixels import in_8_bits, is_sideways, opaque, orientation_of, upright

MAX_PIXELS = 100_000_000
# Only one picture larger than this is in memory at a time.
LARGE_PIXELS = 12_000_000
FILLING = 114
# Formats that Pillow decodes smaller in the first place.
_DRAFTED = frozenset({"JPEG", "MPO"})
_LARGE = threading.Lock()
# Pillow warns from here on and refuses twice as much; `decode` refuses already from here on.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


class UnreadableImageError(Exception):
    """The bytes are not an image that can be read."""


@dataclass(frozen=True)
class Picture:
    """`pixels` (3, size, size) uint8, and the size of the upright picture in its own pixels.

    `scale` (x, y): pixels of the square for one pixel of the picture.
    """

    pixels: NDArray[np.uint8]
    width: int
    height: int
    scale: tuple[float, float]


def decode(data: memoryview | bytes, size: int) -> Picture:
    """Return a picture in a square of `size` pixels. Raises UnreadableImageError."""
    try:
        with Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise UnreadableImageError(f"it has more than {MAX_PIXELS:,} pixels")
            if opened.width * opened.height > LARGE_PIXELS:
                with _LARGE:
                    return _fit(opened, size)
            return _fit(opened, size)
    except UnreadableImageError:
        raise
    except UnidentifiedImageError as error:
        raise UnreadableImageError("it is not an image") from error
    # Pillow's decoders raise almost anything on corrupt input; all of it means the same here.
    except Exception as error:
        raise UnreadableImageError(str(error) or type(error).__name__) from error


def decode_whole(data: memoryview | bytes, most: int) -> tuple[Image.Image, float]:
    """Return a picture to look at, at most `most` pixels wide and high, and its scale.

    Raises UnreadableImageError.
    """
    picture = decode(data, most)
    width, height = _fitted(picture.width, picture.height, most)
    shown = Image.fromarray(picture.pixels.transpose(1, 2, 0)).crop((0, 0, width, height))
    return shown, picture.scale[0]


def _fit(opened: Image.Image, size: int) -> Picture:
    stored = opened.size
    is_drafted = opened.format in _DRAFTED
    if is_drafted:
        # At least the size that is needed, by a power of two.
        opened.draft("RGB", _fitted(*stored, size))
    image = opaque(in_8_bits(opened)).convert("RGB")
    # After loading, which turns a TIFF by itself and reads EXIF that comes after the pixels.
    turn = orientation_of(opened)
    stored = stored if is_drafted else image.size
    side = _fitted(*stored, size)
    # Shrunk before it is turned: the whole picture is never there twice.
    small = upright(image.resize(side, Image.Resampling.BILINEAR, reducing_gap=3.0), turn)
    width, height = stored[::-1] if is_sideways(turn) else stored
    pixels = np.full((3, size, size), FILLING, np.uint8)
    pixels[:, : small.height, : small.width] = np.asarray(small, np.uint8).transpose(2, 0, 1)
    return Picture(pixels, width, height, (small.width / width, small.height / height))


def _fitted(width: int, height: int, size: int) -> tuple[int, int]:
    scale = size / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))
