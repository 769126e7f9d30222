"""A snapshot of the working tree that `atom run` sends."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from atom_sdk.client.code.snapshot import SnapshotTooLargeError, take_snapshot
from atom_sdk.runner.archive import unpack

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


@pytest.mark.parametrize("is_git", [False, True])
def test_links_that_stay_inside_reach_the_run(tmp_path: Path, is_git: bool) -> None:
    code, out = tmp_path / "code", tmp_path / "out"
    (code / "configs").mkdir(parents=True)
    (code / "train.py").write_text("print(1)")
    (code / "configs" / "base.yaml").write_text("lr: 1")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    inside = {
        "configs/now.yaml": "base.yaml",
        "configs/é.yaml": "./../settings/base.yaml",
        "configs/soon.yaml": "not-there.yaml",
        "settings": "configs",
        "a-first": "settings/now.yaml",
    }
    leaving = {
        "absolute": str(tmp_path / "secret"),
        "configs/up": "../../secret",
        "data": "../elsewhere",
        "round": "round//round",
        "through": "settings/../../secret",
        ".venv": "../elsewhere",
    }
    for path, target in {**inside, **leaving}.items():
        (code / path).symlink_to(target)
    if is_git:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "init", "-q", str(code)], check=True)
        subprocess.run(["git", "-C", str(code), "add", "train.py", "settings"], check=True)
        subprocess.run(["git", "-C", str(code), *identity, "commit", "-qm", "a"], check=True)

    snapshot = take_snapshot(code)

    # Without git, the names of usual clutter are not looked at.
    assert set(snapshot.links_left_out) == set(leaving) - (set() if is_git else {".venv"})
    out.mkdir()
    (tmp_path / "code.tar.gz").write_bytes(snapshot.archive)
    unpack(tmp_path / "code.tar.gz", out)
    found = {str(path.relative_to(out)): path for path in out.rglob("*")}
    assert {p: os.readlink(at) for p, at in found.items() if at.is_symlink()} == inside
    assert (out / "a-first").read_text() == (out / "configs" / "é.yaml").read_text() == "lr: 1"
    assert snapshot.files_count == 2 + len(inside)
    assert take_snapshot(code).digest == snapshot.digest
    if is_git:
        assert snapshot.changes is not None
        assert "new file mode 120000" in snapshot.changes["patch"]
        assert "secret" not in snapshot.changes["patch"]


def test_files_that_git_knows_below_a_link_are_sent_once(tmp_path: Path) -> None:
    code, out = tmp_path / "code", tmp_path / "out"
    for name in ("old", "new"):
        (code / name).mkdir(parents=True)
        (code / name / "a.py").write_text(name)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "init", "-q", str(code)], check=True)
    subprocess.run(["git", "-C", str(code), "add", "."], check=True)
    subprocess.run(["git", "-C", str(code), *identity, "commit", "-qm", "a"], check=True)
    shutil.rmtree(code / "old")
    (code / "old").symlink_to("new")
    snapshot = take_snapshot(code)
    out.mkdir()
    (tmp_path / "code.tar.gz").write_bytes(snapshot.archive)
    unpack(tmp_path / "code.tar.gz", out)
    assert (os.readlink(out / "old"), (out / "new" / "a.py").read_text()) == ("new", "new")
    assert snapshot.files_count == 2
