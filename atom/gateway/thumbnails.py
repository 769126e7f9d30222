"""Thumbnails of untrusted images: bounded pixels, bounded bytes, one small WebP."""

from __future__ import annotations

import io
import math
from functools import cache

from PIL import ExifTags, Image, ImageOps

from atom.datasets.packs.engines.pixel_limits import MAX_DECODED
from atom.datasets.packs.engines.pixels import draft_decodable, limited_pixels
from atom.gateway.errors import ImageTooLarge, ImageUnreadable
from atom_sdk.sentences import Sentence

MAX_SOURCE_BYTES = 64 << 20
MAX_WIDTH = 1024
# A picture this small is sent as it is: re-encoding would only blur it.
_PASS_THROUGH_BYTES = 32 << 10
_PASS_THROUGH_FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
# Pixels of 16 or 32 bits: depths, X-rays, counts. Pillow makes white of all that is over 255.
_SCALABLE_MODES = {"I", "I;16", "F"}
_WIDE_MODES = _SCALABLE_MODES | {"I;16B", "I;16L", "I;16N"}


def make_thumbnail(data: bytes, width: int) -> tuple[bytes, str]:
    """Return a picture at most `width` pixels wide and high, and its media type.

    Raises ImageTooLarge or ImageUnreadable.
    """
    edge = min(max(width, 1), MAX_WIDTH)
    try:
        with limited_pixels(), Image.open(io.BytesIO(data), formats=_formats()) as image:
            return _render(image, data, edge)
    except (ImageTooLarge, Image.DecompressionBombWarning, Image.DecompressionBombError) as exc:
        raise ImageTooLarge(
            Sentence(
                "gateway.picture_too_large",
                "Thumbnails are made of at most {max_pixels} pixels.",
                max_pixels=f"{MAX_DECODED:,}",
            )
        ) from exc
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception as exc:
        raise ImageUnreadable(
            Sentence(
                "gateway.image_not_decodable", "The image cannot be decoded: {reason}.", reason=exc
            )
        ) from exc


@cache
def _formats() -> list[str]:
    """Return what is read: all but what Pillow gives to another program, which is PostScript."""
    Image.init()
    return sorted(set(Image.OPEN) - {"EPS"})


def _render(image: Image.Image, data: bytes, edge: int) -> tuple[bytes, str]:
    media_type = _PASS_THROUGH_FORMATS.get(image.format or "")
    is_wide = image.mode in _WIDE_MODES
    small = max(image.size) <= edge and len(data) <= _PASS_THROUGH_BYTES and not is_wide
    if not draft_decodable(image, (edge, edge)):
        raise ImageTooLarge
    image.load()
    if small and media_type is not None:
        return data, media_type
    # Scaled before it is turned, without a needless copy: a picture may fill the memory.
    picture = _in_grey(image) if is_wide else _in_colour(image)
    turned = image.getexif().get(ExifTags.Base.Orientation)
    picture.thumbnail((edge, edge), Image.Resampling.LANCZOS)
    if turned:
        picture.getexif()[ExifTags.Base.Orientation] = turned
        picture = ImageOps.exif_transpose(picture)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=82, method=3)
    return out.getvalue(), "image/webp"


def _in_colour(image: Image.Image) -> Image.Image:
    mode = "RGBA" if _has_alpha(image) else "RGB"
    return image if image.mode == mode else image.convert(mode)


def _in_grey(image: Image.Image) -> Image.Image:
    """Return pixels of 16 or 32 bits as 8: from black for the least to white for the greatest."""
    wide = image if image.mode in _SCALABLE_MODES else image.convert("I")
    extrema = wide.getextrema()
    low, high = float(extrema[0]), float(extrema[1])  # type: ignore[arg-type]  # of one band
    if not math.isfinite(high - low) or high <= low:
        return wide.convert("L")
    scale = 255 / (high - low)
    return wide.point(lambda value: value * scale - low * scale).convert("L")


def _has_alpha(image: Image.Image) -> bool:
    return image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
