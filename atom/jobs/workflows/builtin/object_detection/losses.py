"""The error of the network's output: of its scores and of its boxes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from targets import IGNORED  # type: ignore[import-not-found]

BOX_WEIGHT = 2.0


@dataclass(frozen=True)
class Loss:
    """`total` is trained; the others are shown."""

    total: torch.Tensor
    scores: float
    boxes: float


def loss_of(
    logits: torch.Tensor, boxes: torch.Tensor, codes: torch.Tensor, true_boxes: torch.Tensor
) -> Loss:
    """Return the loss of a batch: logits (batch, cells, classes), codes (batch, cells).

    A score shall say how well its box fits: 0 without an object, else the overlap with it. Cells
    of regions to ignore do not count.
    """
    is_object = codes >= 0
    mine, true = boxes[is_object], true_boxes[is_object]
    overlap, general = _overlaps(mine, true)
    objects = max(1, int(is_object.sum()))
    quality = torch.zeros_like(logits)
    fits = overlap.detach().clamp(0, 1).to(quality.dtype)
    batches, cells = torch.nonzero(is_object, as_tuple=True)
    quality[batches, cells, codes[is_object]] = fits
    error = torch.nn.functional.binary_cross_entropy_with_logits(logits, quality, reduction="none")
    # Cells that are nearly right weigh little: almost all show nothing.
    weighed = error * (torch.sigmoid(logits) - quality).abs().pow(2)
    scores = weighed[codes != IGNORED].sum() / objects
    placed = (1 - general).sum() / objects
    return Loss(scores + BOX_WEIGHT * placed, float(scores.detach()), float(placed.detach()))


def _overlaps(first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the overlap of each pair and the generalised one, which falls with their distance."""
    sides = torch.minimum(first[:, 2:], second[:, 2:]) - torch.maximum(first[:, :2], second[:, :2])
    common = sides.clamp(min=0).prod(1)
    union = _areas(first) + _areas(second) - common
    around = torch.maximum(first[:, 2:], second[:, 2:]) - torch.minimum(first[:, :2], second[:, :2])
    hull = around.prod(1)
    overlap = common / union.clamp(min=1e-6)
    return overlap, overlap - (hull - union) / hull.clamp(min=1e-6)


def _areas(boxes: torch.Tensor) -> torch.Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
