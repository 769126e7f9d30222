"""Splits that are drawn in arrays are those that are drawn in memory, and so are the refusals."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.errors import ManifestError
from atom_sdk.manifests.splits.large import draw_rows, rows_by_label
from atom_sdk.manifests.splits.requests import SplitInput, SplitRequest, draw
from atom_sdk.manifests.splits.rows import SplitRows
from tests.tiers import examples

_PATHS = st.sampled_from([f"{folder}/é{n}" for folder in ("a", "b/c", "d") for n in range(15)])
_SIZES = st.none() | st.integers(0, 12) | st.sampled_from(["10%", "33.3%", "50%"])
_FILES = st.dictionaries(
    _PATHS,
    st.tuples(
        st.sampled_from([None, "cat", "dog", "emu"]),
        st.sampled_from([None, None, None, "train", "val", "test", "spare"]),
        st.sampled_from([None, "x", "y", "file", "group"]),
        st.booleans(),
    ),
    max_size=45,
)
_REQUESTS = st.fixed_dictionaries(
    {
        "test": _SIZES,
        "val": _SIZES,
        "seed": st.integers(0, 3),
        "stratify": st.booleans(),
        "group_by": st.sampled_from(["", "folder"]),
        "redraw": st.booleans(),
    }
)


def _kind_and_text(error: ManifestError) -> tuple[str, str]:
    return type(error).__name__, str(error)


def _in_memory(
    request: SplitRequest, files: dict[str, Any], previous: SplitRequest | None, *, is_chosen: bool
) -> Any:
    labels = {path: row[0] for path, row in files.items()}
    existing = {path: row[1] for path, row in files.items() if row[1] is not None}
    groups = {path: row[2] for path, row in files.items() if row[2] and request.group_by}
    chosen = {path for path, row in files.items() if row[3]} if is_chosen else None
    try:
        return draw(request, SplitInput(labels, groups, existing, chosen), previous)
    except ManifestError as error:
        return _kind_and_text(error)


def _in_arrays(
    request: SplitRequest, files: dict[str, Any], previous: SplitRequest | None, *, is_chosen: bool
) -> Any:
    rows = SplitRows(request)
    paths = list(files)
    for start in range(0, len(paths), 7):
        some = paths[start : start + 7]
        labels, existing, groups, chosen = (
            list(c) for c in zip(*map(files.get, some), strict=True)
        )
        rows.add(
            some,
            labels,
            existing,
            groups if request.group_by else None,
            np.array(chosen, np.bool_) if is_chosen else None,
        )
    try:
        drawn = draw_rows(request, rows, previous)
    except ManifestError as error:
        return _kind_and_text(error)
    found = zip(paths, drawn.codes.tolist(), strict=True)
    return {path: drawn.names[code] for path, code in found if code >= 0}


@settings(max_examples=examples(300))
@given(_FILES, _REQUESTS, _REQUESTS | st.none(), st.booleans())
def test_a_draw_in_arrays_is_the_draw_in_memory(
    given_files: dict[str, Any],
    wish: dict[str, Any],
    before: dict[str, Any] | None,
    is_chosen: bool,
) -> None:
    files = {path: given_files[path] for path in sorted(given_files)}
    is_chosen = is_chosen and bool(files)
    try:
        request = SplitRequest.from_json(wish)
        previous = SplitRequest.from_json(before) if before else None
    except ManifestError:
        return
    ours = _in_arrays(request, files, previous, is_chosen=is_chosen)
    assert ours == _in_memory(request, files, previous, is_chosen=is_chosen)


@given(st.lists(st.integers(-1, 5), max_size=60), st.integers(1, 20))
def test_rows_are_sorted_by_label_in_pieces_as_at_once(labels: list[int], piece_rows: int) -> None:
    codes = np.array(labels, np.int32)
    rows, starts = rows_by_label(codes, 6, piece_rows)
    assert rows.tolist() == np.argsort(codes, kind="stable").tolist()
    for label in range(6):
        part = rows[starts[label] : starts[label + 1]]
        assert part.tolist() == np.flatnonzero(codes == label).tolist()


@pytest.mark.parametrize("wish", [{"test": "20%"}, {"test": "20%", "redraw": True}], ids=str)
def test_a_draw_holds_no_column_twice(wish: dict[str, Any]) -> None:
    folders, each = 150, 10_000
    request = SplitRequest.from_json(wish)
    splits = [None, None, *["train"] * 7, "test"] * (each // 10)
    rows = SplitRows(request)
    for folder in range(folders):
        paths = [f"{folder:03d}/{number}" for number in range(each)]
        rows.add(paths, [f"{folder:03d}"] * each, splits)
    # Columns of 14 bytes a file, which are there before.
    assert len(rows.order) == len(rows.labels) == len(rows.existing) == folders * each
    tracemalloc.start()
    try:
        drawn = draw_rows(request, rows, request)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.bincount(drawn.codes).tolist() == [folders * each * 4 // 5, folders * each // 5]
    # A drawn file takes two bytes, rows by label four, a mask one; the rest is one piece of them.
    assert peak < 14 * folders * each
