"""Holds Pillow to the limits of pixels: of pictures that are opened, and that are decoded.

Pillow has one limit for the process, 89 million by default. Above it comes a warning, and an error
only above twice as many. It looks when a picture is opened, whether that decodes it or not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image

from atom.datasets.packs.engines.pixel_limits import MAX_DECODED, MAX_OPENED

Image.MAX_IMAGE_PIXELS = MAX_OPENED
TOO_LARGE: Final = (Image.DecompressionBombWarning, Image.DecompressionBombError)


@contextmanager
def limited_pixels() -> Iterator[None]:
    """Open no picture of more than MAX_OPENED. Raises DecompressionBombWarning or -Error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def draft_decodable(image: Image.Image, size: tuple[int, int]) -> bool:
    """Ask for a draft of at least `size` and return whether it may be decoded.

    A JPEG is then decoded at a fraction of its size, unless it is progressive: of such a one the
    decoder holds the whole.
    """
    whole = image.width * image.height
    image.draft("RGB", size)
    held = whole if image.info.get("progressive") else image.width * image.height
    return held <= MAX_DECODED
