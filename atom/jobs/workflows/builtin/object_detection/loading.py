"""Batches of decoded pictures with their objects, made while the network works."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ahead import made_ahead  # type: ignore[import-not-found]
from augmentation import (  # type: ignore[import-not-found]
    Objects,
    change_objects,
    change_pixels,
    cut_to,
    draw_change,
)
from data import Part  # type: ignore[import-not-found]
from images import Picture, UnreadableImageError, decode  # type: ignore[import-not-found]
from numpy.typing import NDArray
from targets import cells_of, targets_of  # type: ignore[import-not-found]

DECODE_THREADS = 2
CACHE_BYTES = 1024**3
NAMED_UNREADABLE = 20
PICTURES_MEASURED = 256


@dataclass(frozen=True)
class TrainingBatch:
    """`images` (batch, 3, size, size) uint8; targets of each cell: see `targets`."""

    images: NDArray[np.uint8]
    codes: NDArray[np.int64]
    boxes: NDArray[np.float32]


@dataclass(frozen=True)
class PictureBatch:
    """Readable pictures, and their places in the part."""

    pictures: list[Picture]
    places: list[int]


class PictureTable:
    """Decoded pictures of a part; kept in memory as far as they fit."""

    def __init__(self, part: Part, size: int) -> None:
        """Decode nothing yet."""
        self.part, self.size = part, size
        self._room = CACHE_BYTES // (3 * size * size)
        self._cells = cells_of(size)
        self._cache: dict[int, Picture] = {}
        self._pool = ThreadPoolExecutor(DECODE_THREADS, thread_name_prefix="decode")
        self.unreadable: dict[int, str] = {}

    def pictures(self, batch_size: int) -> Iterator[PictureBatch]:
        """Yield all readable pictures in order."""
        places = range(len(self.part))
        parts = (places[start : start + batch_size] for start in places[::batch_size])
        yield from made_ahead(self._batch(list(part)) for part in parts)

    def training(
        self, order: NDArray[np.int64], batch_size: int, seed: list[int], may_mirror: bool
    ) -> Iterator[TrainingBatch]:
        """Yield changed pictures in this order; the same seed gives the same changes."""
        starts = range(0, len(order), batch_size)
        batches = (order[start : start + batch_size].tolist() for start in starts)
        yield from made_ahead(self._training_batch(one, seed, may_mirror) for one in batches)

    def measure_pixels(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return mean and deviation of each channel over some pictures, of values 0 to 255."""
        step = max(1, len(self.part) // PICTURES_MEASURED)
        batch = self._batch(list(range(0, len(self.part), step)))
        if not batch.pictures:
            return (127.0,) * 3, (64.0,) * 3
        values = np.stack([picture.pixels for picture in batch.pictures]).astype(np.float32)
        mean, std = values.mean((0, 2, 3)), values.std((0, 2, 3))
        return tuple(map(float, mean)), tuple(float(max(one, 1.0)) for one in std)

    def _batch(self, places: list[int]) -> PictureBatch:
        decoded = list(self._pool.map(self._picture, places))
        pairs = [(one, place) for one, place in zip(decoded, places, strict=True) if one]
        return PictureBatch([one for one, _ in pairs], [place for _, place in pairs])

    def _training_batch(self, places: list[int], seed: list[int], mirror: bool) -> TrainingBatch:
        made = self._pool.map(lambda place: self._changed(place, seed, mirror), places)
        changed = [one for one in made if one is not None]
        cells = len(self._cells)
        if not changed:
            none = np.empty((0, 3, self.size, self.size), np.uint8)
            return TrainingBatch(none, np.empty((0, cells), np.int64), np.empty((0, cells, 4)))
        return TrainingBatch(*(np.stack(column) for column in zip(*changed, strict=True)))

    def _changed(
        self, place: int, seed: list[int], may_mirror: bool
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float32]] | None:
        picture = self._picture(place)
        if picture is None:
            return None
        change = draw_change(np.random.default_rng([*seed, place]), self.size, may_mirror)
        inside = self.cut(place, picture)
        scaled = replace(inside, boxes=inside.boxes * np.array(picture.scale * 2))
        seen = change_objects(scaled, change, self.size)
        targets = targets_of(self._cells, seen.boxes, seen.codes, seen.ignored)
        pixels = change_pixels(picture.pixels, change)
        return pixels, targets.codes, targets.boxes.astype(np.float32)

    def cut(self, place: int, picture: Picture) -> Objects:
        """Return the objects of a picture in its own pixels; what is beyond it is cut off."""
        return cut_to(self.part.objects[place], picture.width, picture.height)

    def _picture(self, place: int) -> Picture | None:
        if place in self._cache or place in self.unreadable:
            return self._cache.get(place)
        sample: Any = self.part.samples[int(self.part.numbers[place])]
        try:
            picture: Picture = decode(sample.data, self.size)
        except UnreadableImageError as error:
            self._note_unreadable(place, sample.path, str(error))
            return None
        if len(self._cache) < self._room:
            self._cache[place] = picture
        return picture

    def _note_unreadable(self, place: int, path: str, why: str) -> None:
        self.unreadable[place] = path
        if len(self.unreadable) <= NAMED_UNREADABLE:
            print(f"Skipped a picture that cannot be read: {path} ({why})", flush=True)
