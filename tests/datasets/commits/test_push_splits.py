"""Splits at a push: parts, groups, and drawing anew; packs stay apart all the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, CommitFailedError
from atom_sdk.client.push import PushOptions
from tests.datasets.commits.test_push_again import splits_of
from tests.datasets.packs.test_split_packs import splits_by_pack
from tests.datasets.pushing import png


def push(client: Client, folder: Path, split: dict[str, Any], **more: Any) -> dict[str, Any]:
    options = PushOptions(split={"seed": 7, **split}, **more)
    return client.datasets.push(folder, "digits", options).version


def counts(client: Client) -> Counter[str | None]:
    return Counter(splits_of(client, "digits").values())


def test_a_part_of_files_without_labels_is_held_out(client: Client, folder: Path) -> None:
    push(client, folder, {"test": "25%", "val": "10%", "stratify": False})
    assert counts(client) == {"test": 3, "val": 1, "train": 8}


def test_the_files_of_one_patient_stay_together_in_split_and_pack(
    client: Client, folder: Path, tmp_path: Path
) -> None:
    patients = {f"{n}/00{i}.png": {"patient": i // 2} for n in range(3) for i in range(4)}
    split = {"test": "50%", "group_by": "attributes.patient"}
    version = push(client, folder, split, labels_from="folder", attributes=patients)
    splits = splits_of(client, "digits")
    of_patient = {(patients[path]["patient"], split) for path, split in splits.items()}
    assert sorted(split or "" for _, split in of_patient) == ["test", "train"]
    assert sorted(map(sorted, splits_by_pack(version, tmp_path).values())) == [["test"], ["train"]]
    (folder / "0" / "new.png").write_bytes(png(77))
    tested = next(patient for patient, split in of_patient if split == "test")
    client.datasets.push(
        folder, "digits", PushOptions(attributes={"0/new.png": {"patient": tested}})
    )
    assert splits_of(client, "digits") == {**splits, "0/new.png": "test"}


def test_a_split_is_drawn_anew_only_when_that_is_said(client: Client, folder: Path) -> None:
    push(client, folder, {"test": 6}, labels_from="folder")
    before = splits_of(client, "digits")
    for wish in ({"test": 6, "seed": 8}, {"test": 3}, {"test": 6, "group_by": "folder"}):
        with pytest.raises(CommitFailedError) as failed:
            push(client, folder, wish)
        assert failed.value.reason == "split_redraw"
        assert "drawn anew" in failed.value.hint
    assert splits_of(client, "digits") == before
    push(client, folder, {"test": 3, "redraw": True})
    assert counts(client) == {"test": 3, "train": 9}
    after = splits_of(client, "digits")
    assert client.datasets.push(folder, "digits").unchanged
    (folder / "0" / "new.png").write_bytes(png(77))
    client.datasets.push(folder, "digits")
    assert splits_of(client, "digits") == {**after, "0/new.png": "train"}


def test_a_size_that_is_none_is_refused(client: Client, folder: Path) -> None:
    for split in ({"test": "lots"}, {"test": "60%", "val": "60%"}, {"test": 1, "group_by": "x"}):
        with pytest.raises((ApiError, ValueError)) as refused:
            push(client, folder, split)
        assert getattr(refused.value, "code", "") == "invalid"
    assert list(client.datasets.log("digits")) == []
