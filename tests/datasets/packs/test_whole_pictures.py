"""Pictures that end early are named with the share that is there; whole ones are not decoded."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

from atom.datasets.packs.engines.images import unreadable_reason

ENDS_EARLY = "the file ends before the picture does"


def _saved(kind: str, mode: str = "RGB", **options: Any) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((320, 240), 90).convert(mode).save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("JPEG", {}, "the file ends after "),
        ("PNG", {}, "the file ends after "),
        ("TIFF", {}, "the file ends after "),
        ("JPEG", {"progressive": True}, ENDS_EARLY),
        ("GIF", {}, ENDS_EARLY),
        ("BMP", {}, ENDS_EARLY),
        ("WEBP", {}, ENDS_EARLY),
    ],
)
def test_half_a_file_is_named_as_one_that_ends_early(
    kind: str, options: dict[str, Any], reason: str
) -> None:
    whole = _saved(kind, **options)

    assert unreadable_reason(whole) is None
    assert (unreadable_reason(whole[: len(whole) // 2]) or "").startswith(reason)


def test_the_share_is_that_of_the_rows() -> None:
    whole = _saved("TIFF")
    assert unreadable_reason(whole[: round(len(whole) * 0.61)]) == (
        "the file ends after 60 % of the picture"
    )


@pytest.mark.parametrize(
    "whole",
    [
        # Bytes that cameras and phones append to a picture.
        _saved("JPEG") + b"\0" * 40,
        _saved("JPEG") + b"a short film",
        _saved("JPEG", "CMYK"),
        # A PNG under the name of a JPEG is a picture all the same.
        _saved("PNG"),
    ],
)
def test_whole_pictures_of_odd_kinds_are_not_called_broken(whole: bytes) -> None:
    assert unreadable_reason(whole) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"no picture at all", "not an image of a known format"),
    ],
)
def test_other_kinds_have_their_own_reason(data: bytes, reason: str) -> None:
    assert unreadable_reason(data) == reason


def test_a_large_picture_is_not_decoded_to_count_its_rows() -> None:
    header = struct.pack(">IIBBBBB", 9_000, 9_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    cut = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
    cut += struct.pack(">I", zlib.crc32(chunk)) + struct.pack(">I", 999) + b"IDAT" + b"x" * 9

    assert unreadable_reason(cut) == ENDS_EARLY
