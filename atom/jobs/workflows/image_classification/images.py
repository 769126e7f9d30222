"""Image files to arrays, the same way for training and for evaluation."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

MAX_PIXELS = 100_000_000
GRAY_MODES = frozenset({"1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L"})
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


class UnreadableImageError(Exception):
    """The bytes are not an image that can be read."""


@dataclass(frozen=True)
class ImageFormat:
    """What every image is brought to; `mean` and `std` per channel, of values from 0 to 1."""

    image_size: int
    channels: int
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


def decode(data: memoryview, form: ImageFormat) -> NDArray[np.uint8]:
    """Return an image of shape (channels, size, size), padded to a square. UnreadableImageError."""
    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = _in_8_bits(ImageOps.exif_transpose(opened))
            image = image.convert("L" if form.channels == 1 else "RGB")
            side = (form.image_size, form.image_size)
            pixels = np.asarray(ImageOps.pad(image, side, Image.Resampling.BILINEAR), np.uint8)
    except UnidentifiedImageError as error:
        raise UnreadableImageError("it is not an image") from error
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        # Pillow reports damaged files with any of these.
        raise UnreadableImageError(str(error)) from error
    return pixels[None] if form.channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def is_gray(data: memoryview) -> bool:
    """Tell whether an image has no colour; an unreadable one has none."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.mode in GRAY_MODES:
                return True
            red, green, blue = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
            return bool((red == green).all() and (green == blue).all())
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return True


def _in_8_bits(image: Image.Image) -> Image.Image:
    if not image.mode.startswith("I;16"):
        return image
    # Pillow's own conversion would clip at 255.
    return Image.fromarray((np.asarray(image, np.uint16) >> 8).astype(np.uint8))
