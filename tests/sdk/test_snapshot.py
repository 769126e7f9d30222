"""A snapshot of the working tree that `atom run` sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom_sdk.client.snapshot import SnapshotTooLargeError, take_snapshot

MIB = 1 << 20


def sparse(path: Path, size_bytes: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size_bytes)


def test_a_tree_that_is_too_large_names_what_is_largest(tmp_path: Path) -> None:
    sparse(tmp_path / "train.py", 1000)
    sparse(tmp_path / "weights.bin", 30 * MIB)
    sparse(tmp_path / "data" / "notes.txt", 1000)
    for number in range(5):
        sparse(tmp_path / "data" / "images" / f"{number}.png", 10 * MIB)
    sparse(tmp_path / "build" / "deep" / "model.onnx", 40 * MIB)
    with pytest.raises(SnapshotTooLargeError) as refused:
        take_snapshot(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} holds 120.0 MiB of code; at most 100.0 MiB fit. The largest: "
        "data/images/ (50.0 MiB), build/deep/model.onnx (40.0 MiB), weights.bin (30.0 MiB), "
        "train.py (1000 B)."
    )


def test_a_folder_of_two_large_things_is_named_itself(tmp_path: Path) -> None:
    sparse(tmp_path / "data" / "a.bin", 60 * MIB)
    sparse(tmp_path / "data" / "b.bin", 60 * MIB)
    with pytest.raises(SnapshotTooLargeError, match=r"The largest: data/ \(120.0 MiB\)\.$"):
        take_snapshot(tmp_path)
