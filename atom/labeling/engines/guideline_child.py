"""Make a guideline's picture of untrusted bytes, in a process of its own that limits may end.

It reads the bytes from its input. It writes a line of JSON, and after it the picture, if there is
one. The process knows neither Django nor the installation's secrets.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from typing import Final

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

MEMORY_BYTES: Final = 1 << 30
CPU_S: Final = 20
MAX_PIXELS: Final = 50_000_000
# The longer side of a stored picture, in pixels.
MAX_SIDE: Final = 2048
TOO_LARGE: Final = "too_large"
OTHER_FORMAT: Final = "other_format"
BROKEN: Final = "broken"
_READ: Final = ("PNG", "JPEG", "WEBP", "GIF")
# Cameras write several pictures into one JPEG file, which Pillow calls MPO.
_WRITTEN: Final = {"JPEG": "JPEG", "MPO": "JPEG", "WEBP": "WEBP", "PNG": "PNG", "GIF": "PNG"}
_OPTIONS: Final = {"JPEG": {"quality": 90}, "WEBP": {"quality": 90}, "PNG": {}}
_BYTES_OF_16_BITS: Final = 1 / 256


class RefusedError(Exception):
    """No picture is made of these bytes, for one of the reasons above."""


def _open(data: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=_READ)
    except UnidentifiedImageError as exc:
        raise RefusedError(OTHER_FORMAT) from exc
    if image.width * image.height > MAX_PIXELS:
        raise RefusedError(TOO_LARGE)
    return image


def _shown(image: Image.Image) -> Image.Image:
    """Return the first frame upright, in sRGB, at most MAX_SIDE pixels wide and high."""
    image.draft(image.mode, (MAX_SIDE, MAX_SIDE))
    image.load()
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):
        upright = upright.convert("I").point(lambda value: value * _BYTES_OF_16_BITS).convert("L")
    has_alpha = upright.has_transparency_data
    plain = _in_srgb(upright, "RGBA" if has_alpha else "RGB")
    plain.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    return plain


def _in_srgb(image: Image.Image, mode: str) -> Image.Image:
    profile = image.info.get("icc_profile")
    if profile and image.mode in {"RGB", "RGBA", "CMYK"}:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            made = ImageCms.profileToProfile(
                image, source, ImageCms.createProfile("sRGB"), outputMode=mode
            )
        except (ImageCms.PyCMSError, OSError, ValueError):
            # A profile that cannot be read changes no colour.
            made = None
        if made is not None:
            return made
    return image.convert(mode)


def _written(image: Image.Image, form: str) -> bytes:
    # A copy of the pixels alone: no text, no EXIF, no profile goes along.
    bare = Image.frombytes(image.mode, image.size, image.tobytes())
    out = io.BytesIO()
    bare.save(out, form, **_OPTIONS[form])
    return out.getvalue()


def _made(data: bytes) -> tuple[dict[str, object], bytes]:
    image = _open(data)
    form = _WRITTEN[image.format or ""]
    picture = _shown(image)
    facts = {
        "width": picture.width,
        "height": picture.height,
        "media_type": f"image/{form.lower()}",
    }
    return {"made": facts}, _written(picture, form)


def main() -> None:
    """Answer for the picture on standard input."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    # The limit of this file is looked at before anything is decoded.
    Image.MAX_IMAGE_PIXELS = None
    body = b""
    answer: dict[str, object]
    try:
        answer, body = _made(sys.stdin.buffer.read())
    except RefusedError as refusal:
        answer = {"refused": str(refusal)}
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception:
        answer = {"refused": BROKEN}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + body)


if __name__ == "__main__":
    main()
