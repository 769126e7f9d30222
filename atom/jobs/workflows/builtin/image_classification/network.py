"""A small convolutional network for images of any size."""

from __future__ import annotations

import torch
from torch import nn

WIDTHS = {"small": 16, "medium": 32, "large": 64}
DROPOUT = 0.2
# Quick enough for the running statistics of a dataset with a dozen batches.
MOMENTUM = 0.25


class SmallConvNet(nn.Module):  # type: ignore[misc]
    """Three stages of two convolutions, each of half the size and twice the width, then one layer.

    Input (batch, channels, size, size), normalised; output (batch, classes), unnormalised scores.
    """

    def __init__(self, channels: int, classes: int, hidden: str) -> None:
        """`hidden` is a key of WIDTHS."""
        super().__init__()
        width = WIDTHS[hidden]
        self.stages = nn.Sequential(
            _stage(channels, width), _stage(width, 2 * width), _stage(2 * width, 4 * width)
        )
        # A 2×2 grid keeps a little of where things are, whatever the image size.
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.head = nn.Sequential(nn.Dropout(DROPOUT), nn.Linear(4 * width * 4, classes))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the scores."""
        features: torch.Tensor = self.pool(self.stages(images))
        scores: torch.Tensor = self.head(features.flatten(1))
        return scores


def _stage(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs, momentum=MOMENTUM),
        nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs, momentum=MOMENTUM),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2, ceil_mode=True),
    )
