"""Can this image be read whole? A bounded look: the header, the end and Pillow's own check."""

from __future__ import annotations

import io
import mimetypes

import pyarrow as pa
import pyarrow.compute as pc
from PIL import Image, UnidentifiedImageError

from atom.datasets.packs.engines.pixel_limits import MAX_DECODED, MAX_OPENED
from atom.datasets.packs.engines.pixels import TOO_LARGE, draft_decodable, limited_pixels
from atom.datasets.packs.engines.whole_pictures import (
    ENDS_EARLY,
    cut_off_reason,
    is_whole,
    webp_ends_early,
)

MAX_CHECKED_BYTES = 64 << 20
# Drawings in text form; Pillow does not read them and nobody expects it to.
_NOT_RASTER = frozenset({"image/svg+xml"})
_MAX_REASON = 200
_SMALL_PX = (64, 64)


def media_type_of(path: str) -> str:
    """Return the media type that the name of a file says."""
    return mimetypes.guess_type(path, strict=False)[0] or "application/octet-stream"


def is_raster_image(media_type: str) -> bool:
    """Return whether Pillow should be able to open it."""
    return media_type.startswith("image/") and media_type not in _NOT_RASTER


def raster_images(entries: pa.Table) -> pa.ChunkedArray:
    """Return for each entry whether its type is one that Pillow should be able to open."""
    types = entries.column("media_type")
    images = [one for one in pc.unique(types).to_pylist() if one and is_raster_image(one)]
    return pc.is_in(types, value_set=pa.array(images, pa.string()))


def marked_unreadable(entries: pa.Table) -> pa.ChunkedArray:
    """Return for each entry whether it was found, when it was pushed, to be no image."""
    return pc.match_substring(pc.fill_null(entries.column("attributes"), ""), '"unreadable":')


def unreadable_reason(data: bytes | bytearray | memoryview) -> str | None:
    """Return why `data` is not an image that can be opened, or None if it is."""
    if not len(data):
        return "the file is empty"
    if len(data) > MAX_CHECKED_BYTES:
        return None
    if webp_ends_early(data):
        return ENDS_EARLY
    try:
        with limited_pixels():
            with Image.open(io.BytesIO(data)) as image:
                # Opened once where nothing is in doubt, as most are.
                if is_whole(image, data):
                    image.verify()
                    return None
                if (cut_off := cut_off_reason(image)) is not None:
                    return cut_off
            with Image.open(io.BytesIO(data)) as image:
                image.verify()
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception as exc:
        return _plain(exc)
    return None


def decoding_problem(data: bytes) -> str:
    """Return why a picture cannot be decoded to its last pixel, "" if it can.

    JPEGs are decoded at a fraction of their size: a file that ends too early is seen all the same.
    """
    if not data:
        return "the file is empty"
    try:
        with limited_pixels(), Image.open(io.BytesIO(data)) as image:
            if not draft_decodable(image, _SMALL_PX):
                return f"more than the {MAX_DECODED:,} pixels up to which an image is decoded here"
            image.load()
    # As above.
    except Exception as exc:
        return _plain(exc)
    return ""


def _plain(exc: Exception) -> str:
    # Pillow names the buffer object in this one, which helps no person.
    if isinstance(exc, UnidentifiedImageError):
        return "not an image of a known format"
    # The file may be fine: whoever reads of a "bomb" would look for what is wrong with it.
    if isinstance(exc, TOO_LARGE):
        return f"more than the {MAX_OPENED:,} pixels up to which an image is opened here"
    return (str(exc) or type(exc).__name__)[:_MAX_REASON]
