"""Draws the splits of very many files: what `requests.draw` draws, in arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.errors import SplitEmptyError, SplitTooLargeError, SplitUnlabelledError
from atom_sdk.manifests.splits.large_groups import assign_group_rows
from atom_sdk.manifests.splits.requests import REST, SplitRequest, counts_of
from atom_sdk.manifests.splits.rows import NONE, Codes, SplitRows
from atom_sdk.manifests.splits.splits import quotas_of

Splits = NDArray[np.int16]
_Mask = NDArray[np.bool_]
_PIECE_ROWS = 1 << 18


@dataclass(frozen=True)
class DrawnRows:
    """Number of each file's split or -1, shape (files,), and the names of the splits by number."""

    codes: Splits
    names: list[str]


def draw_rows(
    request: SplitRequest, rows: SplitRows, previous: SplitRequest | None = None
) -> DrawnRows:
    """Return the split of each file, as `draw` does for files in memory. Raises what it raises."""
    # Every copy counts for ten million files, so a value that all of them share is held once.
    inside = np.broadcast_to(True, len(rows)) if rows.chosen is None else rows.chosen
    if rows.chosen is not None and not inside.any():
        raise SplitEmptyError
    labels, label_names = _drawn_by(request, rows, inside)
    kept = _kept(request, rows, inside)
    counts = _counts(request, previous, rows, labels, kept)
    if request.group_by:
        scope = inside | _in_groups_of(inside, rows.groups)
        kept = _kept(request, rows, scope)
        assigned = assign_group_rows(rows, (labels, label_names), scope, kept, counts, request.seed)
    else:
        scope = inside
        assigned = _assigned(rows, (labels, label_names), kept, counts)
    assigned[scope & (assigned < 0)] = rows.split_names.code(REST)
    codes = assigned if rows.chosen is None else np.where(scope, assigned, rows.existing)
    return DrawnRows(codes, rows.split_names.names)


def _kept(request: SplitRequest, rows: SplitRows, scope: _Mask) -> Splits:
    """The split that each file of `scope` has and keeps, -1 for others; not to be written to."""
    if request.redraw:
        return np.broadcast_to(np.int16(NONE), len(rows))
    return rows.existing if rows.chosen is None else np.where(scope, rows.existing, np.int16(NONE))


def _drawn_by(request: SplitRequest, rows: SplitRows, inside: _Mask) -> tuple[Codes, list[str]]:
    """The label that counts for drawing, -1 for a file that is not drawn, and the labels' names."""
    labels = rows.labels if rows.chosen is None else np.where(inside, rows.labels, np.int32(NONE))
    is_labelled = bool((labels >= 0).any())
    if request.stratify:
        if not is_labelled and any(request.sizes.values()):
            raise SplitUnlabelledError
        return labels, rows.label_names.names
    is_drawn = labels >= 0 if is_labelled else inside
    return np.where(is_drawn, np.int32(0), np.int32(NONE)), [""]


def _counts(
    request: SplitRequest,
    previous: SplitRequest | None,
    rows: SplitRows,
    labels: Codes,
    kept: Splits,
) -> Mapping[str, int]:
    held = _tally(kept, rows.split_names.names)
    is_drawn = labels >= 0
    drawn = int(is_drawn.sum())
    is_drawn &= kept < 0
    return counts_of(request, previous, drawn, held, int(is_drawn.sum()))


def _in_groups_of(inside: _Mask, groups: Codes) -> _Mask:
    """The files of the groups that some file inside has."""
    found = np.zeros(max(int(groups.max(initial=NONE)) + 1, 1), np.bool_)
    found[groups[inside & (groups >= 0)]] = True
    return (groups >= 0) & found[groups]


def _assigned(
    rows: SplitRows, labels: tuple[Codes, list[str]], kept: Splits, counts: Mapping[str, int]
) -> Splits:
    """The split of each file that is drawn or had one, as `assign_splits` draws."""
    codes, names = labels
    assigned = kept.copy()
    if not counts:
        return assigned
    by_label, starts = rows_by_label(codes, len(names))
    for split, count in counts.items():
        code = rows.split_names.code(split)
        held = _tally(codes, names, assigned, code)
        free = _tally(codes, names, assigned, NONE)
        wanted = count - int((assigned == code).sum())
        if wanted > free.total():
            raise SplitTooLargeError(split, wanted, free.total())
        shares = {label: number + held[label] for label, number in free.items()}
        quotas = quotas_of(shares, held, free, wanted)
        for number, label in enumerate(names):
            if quotas.get(label):
                some = by_label[starts[number] : starts[number + 1]]
                some = some[assigned[some] < 0]
                # Sorting is stable, so paths settle ties.
                first = np.argsort(rows.order[some], kind="stable")[: quotas[label]]
                assigned[some[first]] = code
    return assigned


def rows_by_label(
    codes: Codes, labels: int, piece_rows: int = _PIECE_ROWS
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Numbers of the rows of each label, ascending, one label after the other; where each begins.

    Shapes (files,) and (labels + 1,). The result is that of `argsort`, computed by pieces:
    `argsort` would take 12 bytes more a file.
    """
    sizes = np.zeros(labels + 1, np.int64)
    for piece in _pieces(codes, piece_rows):
        sizes += np.bincount(piece - NONE, minlength=labels + 1)
    ends = np.cumsum(sizes)
    free = ends - sizes
    rows = np.empty(len(codes), np.int32 if len(codes) < 2**31 else np.int64)
    for number, piece in enumerate(_pieces(codes, piece_rows)):
        order = np.argsort(piece, kind="stable")
        ordered = piece[order] - NONE
        here = np.bincount(ordered, minlength=labels + 1)
        within = np.arange(len(piece)) - (np.cumsum(here) - here)[ordered]
        rows[free[ordered] + within] = order + number * piece_rows
        free += here
    return rows, ends


def _tally(
    codes: Codes | Splits, names: list[str], splits: Splits | None = None, split: int = NONE
) -> Counter[str]:
    """How many files have each name, of those with a split if `splits` are given.

    By pieces: what is looked at meanwhile would take 8 bytes a file.
    """
    numbers = np.zeros(len(names) + 1, np.int64)
    for start in range(0, len(codes), _PIECE_ROWS):
        here = slice(start, start + _PIECE_ROWS)
        some = codes[here] if splits is None else codes[here][splits[here] == split]
        numbers += np.bincount(some - NONE, minlength=len(numbers))
    pairs = zip(names, numbers[1:].tolist(), strict=True)
    return Counter({name: number for name, number in pairs if number})


def _pieces(codes: Codes, rows: int) -> Iterator[Codes]:
    return (codes[start : start + rows] for start in range(0, len(codes), rows))
