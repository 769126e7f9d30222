"""How large a picture may be that is opened here, in pixels.

Pillow has one limit for the process, 89 million by default. Above it comes a warning, and an error
only above twice as many.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image

MAX_PIXELS: Final = 100_000_000
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
TOO_LARGE: Final = (Image.DecompressionBombWarning, Image.DecompressionBombError)


@contextmanager
def limited_pixels() -> Iterator[None]:
    """Open no picture of more pixels. Raises DecompressionBombWarning or -Error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield
