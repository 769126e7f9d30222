"""Batches of decoded images, made in the background while the network works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from ahead import made_ahead  # type: ignore[import-not-found]
from images import (  # type: ignore[import-not-found]
    ImageFormat,
    UnreadableImageError,
    decode,
    is_gray,
)
from numpy.typing import NDArray

DECODE_THREADS = 2
CACHE_BYTES = 1024**3
NAMED_UNREADABLE = 20
SAMPLED_FOR_COLOUR = 64


@dataclass(frozen=True)
class Batch:
    """`images` (batch, channels, size, size) uint8, `targets` and `numbers` (batch,) int64."""

    images: NDArray[np.uint8]
    targets: NDArray[np.int64]
    # The number of each sample, as the table counts them.
    numbers: NDArray[np.int64]


class ImageTable:
    """Decoded images of a split by number; kept in memory as far as they fit."""

    def __init__(self, samples: Any, form: ImageFormat) -> None:
        """`samples` is a view of `atom_sdk.run.dataset`."""
        self._samples = samples
        self.form = form
        image_bytes = form.channels * form.image_size**2
        self._room = CACHE_BYTES // image_bytes
        self._cache: dict[int, NDArray[np.uint8]] = {}
        self._pool = ThreadPoolExecutor(DECODE_THREADS, thread_name_prefix="decode")
        self.unreadable: dict[int, str] = {}

    def batch(self, numbers: NDArray[np.int64], targets: NDArray[np.int64]) -> Batch:
        """Return the readable images among `numbers` with their targets, both of shape (batch,)."""
        images = list(self._pool.map(self._image, numbers.tolist()))
        kept = [place for place, image in enumerate(images) if image is not None]
        shape = (0, self.form.channels, self.form.image_size, self.form.image_size)
        stacked = np.stack([images[place] for place in kept]) if kept else np.empty(shape, np.uint8)
        return Batch(stacked, targets[kept], numbers[kept])

    def path(self, number: int) -> str:
        """Return the path of a sample; nothing of it is read."""
        path: str = self._samples.dataset.index.path_of(int(self._samples.rows[number]))
        return path

    def batches(
        self, numbers: NDArray[np.int64], targets: NDArray[np.int64], size: int
    ) -> Iterator[Batch]:
        """Yield batches in the order given, a few of them made ahead."""
        batches: Iterator[Batch] = made_ahead(self._batches(numbers, targets, size))
        yield from (batch for batch in batches if len(batch.targets))

    def _batches(
        self, numbers: NDArray[np.int64], targets: NDArray[np.int64], size: int
    ) -> Iterator[Batch]:
        for start in range(0, len(numbers), size):
            part = slice(start, start + size)
            yield self.batch(numbers[part], targets[part])

    def _image(self, number: int) -> NDArray[np.uint8] | None:
        found = self._cache.get(number)
        if found is not None or number in self.unreadable:
            return found
        sample = self._samples[number]
        try:
            image: NDArray[np.uint8] = decode(sample.data, self.form)
        except UnreadableImageError as error:
            self._note_unreadable(number, sample.path, str(error))
            return None
        if len(self._cache) < self._room:
            self._cache[number] = image
        return image

    def _note_unreadable(self, number: int, path: str, why: str) -> None:
        self.unreadable[number] = path
        if len(self.unreadable) <= NAMED_UNREADABLE:
            print(f"Skipped an image that cannot be read: {path} ({why})", flush=True)


def guess_channels(samples: Any, numbers: Sequence[int]) -> int:
    """Return 1 if a sample of the images is without colour, else 3."""
    step = max(1, len(numbers) // SAMPLED_FOR_COLOUR)
    gray = (is_gray(samples[int(number)].data) for number in numbers[::step])
    return 1 if all(gray) else 3


def measure_pixels(
    table: ImageTable, numbers: NDArray[np.int64]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and standard deviation per channel, of values from 0 to 1, over some images."""
    step = max(1, len(numbers) // 1000)
    images = table.batch(numbers[::step], numbers[::step]).images / 255.0
    if not len(images):
        return (0.5,) * table.form.channels, (0.5,) * table.form.channels
    mean, std = images.mean((0, 2, 3)), images.std((0, 2, 3))
    return tuple(map(float, mean)), tuple(float(max(one, 1e-3)) for one in std)
