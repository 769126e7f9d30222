"""Facts that a picture holds in its first bytes: dimensions and EXIF."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from typing import Any

from PIL import ExifTags, Image

# Headers and EXIF come first; a picture of which they do not is not searched for them.
HEAD_BYTES = 1 << 20
MAX_TAGS = 64
MAX_TEXT = 200


@dataclass(frozen=True)
class PictureFacts:
    """Width and height in pixels as stored, format, colour mode, and EXIF by name."""

    width: int
    height: int
    format: str
    mode: str
    exif: dict[str, str] = field(default_factory=dict)


def picture_facts(head: bytes) -> PictureFacts | None:
    """Return what the first bytes of a file say, None if it is no picture that can be opened."""
    try:
        with warnings.catch_warnings():
            # A bomb is described, never decoded.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(head)) as image:
                size, kind, mode = image.size, image.format or "", image.mode
                return PictureFacts(*size, kind, mode, _exif(image))
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception:
        return None


def _exif(image: Image.Image) -> dict[str, str]:
    found = image.getexif()
    tags: dict[int, Any] = dict(found)
    for block in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
        names = ExifTags.GPSTAGS if block == ExifTags.IFD.GPSInfo else ExifTags.TAGS
        tags.pop(int(block), None)
        tags |= {tag: value for tag, value in found.get_ifd(block).items() if tag in names}
    facts: dict[str, str] = {}
    for tag, value in tags.items():
        name = ExifTags.TAGS.get(tag) or ExifTags.GPSTAGS.get(tag)
        text = _text(value)
        if name and text and len(facts) < MAX_TAGS:
            facts[name] = text
    return facts


def _text(value: Any) -> str:
    """Return a value as one short line; bytes, which no person reads, as nothing."""
    if isinstance(value, bytes):
        return ""
    if isinstance(value, tuple):
        return ", ".join(filter(None, map(_text, value)))[:MAX_TEXT]
    text = str(value).encode("utf-8", "replace").decode()
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_TEXT]
