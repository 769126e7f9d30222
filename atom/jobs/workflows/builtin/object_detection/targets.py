"""The cells of the network's output that each object trains.

The output is a grid of cells for each stride. An object belongs to one grid by its size, and there
to the cells around its centre that lie inside of it; a cell with several takes the smallest. Each
object has at least one cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from boxes import Floats, areas_of  # type: ignore[import-not-found]
from numpy.typing import NDArray

STRIDES = (8, 16, 32)
# The largest side of an object for each grid, in strides.
SIDE_IN_STRIDES = 6.0
# A cell trains an object if its centre is this near to the object's, in strides.
REACH = 1.5
NOTHING, IGNORED = -1, -2


@dataclass(frozen=True)
class Cells:
    """Centres (cells, 2) in pixels of the square, strides and grids (cells,)."""

    centres: Floats
    strides: Floats
    grids: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.strides)


def cells_of(size: int) -> Cells:
    """Return the cells for squares of `size` pixels, grid by grid, row by row."""
    centres, strides, grids = [], [], []
    for grid, stride in enumerate(STRIDES):
        side = size // stride
        along = (np.arange(side) + 0.5) * stride
        across, down = np.meshgrid(along, along)
        centres.append(np.stack([across.ravel(), down.ravel()], 1))
        strides.append(np.full(side * side, float(stride)))
        grids.append(np.full(side * side, grid))
    return Cells(np.concatenate(centres), np.concatenate(strides), np.concatenate(grids))


@dataclass(frozen=True)
class Targets:
    """For each cell its object's class, or NOTHING, or IGNORED; and its object's box."""

    codes: NDArray[np.int64]
    boxes: Floats


def targets_of(
    cells: Cells, boxes: Floats, codes: NDArray[np.int64], ignored: NDArray[np.bool_]
) -> Targets:
    """Return what the cells shall say of a picture with these boxes, in pixels of the square."""
    result = Targets(np.full(len(cells), NOTHING, np.int64), np.zeros((len(cells), 4)))
    for region in boxes[ignored]:
        result.codes[_inside(cells, region)] = IGNORED
    counts = np.flatnonzero(~ignored)
    # The smallest last: it takes what it shares with larger ones.
    order = counts[np.argsort(-areas_of(boxes[counts]), kind="stable")]
    for number in order:
        _claim(result, _near(cells, boxes[number]), boxes[number], int(codes[number]))
    for number in order:
        is_own = (result.boxes == boxes[number]).all(1) & (result.codes == codes[number])
        if not is_own.any():
            nearest = _nearest(cells, boxes[number])
            _claim(result, nearest, boxes[number], int(codes[number]))
    return result


def _claim(result: Targets, places: NDArray[np.int64], box: Floats, code: int) -> None:
    result.codes[places] = code
    result.boxes[places] = box


def _inside(cells: Cells, box: Floats) -> NDArray[np.bool_]:
    is_inside: NDArray[np.bool_] = ((cells.centres >= box[:2]) & (cells.centres < box[2:])).all(1)
    return is_inside


def _near(cells: Cells, box: Floats) -> NDArray[np.int64]:
    away = np.abs(cells.centres - (box[:2] + box[2:]) / 2).max(1)
    chosen = (cells.grids == _grid_of(box)) & (away < REACH * cells.strides) & _inside(cells, box)
    return np.flatnonzero(chosen).astype(np.int64)


def _nearest(cells: Cells, box: Floats) -> NDArray[np.int64]:
    away = np.abs(cells.centres - (box[:2] + box[2:]) / 2).max(1)
    return np.array([np.argmin(np.where(cells.grids == _grid_of(box), away, np.inf))], np.int64)


def _grid_of(box: Floats) -> int:
    side = float((box[2:] - box[:2]).max())
    fits = [grid for grid, stride in enumerate(STRIDES) if side <= SIDE_IN_STRIDES * stride]
    return fits[0] if fits else len(STRIDES) - 1
