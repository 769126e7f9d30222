"""Splits as people ask for them: counts and parts, groups, and what may not be drawn again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.errors import (
    SplitEmptyError,
    SplitRedrawError,
    SplitSpecError,
    SplitTooLargeError,
    SplitUnlabelledError,
)
from atom_sdk.manifests import SplitInput, SplitPlan, SplitRequest, assign_groups, draw, group_of

DIGITS: dict[str, str | None] = {f"{n % 10}/{n:05d}.png": str(n % 10) for n in range(1000)}
# Ten images of each of a hundred patients.
PATIENTS = {path: str(number // 10) for number, path in enumerate(DIGITS)}
names = st.text("abcdef", min_size=1, max_size=4)
labelled = st.dictionaries(names, st.sampled_from(["x", "y", None]), max_size=40)
grouped = st.dictionaries(names, st.sampled_from("123456"))


def request(**given: Any) -> SplitRequest:
    return SplitRequest.from_json({"seed": 7, **given})


def drawn(given: SplitRequest, **files: Any) -> Counter[str]:
    return Counter(draw(given, SplitInput(**files)).values())


def test_parts_are_parts_of_the_labelled_files() -> None:
    labels = {**DIGITS, **{f"new/{n}.png": None for n in range(500)}}
    counts = drawn(request(test="20%", val="2.5%"), labels=labels)
    assert counts == {"test": 200, "val": 25, "train": 1275}


def test_files_without_any_label_are_split_without_stratifying() -> None:
    labels = dict.fromkeys(DIGITS)
    assert drawn(request(test=100, stratify=False), labels=labels) == {"test": 100, "train": 900}
    with pytest.raises(SplitUnlabelledError):
        drawn(request(test=100), labels=labels)


def test_a_patient_is_in_one_split_and_the_counts_are_near() -> None:
    splits = draw(request(test="20%", val=100, group_by="folder"), SplitInput(DIGITS, PATIENTS))
    of_patient = {(PATIENTS[path], split) for path, split in splits.items()}
    assert len(of_patient) == 100
    counts = Counter(splits.values())
    assert abs(counts["test"] - 200) <= 10
    assert abs(counts["val"] - 100) <= 10


def test_a_new_file_of_a_group_joins_its_group() -> None:
    asked = request(test=100, group_by="folder")
    before = draw(asked, SplitInput(DIGITS, PATIENTS))
    patient = next(PATIENTS[path] for path, split in before.items() if split == "test")
    files = SplitInput({**DIGITS, "new.png": "1"}, {**PATIENTS, "new.png": patient}, before)
    after = draw(asked, files, asked)
    assert after == {**before, "new.png": "test"}


@given(labelled, grouped, st.integers(0, 20), st.integers(0, 20), st.integers(0, 2**63))
def test_no_group_straddles(
    labels: dict[str, str | None], groups: dict[str, str], test: int, val: int, seed: int
) -> None:
    plan = SplitPlan({"test": test, "val": val}, seed)
    try:
        splits = assign_groups(labels, groups, plan)
    except SplitTooLargeError:
        return
    assert splits.keys() == labels.keys()
    assert splits == assign_groups(dict(reversed(labels.items())), groups, plan)
    for group in set(groups.values()):
        members = [path for path in labels if groups.get(path) == group]
        assert len({splits[path] for path in members}) <= 1


@given(labelled, grouped, st.integers(0, 20), st.integers(0, 2**63))
def test_no_free_group_would_bring_a_split_nearer(
    labels: dict[str, str | None], groups: dict[str, str], test: int, seed: int
) -> None:
    plain = {path: None if label is None else "" for path, label in labels.items()}
    try:
        splits = assign_groups(plain, groups, SplitPlan({"test": test}, seed))
    except SplitTooLargeError:
        return
    total = sum(label is not None for label in plain.values())
    held = sum(plain[path] is not None for path, split in splits.items() if split == "test")
    sizes = Counter(
        groups.get(path, f"file {path}")
        for path, split in splits.items()
        if split == "train" and plain[path] is not None
    )
    off = abs(min(test, total) - held)
    assert all(abs(min(test, total) - held - size) >= off for size in sizes.values())


def test_a_drawn_split_is_kept_and_filled_up() -> None:
    asked = request(test=100)
    before = draw(asked, SplitInput(DIGITS))
    labels = {**DIGITS, **{f"new/{n}.png": "1" for n in range(60)}}
    for size, expected in ((150, 150), ("50%", 160)):
        more = draw(request(test=size), SplitInput(labels, existing=before), asked)
        assert Counter(more.values())["test"] == expected
        assert {path: more[path] for path in before} == before
    with pytest.raises(SplitTooLargeError, match="100 more samples, and 60"):
        draw(request(test=200), SplitInput(labels, existing=before), asked)


def test_only_chosen_files_are_drawn_and_the_others_keep_what_they_have() -> None:
    chosen = {path for path in DIGITS if path < "5"}
    elsewhere = {"9/00009.png": "val", "9/00019.png": "test"}
    asked = request(test="20%", where="path < '5'")
    splits = draw(asked, SplitInput(DIGITS, existing=elsewhere, chosen=chosen))
    assert splits.keys() == chosen | elsewhere.keys()
    assert Counter(splits[path] for path in chosen) == {"test": 100, "train": 400}
    assert {path: splits[path] for path in elsewhere} == elsewhere
    redrawn = request(test="20%", seed=8, where="path < '5'", redraw=True)
    after = draw(redrawn, SplitInput(DIGITS, existing=splits, chosen=chosen), asked)
    assert {path: after[path] for path in elsewhere} == elsewhere
    assert after != splits
    # Another question is another split: files that it finds in one are not moved.
    other = request(test=10, where="path >= '8'", seed=1)
    rest = {path for path in DIGITS if path >= "8"} - elsewhere.keys()
    more = draw(other, SplitInput(DIGITS, existing=splits, chosen=rest), asked)
    assert Counter(more[path] for path in rest) == {"test": 10, "train": 188}


def test_files_of_a_drawn_group_come_along_though_they_are_not_chosen() -> None:
    chosen = {path for path in DIGITS if path < "3"}
    asked = request(test="20%", group_by="folder", where="path < '3'")
    splits = draw(asked, SplitInput(DIGITS, PATIENTS, chosen=chosen))
    patients = {PATIENTS[path] for path in chosen}
    assert splits.keys() == {path for path, patient in PATIENTS.items() if patient in patients}
    assert len({(PATIENTS[path], split) for path, split in splits.items()}) == len(patients)
    assert abs(sum(splits[path] == "test" for path in chosen) - 60) <= 3


def test_a_question_that_chooses_nothing_is_said() -> None:
    with pytest.raises(SplitEmptyError):
        draw(request(test=1, where="size < 0"), SplitInput(DIGITS, chosen=set()))


@pytest.mark.parametrize(
    ("given_now", "said"),
    [
        ({"test": 100, "seed": 8}, "another seed"),
        ({"test": 100, "stratify": False}, "stratification"),
        ({"test": 100, "group_by": "folder"}, "grouping"),
        ({"test": 50}, "test has 100 files"),
        ({"test": 100, "where": "size > 0"}, "over other files"),
    ],
)
def test_drawing_again_has_to_be_said(given_now: dict[str, Any], said: str) -> None:
    asked = request(test=100)
    before = draw(asked, SplitInput(DIGITS))
    with pytest.raises(SplitRedrawError, match=said):
        draw(request(**given_now), SplitInput(DIGITS, existing=before), asked)
    again = draw(request(**given_now, redraw=True), SplitInput(DIGITS, existing=before), asked)
    assert again == draw(request(**given_now), SplitInput(DIGITS))


@pytest.mark.parametrize(
    "given_now",
    [
        {"test": -1},
        {"test": True},
        {"test": "20"},
        {"test": "120%"},
        {"test": "x%"},
        {"test": "60%", "val": "50%"},
        {"test": 1.5},
        {"test": 2**60},
        {"test": 1, "group_by": "label"},
        {"test": 1, "group_by": "attributes"},
        {"test": 1, "where": "label ="},
        {"test": 1, "where": 5},
        {"test": 1, "where": "label = 'x' OR NOT (size > 3 AND split IS NULL)"},
        {"test": 1, "where": "split IN ('train')"},
    ],
)
def test_what_cannot_be_read_is_refused(given_now: dict[str, Any]) -> None:
    with pytest.raises(SplitSpecError):
        SplitRequest.from_json(given_now)


def test_groups_are_folders_or_values_of_an_attribute() -> None:
    attributes = {"patient": 7, "site": {"name": "7"}}
    assert group_of("folder", "a/b/c.png", {}) == "a/b"
    assert group_of("attributes.patient", "c.png", attributes) == "int:7"
    assert group_of("attributes.site.name", "c.png", attributes) == "str:7"
    assert group_of("attributes.none", "c.png", attributes) is None
