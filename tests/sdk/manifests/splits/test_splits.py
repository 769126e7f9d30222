"""Assigning splits."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.errors import SplitTooLargeError
from atom_sdk.manifests import SplitPlan, assign_splits, largest_remainder

DIGITS = {f"{number % 10}/{number:05d}.png": str(number % 10) for number in range(4000)}
UNLABELLED = {f"unlabelled/{number}.png": None for number in range(1000)}
label_sets = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4), st.sampled_from(["x", "y", "z", None]), max_size=60
)


def test_a_count_is_exact_and_stratified() -> None:
    labels: dict[str, str | None] = {**DIGITS, **UNLABELLED}
    splits = assign_splits(labels, SplitPlan({"test": 1000}, seed=7))
    assert Counter(splits.values()) == {"train": 4000, "test": 1000}
    drawn = Counter(labels[path] for path, split in splits.items() if split == "test")
    assert drawn == {str(digit): 100 for digit in range(10)}


def test_the_same_seed_gives_the_same_splits_and_another_seed_gives_others() -> None:
    first = assign_splits(DIGITS, SplitPlan({"test": 100}, seed=1))
    again = assign_splits(dict(reversed(DIGITS.items())), SplitPlan({"test": 100}, seed=1))
    assert first == again
    assert first != assign_splits(DIGITS, SplitPlan({"test": 100}, seed=2))


def test_a_path_keeps_its_split_when_files_come_and_go() -> None:
    plan = SplitPlan({"test": 500, "val": 200}, seed=3)
    before = assign_splits(DIGITS, plan)
    later = {path: label for path, label in DIGITS.items() if not path.endswith("7.png")}
    later |= {f"3/new-{number}.png": "3" for number in range(300)}
    after = assign_splits(later, plan, before)
    assert all(after[path] == split for path, split in before.items() if path in after)


def test_a_split_that_lost_files_is_filled_up_to_its_count() -> None:
    plan = SplitPlan({"test": 500}, seed=3, rest=None)
    before = assign_splits(DIGITS, plan)
    lost = sorted(before)[:50]
    later = {path: label for path, label in DIGITS.items() if path not in lost}
    assert Counter(assign_splits(later, plan, before).values()) == {"test": 500}


def test_uneven_labels_follow_the_largest_remainder() -> None:
    labels: dict[str, str | None] = {f"a{n}": "a" for n in range(7)}
    labels |= {f"b{n}": "b" for n in range(2)} | {"c": "c"}
    splits = assign_splits(labels, SplitPlan({"test": 5}))
    drawn = Counter(labels[path] for path, split in splits.items() if split == "test")
    assert drawn == {"a": 4, "b": 1}


def test_more_samples_than_there_are_is_a_clear_error() -> None:
    with pytest.raises(SplitTooLargeError, match="4001 more samples, and 4000"):
        assign_splits({**DIGITS, **UNLABELLED}, SplitPlan({"test": 4001}))


@given(label_sets, st.integers(0, 20), st.integers(0, 20), st.integers(0, 2**63))
def test_counts_are_exact_whenever_they_can_be(
    labels: dict[str, str | None], test: int, val: int, seed: int
) -> None:
    plan = SplitPlan({"test": test, "val": val}, seed, rest=None)
    labelled = sum(1 for label in labels.values() if label is not None)
    if test + val > labelled:
        with pytest.raises(SplitTooLargeError):
            assign_splits(labels, plan)
        return
    counts = Counter(assign_splits(labels, plan).values())
    assert (counts["test"], counts["val"]) == (test, val)


@given(label_sets, label_sets, st.integers(0, 10))
def test_earlier_assignments_are_always_kept(
    labels: dict[str, str | None], earlier: dict[str, str | None], count: int
) -> None:
    existing = {path: label for path, label in earlier.items() if label is not None}
    try:
        splits = assign_splits(labels, SplitPlan({"x": count}), existing)
    except SplitTooLargeError:
        return
    assert splits.keys() == labels.keys()
    assert all(splits[path] == split for path, split in existing.items() if path in labels)


@given(st.dictionaries(st.text("abc", max_size=3), st.integers(0, 1000)), st.integers(0, 10_000))
def test_the_largest_remainder_divides_exactly_and_fairly(
    shares: dict[str, int], count: int
) -> None:
    numbers = largest_remainder(shares, count)
    total = sum(shares.values())
    if total:
        assert sum(numbers.values()) == count
        assert all(abs(numbers[name] - count * shares[name] / total) < 1 for name in shares)
