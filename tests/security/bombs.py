"""Pictures that are small as files and would be large, endless or another program's as pictures.

Run as a program it opens all of them as the gateway and the catalogue do, and prints what thumbnail
came of each, and the most memory that it took.
"""

from __future__ import annotations

import io
import json
import re
import resource
import struct
import zlib
from pathlib import Path
from typing import Any

from PIL import Image

HUGE = 30_000


def _png(*chunks: bytes, size: int = 1) -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
    data = _chunk(b"IDAT", zlib.compress(b"\0\1\2\3"))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + data + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(name + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + name + data + checksum


def _deflated(mib: int) -> bytes:
    packed = zlib.compressobj(9)
    zeros = bytes(1 << 20)
    return b"".join(packed.compress(zeros) for _ in range(mib)) + packed.flush()


def _tiff(*tags: tuple[int, int, int, int], following: int = 0) -> bytes:
    """One directory of (tag, type, count, value); `following` is where the next one is said."""
    rows = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + rows + struct.pack("<I", following)


def _small(form: str) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (8, 8)).save(made, form)
    return made.getvalue()


def _gif_of_frames(count: int) -> bytes:
    head = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff"
    frame = b"\x21\xf9\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0"
    return head + frame * count + b";"


def _bmp() -> bytes:
    data = bytearray(_small("BMP"))
    data[18:26] = struct.pack("<ii", HUGE, HUGE)
    return bytes(data)


def _webp() -> bytes:
    # An extended header whose canvas is 16384 x 16384, and no picture in it.
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + b"\xff\x3f\0" * 2
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _ico() -> bytes:
    inner = _png(size=HUGE)
    entry = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(inner), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + inner


def pictures() -> dict[str, bytes]:
    """The files by name."""
    bomb = _deflated(64)
    side = ((256, 4, 1, HUGE), (257, 4, 1, HUGE), (258, 3, 1, 8), (262, 3, 1, 1))
    one = ((256, 4, 1, 1), (257, 4, 1, 1), (258, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1))
    return {
        "dimensions.png": _png(size=HUGE),
        "text.png": _png(*[_chunk(b"zTXt", b"k\0\0" + bomb)] * 4),
        "international.png": _png(_chunk(b"iTXt", b"k\0\1\0\0\0" + bomb)),
        "profile.png": _png(_chunk(b"iCCP", b"p\0\0" + bomb)),
        "chunks.png": _png(_chunk(b"tEXt", b"k\0v") * 50_000),
        "frames.gif": _gif_of_frames(100_000),
        "screen.gif": b"GIF89a\xff\xff\xff\xff\x80\0\0" + _gif_of_frames(1)[13:],
        "dimensions.tif": _tiff(*side, (273, 4, 1, 8), (278, 4, 1, HUGE), (279, 4, 1, 10)),
        "circle.tif": _tiff(*one, (273, 4, 1, 8), (279, 4, 1, 1), following=8),
        "counts.tif": _tiff(*one, (273, 4, 0x7FFFFFFF, 8), (279, 4, 0x7FFFFFFF, 8)),
        "inner.tif": _tiff(*one, (273, 4, 1, 8), (279, 4, 1, 1), (34665, 4, 1, 8)),
        "dimensions.bmp": _bmp(),
        "canvas.webp": _webp(),
        "inner.ico": _ico(),
        "text.ppm": b"P3 30000 30000 255 " + b"1 " * 1000,
        "program.eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nquit\n",
        "drawing.wmf": b"\xd7\xcd\xc6\x9a" + b"\0" * 40,
        "empty.jpg": b"\xff\xd8\xff\xd9",
    }


def opened() -> dict[str, Any]:
    """The outcome of each bomb, and the memory that all of them took."""
    from django.conf import settings

    # Errors are classes of the framework's renderer; nothing else of it is needed.
    settings.configure()

    from atom.core.errors import AtomError
    from atom.datasets.packs.engines.images import unreadable_reason
    from atom.datasets.packs.engines.pictures import HEAD_BYTES, picture_facts
    from atom.gateway.thumbnails import make_thumbnail

    found: dict[str, Any] = {}
    for name, data in pictures().items():
        try:
            said = f"{len(make_thumbnail(data, 128)[0])} bytes"
        except AtomError as error:
            said = error.code
        found[name] = said
        picture_facts(data[:HEAD_BYTES])
        unreadable_reason(data)
    return {"found": found, "most_mib": _most_mib()}


def _most_mib() -> int:
    # Not ru_maxrss: that begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) >> 10  # type: ignore[index]


if __name__ == "__main__":
    # The system ends a runaway process, so that no test waits for it.
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    print(json.dumps(opened()))
