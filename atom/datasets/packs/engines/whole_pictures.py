"""Does a picture file end where its format says? Read from a few bytes; only doubts are decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from PIL import Image

Data: TypeAlias = bytes | bytearray | memoryview
# Decoded to count rows: more pixels would fill a worker's memory.
_MAX_COUNTED_PIXELS: Final = 40_000_000
_PADDING: Final = b"\x00\r\n \t"
_STRIPS, _TILES = (273, 279), (324, 325)
_EIGHTH: Final = 8
# Rows are written from the first to the last, so the present ones show the share.
_ROWS_IN_ORDER: Final = frozenset({"JPEG", "MPO", "PNG", "TIFF"})
ENDS_EARLY: Final = "the file ends before the picture does"


def is_whole(image: Image.Image, data: Data) -> bool:
    """Return whether `data` ends as its format says; where the format says nothing, it does.

    Raises what Pillow raises for other corrupt bytes.
    """
    check = _CHECKS.get(image.format or "")
    return check is None or check(image, data)


def ends_as_it_should(tail: bytes) -> bool:
    """Return whether the last bytes of a file are those of a whole JPEG or PNG."""
    kept = tail.rstrip(_PADDING)
    return kept.endswith((b"\xff\xd9", b"IEND\xaeB`\x82"))


def cut_off_reason(image: Image.Image) -> str | None:
    """Decode a doubtful picture: return the share of its rows that is there, None if it is all.

    Raises what Pillow raises for other corrupt bytes.
    """
    if image.format == "JPEG":
        # Decoded at an eighth of its size, which needs a 64th of the memory.
        image.draft(None, (image.width // _EIGHTH or 1, image.height // _EIGHTH or 1))
    if image.width * image.height > _MAX_COUNTED_PIXELS:
        return ENDS_EARLY
    try:
        image.load()
    except OSError:
        return _with_share(_share_of_rows(image)) if _has_rows_in_order(image) else ENDS_EARLY
    # A trailer alone is missing: every reader shows this picture whole.
    return None


def _with_share(share: float) -> str:
    percent = int(share * 100)
    return f"the file ends after {percent} % of the picture" if 0 < percent < 100 else ENDS_EARLY


def _has_rows_in_order(image: Image.Image) -> bool:
    return image.format in _ROWS_IN_ORDER and not image.info.get("interlace")


def _share_of_rows(image: Image.Image) -> float:
    """Return the share of the rows that were decoded: the others are still zero."""
    pixels = getattr(image, "im", None)
    box = None if pixels is None else pixels.getbbox()
    return 0.0 if box is None else float(box[3]) / image.height


def webp_ends_early(data: Data) -> bool:
    """Return whether a RIFF file names more bytes than it has; Pillow does not open such a one."""
    is_webp = bytes(data[:4]) == b"RIFF" and bytes(data[8:12]) == b"WEBP"
    return is_webp and int.from_bytes(data[4:8], "little") + 8 > len(data)


def _jpeg_is_whole(_image: Image.Image, data: Data) -> bool:
    return bytes(data[-256:]).rstrip(_PADDING).endswith(b"\xff\xd9")


def _gif_is_whole(_image: Image.Image, data: Data) -> bool:
    return bytes(data[-256:]).rstrip(_PADDING).endswith(b";")


def _png_is_whole(_image: Image.Image, data: Data) -> bool:
    return b"IEND" in bytes(data[-4096:])


def _bmp_is_whole(_image: Image.Image, data: Data) -> bool:
    return int.from_bytes(data[2:6], "little") <= len(data)


def _tiff_is_whole(image: Image.Image, data: Data) -> bool:
    tags = getattr(image, "tag_v2", {})
    for offsets, sizes in (_STRIPS, _TILES):
        ends = map(sum, zip(tags.get(offsets, ()), tags.get(sizes, ()), strict=False))
        if max(ends, default=0) > len(data):
            return False
    return True


_CHECKS: Final[dict[str, Callable[[Image.Image, Data], bool]]] = {
    "JPEG": _jpeg_is_whole,
    "MPO": _jpeg_is_whole,
    "GIF": _gif_is_whole,
    "PNG": _png_is_whole,
    "BMP": _bmp_is_whole,
    "TIFF": _tiff_is_whole,
}
