"""Where two branches parted."""

from __future__ import annotations

import pytest

from atom.datasets.catalog.engines.ancestry import ancestors, distances, fork_points, merge_base

# a ─ b ─ d ─ f     main
#  └─ c ─ e ─ g     fix: e merges b in, f merges c in
CROSSED = {
    "a": [],
    "b": ["a"],
    "c": ["a"],
    "d": ["b", "c"],
    "e": ["c", "b"],
    "f": ["d"],
    "g": ["e"],
    "z": [],
}


def test_a_commit_is_among_its_ancestors() -> None:
    assert ancestors(CROSSED, "d") == {"a", "b", "c", "d"}
    assert ancestors(CROSSED, "unknown") == set()


@pytest.mark.parametrize(
    ("one", "other", "base"),
    [
        ("b", "c", "a"),
        ("b", "d", "b"),
        ("d", "b", "b"),
        ("f", "c", "c"),
        # Crosswise: both b and c are best; the smaller digest is taken, from either side.
        ("f", "g", "b"),
        ("g", "f", "b"),
        ("f", "z", None),
    ],
)
def test_the_base_of_a_merge_is_the_best_common_ancestor(
    one: str, other: str, base: str | None
) -> None:
    assert merge_base(CROSSED, one, other) == base


def test_a_parent_that_the_catalogue_does_not_have_ends_the_line() -> None:
    assert merge_base({"b": ["a"], "c": ["a"]}, "b", "c") is None


def test_branches_left_the_trunk_where_any_merge_of_them_has_its_base() -> None:
    assert fork_points(CROSSED, "f", ["g"]) == {"b", "c"}
    assert fork_points(CROSSED, "f", ["f", "z", "unknown"]) == {"f"}
    assert fork_points(CROSSED, "", ["g"]) == set()


def test_distances_count_what_only_one_side_has() -> None:
    numbers = {"a": 1, "b": 2, "d": 3, "f": 4}
    # g has e and c (which main took with d) on its own; of main it has a and b.
    assert distances(CROSSED, numbers, "f", ["g", "c", "f", "z", "?"]) == {
        "g": (2, 2), "c": (0, 3), "f": (0, 0), "z": (1, 4), "?": (0, 4)
    }  # fmt: skip
