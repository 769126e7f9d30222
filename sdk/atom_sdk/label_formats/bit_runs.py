"""Label Studio's own bit format of brushes, and CVAT's run lengths.

Label Studio packs the RGBA bytes of the whole picture, row by row, with rle-pack of thi.ng: 32 bits
of length, 5 bits of word size, four sizes of run lengths of 4 bits each; then for each piece a bit
"same value", 2 bits that choose a size, the length minus one, and one word or as many as the length
says. A brush has its alpha in each fourth byte. Source: `brush.py` of label-studio-converter.

CVAT counts pixels row by row inside of the box around the mask; zeros come first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MAX_PIXELS = 1 << 28
_WORD, _SIZES = 8, (3, 4, 8, 16)
_LONGEST = 1 << _SIZES[-1]
Mask = NDArray[np.bool_]


class RunsRefusedError(ValueError):
    """Runs that are no mask of the picture's size; the text says why in a few words."""


def read_brush(data: Sequence[int], width: int, height: int) -> Mask:
    """Return the mask of a brush. Raises RunsRefusedError."""
    if not 0 < width * height <= MAX_PIXELS:
        raise RunsRefusedError("its picture has too many pixels")
    bits = _Bits(data)
    length = bits.take(32)
    word = bits.take(5) + 1
    sizes = [bits.take(4) + 1 for _ in range(4)]
    if length != width * height * 4 or word > 16:
        raise RunsRefusedError("its runs are not of a picture of this size")
    values = np.zeros(length, np.uint8)
    place = 0
    while place < length:
        is_same = bits.take(1)
        end = place + 1 + bits.take(sizes[bits.take(2)])
        if end > length:
            raise RunsRefusedError("its runs are longer than the picture")
        if is_same:
            values[place:end] = bits.take(word) & 0xFF
        else:
            values[place:end] = [bits.take(word) & 0xFF for _ in range(end - place)]
        place = end
    return values.reshape(height, width, 4)[:, :, 3] > 127


class _Bits:
    """Bits of a list of bytes, the highest bit of each byte first."""

    def __init__(self, data: Sequence[int]) -> None:
        try:
            self._data = bytes(data)
        except (TypeError, ValueError) as error:
            raise RunsRefusedError("its runs are no list of bytes") from error
        self._at = 0
        self._end = len(self._data) * 8

    def take(self, count: int) -> int:
        """Return the next bits as a number. Raises RunsRefusedError at the end."""
        end = self._at + count
        if end > self._end:
            raise RunsRefusedError("its runs are shorter than the picture")
        first, last = self._at >> 3, (end + 7) >> 3
        number = int.from_bytes(self._data[first:last], "big") >> ((last << 3) - end)
        self._at = end
        return number & ((1 << count) - 1)


def write_brush(mask: Mask) -> list[int]:
    """Return the bytes of a brush: white, opaque where the mask is, and nothing elsewhere."""
    values = np.repeat(mask.reshape(-1), 4)
    writer = _Writer()
    writer.put(len(values), 32)
    writer.put(_WORD - 1, 5)
    for size in _SIZES:
        writer.put(size - 1, 4)
    for length, value in zip(*_runs(values), strict=True):
        for start in range(0, length, _LONGEST):
            piece = min(length - start, _LONGEST)
            choice = next(at for at, size in enumerate(_SIZES) if piece <= 1 << size)
            writer.put(1, 1)
            writer.put(choice, 2)
            writer.put(piece - 1, _SIZES[choice])
            writer.put(255 if value else 0, _WORD)
    return writer.bytes()


class _Writer:
    def __init__(self) -> None:
        self._bits: list[str] = []

    def put(self, number: int, count: int) -> None:
        """Add the lowest bits of a number."""
        self._bits.append(f"{number:0{count}b}")

    def bytes(self) -> list[int]:
        """Return all of them, filled up with zeros to a whole byte."""
        text = "".join(self._bits)
        text += "0" * (-len(text) % 8)
        return list(int(text, 2).to_bytes(len(text) // 8, "big"))


def _runs(values: NDArray[np.bool_]) -> tuple[list[int], list[bool]]:
    """Lengths and values of equal neighbours."""
    if not len(values):
        return [], []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(values)]]))
    return lengths.tolist(), values[starts].tolist()


def read_rows(counts: Sequence[int], width: int, height: int) -> Mask:
    """Return a mask of CVAT's counts, row by row, zeros first. Raises RunsRefusedError."""
    if not 0 < width * height <= MAX_PIXELS or any(count < 0 for count in counts):
        raise RunsRefusedError("its run lengths cannot be read")
    if sum(counts) > width * height:
        raise RunsRefusedError("its run lengths do not fill its box")
    # Tools leave out the zeros at the end.
    values = np.arange(len(counts)) % 2 == 1
    flat = np.zeros(width * height, bool)
    flat[: sum(counts)] = np.repeat(values, counts)
    return flat.reshape(height, width)


def write_rows(mask: Mask) -> list[int]:
    """Return CVAT's counts of a mask, zeros first."""
    lengths, values = _runs(mask.reshape(-1))
    return lengths if not values or not values[0] else [0, *lengths]
