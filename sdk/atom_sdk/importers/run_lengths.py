"""Masks as COCO's run lengths: the box around one. Columns come first, and zeros begin.

Compressed lengths are text, six bits a character, each length from the third on minus the one two
before. Source: `rleFrString` in cocoapi's `common/maskApi.c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atom_sdk.importers.objects import ObjectRefusedError, checked_box

_OFFSET, _BITS, _MORE, _SIGN = 48, 5, 0x20, 0x10
_MAX_SIDE_PX = 1 << 31
_MAX_CHARACTERS = 13  # of one length: 65 bits
_BAD = "its run lengths cannot be read"

Box = tuple[float, float, float, float]


def box_of_run_lengths(mask: dict[str, Any]) -> Box:
    """Return x, y, width, height in pixels of `{"counts": [...] or text, "size": [height, width]}`.

    Raises ObjectRefusedError, also for a mask without a pixel.
    """
    height, width = _size(mask.get("size"))
    counts = mask.get("counts")
    lengths = decode_counts(counts) if isinstance(counts, str) else counts
    if not isinstance(lengths, list) or not all(type(one) is int and one >= 0 for one in lengths):
        raise ObjectRefusedError(_BAD)
    if sum(lengths) != height * width:
        raise ObjectRefusedError("its run lengths do not fill its mask")
    return _box(lengths, height)


def decode_counts(text: str) -> list[int]:
    """Return the lengths that compressed text stands for. Raises ObjectRefusedError."""
    lengths: list[int] = []
    value = place = 0
    for character in text:
        bits = ord(character) - _OFFSET
        if not 0 <= bits < 64 or place >= _MAX_CHARACTERS:
            raise ObjectRefusedError(_BAD)
        value |= (bits & 0x1F) << (_BITS * place)
        place += 1
        if bits & _MORE:
            continue
        if bits & _SIGN:
            value -= 1 << (_BITS * place)
        lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
        value = place = 0
    if place:
        raise ObjectRefusedError(_BAD)
    return lengths


def _box(lengths: Sequence[int], height: int) -> Box:
    left = top = _MAX_SIDE_PX
    right = bottom = position = 0
    for number, length in enumerate(lengths):
        first, last = position, position + length - 1
        position += length
        if number % 2 == 0 or length == 0:
            continue
        # A run that goes on in the next column covers the bottom of one and the top of the other.
        is_one_column = first // height == last // height
        left, right = min(left, first // height), max(right, last // height + 1)
        top = min(top, first % height if is_one_column else 0)
        bottom = max(bottom, last % height + 1 if is_one_column else height)
    return checked_box((left, top, right - left, bottom - top))


def _size(size: Any) -> tuple[int, int]:
    if not isinstance(size, list) or len(size) != 2:
        raise ObjectRefusedError(_BAD)
    if not all(type(side) is int and 0 < side < _MAX_SIDE_PX for side in size):
        raise ObjectRefusedError(_BAD)
    return size[0], size[1]
