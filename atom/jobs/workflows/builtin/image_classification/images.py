"""Image files to arrays, the same way for training and for evaluation."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from atom_sdk.readers.pixels import in_8_bits, opaque, orientation_of, upright

MAX_PIXELS = 100_000_000
GRAY_MODES = frozenset({"1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L"})
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


class UnreadableImageError(Exception):
    """The bytes are not an image that can be read."""


@dataclass(frozen=True)
class ImageFormat:
    """The form of every decoded image; `mean` and `std` per channel, of values from 0 to 1."""

    image_size: int
    channels: int
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


def decode(data: memoryview, form: ImageFormat) -> NDArray[np.uint8]:
    """Return an image of shape (channels, size, size), padded to a square. UnreadableImageError.

    It is turned as its EXIF orientation says; more than 8 bits are scaled, see atom_sdk's `pixels`.
    """
    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = opaque(in_8_bits(opened)).convert("L" if form.channels == 1 else "RGB")
            image = upright(image, orientation_of(opened))
            side = (form.image_size, form.image_size)
            pixels = np.asarray(ImageOps.pad(image, side, Image.Resampling.BILINEAR), np.uint8)
    except UnidentifiedImageError as error:
        raise UnreadableImageError("it is not an image") from error
    # Pillow's decoders raise almost anything on corrupt input; all of it means the same here.
    except Exception as error:
        raise UnreadableImageError(str(error) or type(error).__name__) from error
    return pixels[None] if form.channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def is_gray(data: memoryview) -> bool:
    """Return whether an image has no colour; an unreadable one has none."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.mode in GRAY_MODES:
                return True
            red, green, blue = np.asarray(opaque(image).convert("RGB")).transpose(2, 0, 1)
            return bool((red == green).all() and (green == blue).all())
    except Exception:
        return True
