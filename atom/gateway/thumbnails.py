"""Thumbnails of untrusted images: bounded pixels, bounded bytes, one small WebP."""

from __future__ import annotations

import io
import warnings

from PIL import Image, ImageOps

from atom.gateway.errors import ImageTooLarge, ImageUnreadable

MAX_SOURCE_BYTES = 64 << 20
MAX_PIXELS = 100_000_000
MAX_WIDTH = 1024
# A picture this small is sent as it is: re-encoding would only blur it.
_PASS_THROUGH_BYTES = 32 << 10
_PASS_THROUGH_FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}


def make_thumbnail(data: bytes, width: int) -> tuple[bytes, str]:
    """Return a picture at most `width` pixels wide and high, and its media type.

    Raises ImageTooLarge or ImageUnreadable.
    """
    edge = min(max(width, 1), MAX_WIDTH)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as image:
                return _render(image, data, edge)
    except (ImageTooLarge, Image.DecompressionBombWarning, Image.DecompressionBombError) as exc:
        raise ImageTooLarge(f"Thumbnails are made of at most {MAX_PIXELS:,} pixels.") from exc
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception as exc:
        raise ImageUnreadable(f"The image cannot be decoded: {exc}.") from exc


def _render(image: Image.Image, data: bytes, edge: int) -> tuple[bytes, str]:
    if image.width * image.height > MAX_PIXELS:
        raise ImageTooLarge
    media_type = _PASS_THROUGH_FORMATS.get(image.format or "")
    small = max(image.size) <= edge and len(data) <= _PASS_THROUGH_BYTES
    image.draft("RGB", (edge, edge))
    image.load()
    if small and media_type is not None:
        return data, media_type
    picture = ImageOps.exif_transpose(image) or image
    picture = picture.convert("RGBA" if _has_alpha(picture) else "RGB")
    picture.thumbnail((edge, edge), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=82, method=3)
    return out.getvalue(), "image/webp"


def _has_alpha(image: Image.Image) -> bool:
    return image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
