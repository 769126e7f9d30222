"""Groups of rows: the same bytes, nearly the same picture, the same picture in two splits.

Each group has one row that stays (its lowest rank); `Grouped` lists the rows of all groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.cleaning.engines.similarity import Likeness

_NONE = np.int64(-1)


@dataclass(frozen=True)
class Grouped:
    """Rows of groups, shape (members,) each: the row, the row that stays, their distance in bits.

    The row that stays is a member of its own group, at distance 0.
    """

    row: NDArray[np.int64]
    stays: NDArray[np.int64]
    distance: NDArray[np.int64]


def exact_duplicates(alike: Likeness) -> Grouped:
    """Group rows of one digest."""
    stays = _best_of(alike.digest, alike.rank)[alike.digest]
    row = np.flatnonzero(np.bincount(alike.digest)[alike.digest] > 1)
    return Grouped(row, stays[row], np.zeros(len(row), np.int64))


def near_duplicates(alike: Likeness) -> Grouped:
    """Group rows of different digests around the best of them; one row per digest.

    Every row of a group is within the distance of the row that stays, never only of others.
    """
    units = _best_of(alike.digest, alike.rank)
    units = units[alike.has_hash[alike.cell[units]]]
    best = np.full(len(alike.hashes), _NONE)
    ordered = units[np.argsort(-alike.rank[units])]
    best[alike.cell[ordered]] = ordered
    leader = _leaders(alike, best)
    stays = best[leader[alike.cell[units]]]
    sizes = np.bincount(stays, minlength=len(alike.rank))
    grouped = sizes[stays] > 1
    units, stays = units[grouped], stays[grouped]
    return Grouped(units, stays, alike.distance(alike.cell[units], alike.cell[stays]))


def leaks(alike: Likeness) -> Grouped:
    """Group rows around a row of another split that is the same, or nearly the same, picture.

    The row that stays is of the split that models are measured on, if one of the two is.
    """
    nearest = _best_per_split(alike)
    own = np.arange(nearest.shape[1])[None, :] == alike.split[:, None]
    others = np.where(own, len(alike.rank), nearest[alike.cell])
    partner_rank = others.min(axis=1, initial=len(alike.rank))
    leaking = np.flatnonzero(partner_rank < alike.rank)
    by_rank = np.argsort(alike.rank)
    partner = by_rank[partner_rank[leaking]]
    distance = alike.distance(alike.cell[leaking], alike.cell[partner])
    stays = np.unique(partner)
    return Grouped(
        np.concatenate([stays, leaking]),
        np.concatenate([stays, partner]),
        np.concatenate([np.zeros(len(stays), np.int64), distance]),
    )


def _best_of(group: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of the lowest rank of each group, shape (groups,)."""
    order = np.lexsort((rank, group))
    _, first = np.unique(group[order], return_index=True)
    return order[first]


def _leaders(alike: Likeness, best: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cell that each cell gathers around: the best first, with all close to it."""
    starts, close = alike.neighbours()
    leader = np.arange(len(best))
    taken = np.zeros(len(best), np.bool_)
    crowded = np.unique(close)
    for cell in crowded[np.argsort(alike.rank[best[crowded]])].tolist():
        if taken[cell]:
            continue
        around = close[starts[cell] : starts[cell + 1]]
        free = around[~taken[around]]
        leader[free] = cell
        taken[free] = taken[cell] = True
    return leader


def _best_per_split(alike: Likeness) -> NDArray[np.int64]:
    """Return the lowest rank in or close to each cell, shape (cells, splits); rows if none."""
    rows = len(alike.rank)
    best = np.full((len(alike.hashes), len(alike.split_names)), rows, np.int64)
    np.minimum.at(best, (alike.cell, alike.split), alike.rank)
    around = best.copy()
    np.minimum.at(around, alike.first, best[alike.second])
    np.minimum.at(around, alike.second, best[alike.first])
    return around
