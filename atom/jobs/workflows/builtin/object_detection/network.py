"""A small detector of one stage without anchors, for squares of pixels.

Each cell of three grids gives a score for each class and the distances to the four edges of its
box. Input (batch, 3, size, size) float32, pixels from 0 to 255; sizes are multiples of 32.
"""

from __future__ import annotations

import math

import torch
from targets import STRIDES, cells_of  # type: ignore[import-not-found]
from torch import nn

WIDTHS = {"small": 16, "medium": 24, "large": 32}
# The share of cells that show an object, about: scores begin there.
FIRST_SCORE = 0.02
# Distances begin at this many strides.
FIRST_DISTANCE = 2.0


class SmallDetector(nn.Module):  # type: ignore[misc]
    """Stages of half the size each; the last three see each other, then share one head.

    Returns logits (batch, cells, classes) and boxes (batch, cells, 4) in pixels of the square.
    """

    def __init__(
        self, classes: int, hidden: str, size: int, mean: tuple[float, ...], std: tuple[float, ...]
    ) -> None:
        """`hidden` is a key of WIDTHS; mean and std of each channel are of values from 0 to 255."""
        super().__init__()
        width = WIDTHS[hidden]
        depths = [4 * width, 6 * width, 8 * width]
        self.stem = nn.Sequential(
            _layer(3, width, stride=2), _layer(width, 2 * width, stride=2), _Residual(2 * width)
        )
        self.stages = nn.ModuleList(
            nn.Sequential(_layer(before, after, stride=2), _Residual(after))
            for before, after in zip([2 * width, *depths], depths, strict=False)
        )
        neck = 3 * width
        self.sides = nn.ModuleList(nn.Conv2d(depth, neck, 1) for depth in depths)
        self.mixes = nn.ModuleList(_layer(neck, neck) for _ in depths)
        self.class_head = nn.Sequential(_layer(neck, neck), nn.Conv2d(neck, classes, 3, padding=1))
        self.box_head = nn.Sequential(_layer(neck, neck), nn.Conv2d(neck, 4, 3, padding=1))
        self.classes = classes
        cells = cells_of(size)
        self.register_buffer("centres", torch.tensor(cells.centres, dtype=torch.float32))
        self.register_buffer("strides", torch.tensor(cells.strides, dtype=torch.float32))
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32).view(1, 3, 1, 1))
        _start(self.class_head[-1], -math.log(1 / FIRST_SCORE - 1))
        _start(self.box_head[-1], math.log(FIRST_DISTANCE))

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and boxes."""
        levels = self._levels(self.stem((images - self.mean) / self.std))
        logits = [_by_cell(self.class_head(level)) for level in levels]
        raw = [_by_cell(self.box_head(level)) for level in levels]
        # The bound keeps an early step from numbers that are infinite.
        distances = torch.exp(torch.cat(raw, 1).clamp(max=5.0)) * self.strides[:, None]
        low, high = self.centres - distances[..., :2], self.centres + distances[..., 2:]
        return torch.cat(logits, 1), torch.cat([low, high], 2)

    def _levels(self, features: torch.Tensor) -> list[torch.Tensor]:
        outputs = []
        for stage in self.stages:
            features = stage(features)
            outputs.append(features)
        above: torch.Tensor | None = None
        levels: list[torch.Tensor] = []
        for place in reversed(range(len(STRIDES))):
            level = self.sides[place](outputs[place])
            if above is not None:
                level = level + nn.functional.interpolate(above, scale_factor=2.0, mode="nearest")
            above = self.mixes[place](level)
            levels.insert(0, above)
        return levels


class _Residual(nn.Module):  # type: ignore[misc]
    """A layer whose output is added to its input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = _layer(width, width)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = features + self.layer(features)
        return added


def _layer(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


def _by_cell(output: torch.Tensor) -> torch.Tensor:
    return output.flatten(2).transpose(1, 2)


def _start(layer: nn.Conv2d, bias: float) -> None:
    nn.init.normal_(layer.weight, std=0.01)
    nn.init.constant_(layer.bias, bias)
