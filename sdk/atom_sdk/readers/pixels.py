"""Pixels of any depth as 8 bits, and pictures turned upright; needs Pillow.

Pillow's own conversion of more than 8 bits makes white of all that is over 255. Here the values
from black to white become 0 to 255. Black and white depend on the format, never on the pixels, so
equal values stay equal in all pictures of a dataset:

- 16 bits: 0 and 65,535. A TIFF may say that fewer bits are used, by BitsPerSample or by a
  MaxSampleValue of 2^n - 1; any other MaxSampleValue is a statistic of that picture.
- PGM and PPM: 0 and the maximum that the file names.
- JPEG 2000: 0 and the greatest value of the file's bits.
- 32 bits, signed and floating-point pixels: unknown, so somebody has to say a range.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

Range = tuple[float, float]

_WIDE = frozenset({"I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
_FULL_16 = 65_535
# Formats whose pixels of 16 bits have no sign. Pillow reads PGM, and older releases PNG, as "I".
_UNSIGNED_16 = frozenset({"PNG", "TIFF", "PPM", "JPEG2000", "IM"})
_WIDE_AS_I = frozenset({"PNG", "PPM"})
# Tags of TIFF 6.0.
_BITS, _PHOTOMETRIC, _MAXIMUM, _SAMPLE_FORMAT = 258, 262, 281, 339
_UNSIGNED = 1
_WHITE_IS_ZERO = 0
# Premultiplied colours, which convert to nothing else.
_WITH_ALPHA = {"RGBa": "RGBA", "La": "LA"}
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# These exchange width and height.
_SIDEWAYS = frozenset({5, 6, 7, 8})


class UnknownRangeError(ValueError):
    """Nothing says which values of a picture's pixels are black and white."""


def in_8_bits(image: Image.Image, value_range: Range | None = None) -> Image.Image:
    """Return an image whose channels have 8 bits; one that has them already as it is.

    `value_range` is (black, white) of images with one channel of more than 8 bits; values beyond
    are cut. Raises UnknownRangeError, ValueError for pixels that are no numbers.
    """
    if image.mode not in _WIDE:
        _check_colours(image, value_range)
        return image
    black, white = value_range or (0, _white_of(image))
    values = _values(image)
    if not np.isfinite(values).all():
        raise ValueError("some of its pixels are no numbers")
    scaled = np.clip((values - black) * (255 / (white - black)), 0, 255)
    if _tag(image, _PHOTOMETRIC) == _WHITE_IS_ZERO:
        scaled = 255 - scaled
    return Image.fromarray(np.rint(scaled).astype(np.uint8))


def opaque(image: Image.Image) -> Image.Image:
    """Return an image in a mode that converts to colours and to grey as they are stored."""
    mode = _WITH_ALPHA.get(image.mode)
    if image.mode == "P" and "transparency" in image.info:
        # Straight to RGB, Pillow warns for every picture.
        mode = "RGBA"
    return image if mode is None else image.convert(mode)


def orientation_of(image: Image.Image) -> int:
    """Return the orientation of EXIF or XMP, 1 to 8; 1 where there is none that can be read."""
    try:
        turned = image.getexif().get(ExifTags.Base.Orientation, 1)
    # Damaged EXIF is no reason to refuse a picture, and Pillow raises almost anything for it.
    except Exception:
        return 1
    return turned if turned in _TURNS else 1


def is_sideways(orientation: int) -> bool:
    """Tell whether width and height of the upright picture are those of the stored one, swapped."""
    return orientation in _SIDEWAYS


def upright(image: Image.Image, orientation: int) -> Image.Image:
    """Return an image as people see it."""
    turn = _TURNS.get(orientation)
    return image if turn is None else image.transpose(turn)


def _values(image: Image.Image) -> NDArray[np.float64]:
    pixels = np.asarray(image)
    if image.mode == "I" and _tag(image, _BITS) == 32 and _sample_format(image) == _UNSIGNED:
        # Pillow has no such mode and keeps the bits.
        pixels = pixels.view(np.uint32)
    return pixels.astype(np.float64)


def _white_of(image: Image.Image) -> int:
    kind = image.format or ""
    if image.mode == "F" or (image.mode == "I" and kind not in _WIDE_AS_I):
        raise UnknownRangeError(
            "its pixels have 32 bits or a sign, and nothing says which values are black and white"
        )
    if kind not in _UNSIGNED_16:
        raise UnknownRangeError(
            f"nothing says which values are black and white in 16 bits of {kind or 'this format'}"
        )
    return _tiff_white(image)


def _tiff_white(image: Image.Image) -> int:
    """Return the greatest value of the bits that a TIFF uses, of 16 bits in other formats."""
    bits, greatest = _tag(image, _BITS), _tag(image, _MAXIMUM)
    full = _FULL_16 if bits is None else (1 << int(bits)) - 1
    is_depth = greatest and int(greatest) & (int(greatest) + 1) == 0
    return min(full, int(greatest)) if greatest and is_depth else full


def _check_colours(image: Image.Image, value_range: Range | None) -> None:
    """Refuse a range for colours of 16 bits, of which Pillow keeps the upper 8."""
    bits = _tag(image, _BITS)
    if bits is not None and bits > 8 and _tiff_white(image) < (1 << int(bits)) - 1:
        raise ValueError("its colours use only a part of their 16 bits, which cannot be scaled")
    if value_range is not None and _has_16_bit_colours(image):
        raise ValueError("its colours have 16 bits; a range is for pictures of one channel")


def _has_16_bit_colours(image: Image.Image) -> bool:
    """Tell, before an image is loaded, whether its file has colours of more than 8 bits."""
    for tile in image.__dict__.get("tile") or ():
        arguments = tile[3] if isinstance(tile[3], tuple) else (tile[3],)
        is_wide_ppm = image.format == "PPM" and any(
            isinstance(one, int) and one > 255 for one in arguments
        )
        if is_wide_ppm or any(isinstance(one, str) and ";16" in one for one in arguments):
            return True
    return False


def _sample_format(image: Image.Image) -> int:
    return int(_tag(image, _SAMPLE_FORMAT) or _UNSIGNED)


def _tag(image: Image.Image, number: int) -> Any:
    """Return a tag of a TIFF, of the first channel; None for other formats."""
    tags = getattr(image, "tag_v2", None)
    if image.format != "TIFF" or tags is None:
        return None
    value = tags.get(number)
    return value[0] if isinstance(value, tuple) and value else value
