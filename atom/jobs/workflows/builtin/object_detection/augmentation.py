"""Training pictures, each time a little different: mirrored, moved, scaled, lighter or darker.

Boxes follow their pictures. An object of which less than a quarter stays in view is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from boxes import Floats, areas_of  # type: ignore[import-not-found]
from images import FILLING  # type: ignore[import-not-found]
from numpy.typing import NDArray
from PIL import Image

SCALES = (0.7, 1.3)
CONTRASTS = (0.75, 1.25)
BRIGHTNESSES = (-24.0, 24.0)
LEAST_VISIBLE = 0.25


@dataclass(frozen=True)
class Objects:
    """Boxes (objects, 4), classes and flags (objects,) of a picture; -1 is a class left out."""

    boxes: Floats
    codes: NDArray[np.int64]
    ignored: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self.codes)


@dataclass(frozen=True)
class Change:
    """x and y of the new square are `scale` times those of the old one plus `shift`.

    `is_mirrored` exchanges left and right before that.
    """

    is_mirrored: bool
    scale: float
    shift: tuple[float, float]
    contrast: float
    brightness: float


def draw_change(random: np.random.Generator, size: int, may_mirror: bool) -> Change:
    """Return a change; its picture stays within the square or covers it."""
    scale = float(np.exp(random.uniform(*np.log(SCALES))))
    room = size * (1 - scale)
    low, high = min(0.0, room), max(0.0, room)
    return Change(
        is_mirrored=may_mirror and bool(random.integers(2)),
        scale=scale,
        shift=(float(random.uniform(low, high)), float(random.uniform(low, high))),
        contrast=float(random.uniform(*CONTRASTS)),
        brightness=float(random.uniform(*BRIGHTNESSES)),
    )


def change_pixels(pixels: NDArray[np.uint8], change: Change) -> NDArray[np.uint8]:
    """Return the changed square, of shape (3, size, size) as before."""
    source = pixels[:, :, ::-1] if change.is_mirrored else pixels
    image = Image.fromarray(np.ascontiguousarray(source.transpose(1, 2, 0)))
    back = 1 / change.scale
    matrix = (back, 0.0, -change.shift[0] * back, 0.0, back, -change.shift[1] * back)
    filling = (FILLING,) * 3
    moved = image.transform(
        image.size,
        Image.Transform.AFFINE,
        matrix,
        Image.Resampling.BILINEAR,
        fillcolor=filling,
    )
    values = np.asarray(moved, np.float32)
    values = (values - FILLING) * change.contrast + FILLING + change.brightness
    return np.clip(np.rint(values), 0, 255).astype(np.uint8).transpose(2, 0, 1)


def change_objects(objects: Objects, change: Change, size: int) -> Objects:
    """Return the objects at their new places; those that left the square are left out."""
    boxes = objects.boxes.copy()
    if change.is_mirrored:
        boxes[:, [0, 2]] = size - objects.boxes[:, [2, 0]]
    shift = np.array(change.shift * 2)
    return cut_to(replace(objects, boxes=boxes * change.scale + shift), size, size)


def cut_to(objects: Objects, width: float, height: float) -> Objects:
    """Return the parts of objects that lie in a picture; slivers are ignored."""
    limits = np.array([width, height, width, height], np.float64)
    boxes = np.clip(objects.boxes, 0, limits)
    seen, before = areas_of(boxes), areas_of(objects.boxes)
    is_there = seen > 0
    ignored = objects.ignored | (seen < LEAST_VISIBLE * before)
    return Objects(boxes[is_there], objects.codes[is_there], ignored[is_there])
