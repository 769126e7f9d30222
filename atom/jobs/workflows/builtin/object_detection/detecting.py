"""The boxes that a detector gives for pictures, in pixels of the upright picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from average_precision import PictureResult  # type: ignore[import-not-found]
from boxes import Floats, keep_best  # type: ignore[import-not-found]
from images import Picture  # type: ignore[import-not-found]
from loading import PictureTable  # type: ignore[import-not-found]
from numpy.typing import NDArray

BATCH_SIZE = 32
LEAST_SCORE = 0.02
# These many of the best are looked at, and at most these many kept.
MOST_LOOKED_AT, MOST_KEPT = 500, 100
OVERLAP = 0.6


@dataclass(frozen=True)
class Detected:
    """Boxes (n, 4) with class and score (n,), the best first."""

    boxes: Floats
    codes: NDArray[np.int64]
    scores: Floats


def choose_boxes(scores: Floats, boxes: Floats, picture: Picture) -> Detected:
    """Return the detections of a picture: scores (cells, classes), boxes (cells, 4)."""
    cells, codes = np.nonzero(scores >= LEAST_SCORE)
    values = scores[cells, codes]
    best = np.argsort(-values, kind="stable")[:MOST_LOOKED_AT]
    cells, codes, values = cells[best], codes[best], values[best]
    limits = np.array([picture.width, picture.height] * 2, np.float64)
    placed = np.clip(boxes[cells] / np.array(picture.scale * 2), 0, limits)
    kept = keep_best(placed, values, codes, OVERLAP, MOST_KEPT)
    return Detected(placed[kept], codes[kept].astype(np.int64), values[kept])


@torch.inference_mode()  # type: ignore[untyped-decorator]
def detect(network: Any, table: PictureTable) -> Iterator[tuple[int, PictureResult]]:
    """Yield (place in the part, objects and detections) of each readable picture, in order."""
    device = next(network.parameters()).device
    network.eval()
    for batch in table.pictures(BATCH_SIZE):
        if not batch.pictures:
            continue
        pixels = np.stack([picture.pixels for picture in batch.pictures])
        logits, boxes = network(torch.from_numpy(pixels).to(device, torch.float32))
        scores = torch.sigmoid(logits).cpu().numpy().astype(np.float64)
        placed = boxes.cpu().numpy().astype(np.float64)
        for row, (picture, place) in enumerate(zip(batch.pictures, batch.places, strict=True)):
            detected = choose_boxes(scores[row], placed[row], picture)
            yield place, _with_objects(table, place, picture, detected)


def _with_objects(
    table: PictureTable, place: int, picture: Picture, detected: Detected
) -> PictureResult:
    true = table.cut(place, picture)
    return PictureResult(
        true.boxes, true.codes, true.ignored, detected.boxes, detected.codes, detected.scores,
        size=(picture.width, picture.height),
    )  # fmt: skip
