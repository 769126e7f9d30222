"""Measures of an image file, taken in one pass."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from atom_sdk.readers.pixels import in_8_bits, is_sideways, orientation_of, upright

MAX_PIXELS = 100_000_000
# Everything is measured on a copy that fits into this square: a threshold of sharpness means the
# same for images of any camera, and a JPEG is decoded at an eighth of the work.
SIDE_PX = 256
# "Bright" is what only the brightest fiftieth exceeds: one hot pixel makes no picture light.
BRIGHT_PERCENTILE = 98
_MAX_REASON = 200
# Formats that Pillow decodes smaller in the first place; their size is another one then.
_DRAFTED = frozenset({"JPEG", "MPO"})
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


@dataclass(frozen=True)
class Measured:
    """One image; `unreadable` says why it could not be decoded, and then the rest is 0.

    Width and height are those of the picture as people see it, turned as its EXIF says.
    `luminance` (mean) and `bright` (98th percentile) are 0..1; `sharpness` is the variance of the
    Laplacian of 8-bit grey values; `phash` is a perceptual hash of 64 bits.
    """

    width: int = 0
    height: int = 0
    luminance: float = 0.0
    bright: float = 0.0
    sharpness: float = 0.0
    phash: int = 0
    unreadable: str | None = None


def measure(data: bytes | memoryview) -> Measured:
    """Decode an image once and measure it; never raises for what the bytes are."""
    if not len(data):
        return Measured(unreadable="the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as image:
                return _measured(image)
    except UnidentifiedImageError:
        return Measured(unreadable="not an image of a known format")
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        return Measured(unreadable=f"more than {MAX_PIXELS:,} pixels")
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception as error:
        return Measured(unreadable=(str(error) or type(error).__name__)[:_MAX_REASON])


def _measured(image: Image.Image) -> Measured:
    stored = image.size
    image.draft("L", (SIDE_PX, SIDE_PX))
    gray = _gray(image)
    # Pillow turns a TIFF by itself while it is loaded, and then says that it lies upright.
    orientation = orientation_of(image)
    size = stored if image.format in _DRAFTED else image.size
    width, height = size[::-1] if is_sideways(orientation) else size
    gray.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.BOX)
    gray = upright(gray, orientation)
    pixels = np.asarray(gray, np.float32)
    return Measured(
        width=width,
        height=height,
        luminance=float(pixels.mean()) / 255,
        bright=float(np.percentile(pixels, BRIGHT_PERCENTILE)) / 255,
        sharpness=laplacian_variance(pixels),
        phash=int(str(imagehash.phash(gray)), 16),
    )


def _gray(image: Image.Image) -> Image.Image:
    image = in_8_bits(image)
    if "A" in image.getbands() or "transparency" in image.info:
        # Transparent pixels are shown on white, since their hidden colour belongs to no picture.
        layered = image.convert("RGBA")
        white = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(white, layered).convert("L")
    return image.convert("L")


def laplacian_variance(pixels: NDArray[np.float32]) -> float:
    """Return how much edges vary in a picture of shape (height, width); 0 if it has none.

    Pech-Pacheco et al. 2000: out of focus, neighbours are alike and the Laplacian is flat.
    """
    if min(pixels.shape) < 3:
        return 0.0
    middle = pixels[1:-1, 1:-1]
    around = pixels[:-2, 1:-1] + pixels[2:, 1:-1] + pixels[1:-1, :-2] + pixels[1:-1, 2:]
    return float((around - 4 * middle).var())
