"""Cut one picture into a pyramid of tiles, in a process of its own that limits may end.

libvips streams the rows, so 250 megapixels need about 200 MiB. A picture that must be turned, or
whose range must be known first, is decoded into a file beside the target. The process knows
neither Django nor the installation's secrets. It writes a line of JSON for each step.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any, Final

import pyvips
from PIL import Image

from atom.datasets.packs.engines.pixel_limits import MAX_DECODED, MAX_OPENED
from atom.datasets.pyramids.engines.reasons import TOO_DEEP, TOO_LARGE, UNREADABLE

MEMORY_BYTES: Final = 1 << 30
CPU_S: Final = 600
TILE: Final = 512

_LOADERS = {
    "jpegload": ".jpg",
    "pngload": ".png",
    "tiffload": ".png",
    "webpload": ".jpg",
    "gifload": ".png",
    "jp2kload": ".png",
    "ppmload": ".png",
}
_JPEG = ".jpg[Q=90]"
_PNG = ".png[compression=1,filter=none]"
_BYTE_COLOURS = 3
_WHITE: Final = 65535
_WIDE_FORMATS: Final = frozenset({"char", "uint", "int", "float", "double"})
# Greater than any finite value of 32 bits; infinities and what is no number count as black.
_ENDLESS: Final = 3.5e38


class RefusedError(Exception):
    """No pyramid is made of this picture, for one of the reasons above."""


def _say(step: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(step) + "\n")
    sys.stdout.flush()


def _open(source: Path, scratch: Path) -> tuple[pyvips.Image, str]:
    """Return the upright picture and the ending of its tiles."""
    try:
        image = pyvips.Image.new_from_file(str(source), access="sequential", fail_on="truncated")
    except pyvips.Error:
        image = _open_with_pillow(source, scratch)
    loader = str(image.get("vips-loader"))
    name = next((known for known in _LOADERS if loader.startswith(known)), "")
    if not name:
        raise RefusedError(UNREADABLE)
    if image.width * image.height > MAX_OPENED:
        raise RefusedError(TOO_LARGE)
    if image.interpretation in {"cmyk", "lab", "labs"}:
        image = image.colourspace("srgb")
    is_turned = image.get_typeof("orientation") != 0 and image.get("orientation") > 1
    if is_turned or image.format != "uchar":
        # Rows are needed in another order, or twice: the decoded picture lies on the disk.
        decoded = scratch / "decoded.v"
        image.write_to_file(str(decoded))
        image = pyvips.Image.new_from_file(str(decoded), access="random").autorot()
    return image, _LOADERS[name]


def _open_with_pillow(source: Path, scratch: Path) -> pyvips.Image:
    """Return a picture of a format that libvips does not read, as Pillow decodes it."""
    Image.init()
    # PostScript would run in another program.
    formats = sorted(set(Image.OPEN) - {"EPS"})
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(source, formats=formats) as image:
            if image.width * image.height > MAX_DECODED:
                raise RefusedError(TOO_LARGE)
            decoded = scratch / "decoded.tif"
            has_alpha = "A" in image.mode or "transparency" in image.info
            is_wide = image.mode.startswith(("I", "F"))
            pixels = image if is_wide else image.convert("RGBA" if has_alpha else "RGB")
            pixels.save(decoded, "TIFF", exif=image.getexif())
    except RefusedError:
        raise
    # Pillow's decoders raise almost anything on hostile input; all of it means the same here.
    except Exception as error:
        raise RefusedError(UNREADABLE) from error
    return pyvips.Image.new_from_file(str(decoded), access="sequential", fail_on="truncated")


def _in_tiles(image: pyvips.Image, ending: str) -> tuple[pyvips.Image, str, dict[str, Any]]:
    """Return the picture as its tiles keep it, how they are written, and facts of its pixels."""
    if image.format == "uchar":
        has_alpha = image.hasalpha()
        suffix = _JPEG if ending == ".jpg" and not has_alpha else _PNG
        return image, suffix, {"bits": 8, "low": 0, "high": 255, "zero": 0}
    # The transparency of deep pictures is left out, as everywhere.
    colours = image.extract_band(0, n=_BYTE_COLOURS if image.bands >= _BYTE_COLOURS else 1)
    if image.format in _WIDE_FORMATS:
        return _stretched(colours)
    if image.format not in {"ushort", "short"}:
        raise RefusedError(TOO_DEEP)
    low, high = int(colours.min()), int(colours.max())
    zero = 0
    if image.format == "short":
        zero = -32768
        colours = (colours + 32768).cast("ushort")
    colours = colours.copy(interpretation="grey16" if colours.bands == 1 else "rgb16")
    return colours, _PNG, {"bits": 16, "low": low, "high": high, "zero": zero}


def _stretched(colours: pyvips.Image) -> tuple[pyvips.Image, str, dict[str, Any]]:
    """Return values of 32 bits as 16: exact if their range fits, else from black to white."""
    finite = (colours > -_ENDLESS) & (colours < _ENDLESS)
    low = float(finite.ifthenelse(colours, _ENDLESS).min())
    high = float(finite.ifthenelse(colours, -_ENDLESS).max())
    if low > high:
        low = high = 0.0
    is_exact = colours.format in {"char", "uint", "int"} and high - low <= _WHITE
    scale = 1.0 if is_exact or high == low else _WHITE / (high - low)
    # In double precision: 32 bits of a float do not hold all integers of 32 bits.
    scaled = (colours.cast("double") - low) * scale
    pixels = finite.ifthenelse(scaled, 0).rint().cast("ushort")
    pixels = pixels.copy(interpretation="grey16" if pixels.bands == 1 else "rgb16")
    if is_exact:
        return pixels, _PNG, {"bits": 16, "low": int(low), "high": int(high), "zero": int(low)}
    return pixels, _PNG, {"bits": 16, "low": 0, "high": _WHITE if high > low else 0, "zero": 0}


def _cut(source: Path, target: Path) -> dict[str, Any]:
    image, ending = _open(source, target.parent)
    pixels, suffix, facts = _in_tiles(image, ending)
    for name in pixels.get_fields():
        # Tiles carry neither profiles nor places.
        if name in {"exif-data", "icc-profile-data", "xmp-data", "iptc-data"}:
            pixels = pixels.copy()
            pixels.remove(name)
    pixels.set_progress(True)
    last = -1

    def on_progress(_: object, progress: Any) -> None:
        nonlocal last
        if progress.percent > last:
            last = progress.percent
            _say({"progress": last})

    pixels.signal_connect("eval", on_progress)
    pixels.dzsave(
        str(target),
        container="zip",
        basename="p",
        tile_size=TILE,
        overlap=0,
        depth="onetile",
        suffix=suffix,
        region_shrink="mean",
    )
    return {
        "width": pixels.width,
        "height": pixels.height,
        "tile": TILE,
        "levels": _levels(max(pixels.width, pixels.height)),
        "format": "png" if suffix == _PNG else "jpg",
        "channels": pixels.bands,
        **facts,
    }


def _levels(side: int) -> int:
    """Return the number of halvings, and the whole, until one tile holds the picture."""
    levels = 1
    while side > TILE:
        side = (side + 1) // 2
        levels += 1
    return levels


def main(source: str, target: str) -> None:
    """Write the pyramid of `source` as `target`, which ends with .zip."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    pyvips.cache_set_max(0)
    try:
        pyvips.operation_block_set("VipsForeignLoad", True)
        for allowed in ("Jpeg", "Png", "Tiff", "Webp", "Nsgif", "Jp2k", "Ppm", "Vips"):
            pyvips.operation_block_set(f"VipsForeignLoad{allowed}", False)
        _say({"made": _cut(Path(source), Path(target))})
    except RefusedError as refusal:
        _say({"refused": str(refusal)})
    except pyvips.Error:
        _say({"refused": UNREADABLE})


if __name__ == "__main__":
    main(*sys.argv[1:3])
