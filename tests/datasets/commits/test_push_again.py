"""Pushes after the first: labels and splits that come later, and pushes that meet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atom_sdk.client import Client
from atom_sdk.client.errors import CommitFailedError, PushConflictError
from atom_sdk.client.progress import Silent
from atom_sdk.client.push import PushOptions
from tests.datasets.pushing import class_files

LABELS = PushOptions(labels_from="folder")
SPLIT = {"test": 6, "seed": 7, "stratify": True}


def labels_of(client: Client, reference: str) -> dict[str, str | None]:
    """Return the label of each path."""
    return {row["path"]: row["label"] for row in client.datasets.entries(reference)}


def splits_of(client: Client, reference: str) -> dict[str, str | None]:
    """Return the split of each path."""
    return {row["path"]: row["split"] for row in client.datasets.entries(reference)}


@pytest.mark.pushed
def test_labels_can_be_given_later_to_the_same_files(client: Client, folder: Path) -> None:
    second = client.datasets.push(folder, "digits", LABELS)

    assert (second.version["ref"], second.unchanged, second.files_sent) == ("v2", False, 0)
    assert labels_of(client, "digits@v2") == {path: path[0] for path in class_files()}
    third = client.datasets.push(folder, "digits", LABELS)
    assert (third.version["ref"], third.unchanged) == ("v2", True)


@pytest.mark.pushed
def test_labels_given_with_a_new_file_reach_the_old_ones_too(client: Client, folder: Path) -> None:
    (folder / "0" / "new.txt").write_bytes(b"new")

    client.datasets.push(folder, "digits", LABELS)

    assert set(labels_of(client, "digits@v2").values()) == {"0", "1", "2"}


@pytest.mark.pushed(labels_from="folder")
def test_files_can_be_declared_unlabelled_later(client: Client, folder: Path) -> None:
    client.datasets.push(folder, "digits", PushOptions(unlabelled=("2",)))

    expected = {path: None if path[0] == "2" else path[0] for path in class_files()}
    assert labels_of(client, "digits@v2") == expected


@pytest.mark.pushed(labels_from="folder")
def test_a_split_can_be_asked_for_later(client: Client, folder: Path) -> None:
    second = client.datasets.push(folder, "digits", PushOptions(split=SPLIT))

    assert second.version["ref"] == "v2"
    assert list(splits_of(client, "digits").values()).count("test") == 6
    assert client.datasets.push(folder, "digits", PushOptions(split=SPLIT)).unchanged


@pytest.mark.pushed(labels_from="folder", split=SPLIT)
def test_a_larger_split_of_files_that_all_have_one_is_refused(client: Client, folder: Path) -> None:
    with pytest.raises(CommitFailedError) as failed:
        client.datasets.push(folder, "digits", PushOptions(split={**SPLIT, "test": 8}))

    assert failed.value.reason == "split_impossible"
    assert "2 more" in str(failed.value)
    assert "stays there" in failed.value.hint
    assert failed.value.hint.endswith("No version was made.")


@pytest.mark.pushed(labels_from="folder", split=SPLIT)
def test_an_inherited_split_never_makes_a_push_fail(client: Client, folder: Path) -> None:
    before = splits_of(client, "digits@v1")
    for path in [path for path, split in before.items() if split == "test"][:4]:
        (folder / path).unlink()

    client.datasets.push(folder, "digits")

    after = splits_of(client, "digits@v2")
    assert len(after) == len(before) - 4
    assert after == {path: before[path] for path in after}


def test_a_split_without_labels_says_to_give_labels(client: Client, folder: Path) -> None:
    with pytest.raises(CommitFailedError) as failed:
        client.datasets.push(folder, "digits", PushOptions(split=SPLIT))

    assert failed.value.reason == "split_unlabelled"
    assert "class folders as labels" in failed.value.hint
    assert failed.value.hint.endswith(
        "The dataset digits exists now and has no version yet: push again."
    )


class Meeting(Silent):
    """Has another push happen just before a push's first commit."""

    def __init__(self, client: Client, other: Path) -> None:
        self._client = client
        self._waiting = [other]

    def start(self, step: str, total: int, unit: str) -> None:
        """Let the other push go first once this one is about to commit."""
        if step == "changes" and self._waiting:
            self._client.datasets.push(self._waiting.pop(), "digits")


def copy_of(folder: Path) -> Path:
    """Return a second folder with the same files."""
    return Path(shutil.copytree(folder, folder.parent / "other"))


@pytest.mark.pushed
def test_two_pushes_that_meet_keep_what_both_did(client: Client, folder: Path) -> None:
    other = copy_of(folder)
    (other / "theirs.txt").write_bytes(b"theirs")
    (other / "0" / "000.png").unlink()
    (other / "both.txt").write_bytes(b"the same")
    (folder / "mine.txt").write_bytes(b"mine")
    (folder / "1" / "001.png").unlink()
    (folder / "2" / "002.png").write_bytes(b"mine too")
    (folder / "both.txt").write_bytes(b"the same")

    result = client.datasets.push(folder, "digits", progress=Meeting(client, other))

    assert result.version["ref"] == "v3"
    client.datasets.pull("digits@v3", folder.parent / "copy")
    files = {
        str(path.relative_to(folder.parent / "copy")): path.read_bytes()
        for path in (folder.parent / "copy").rglob("*")
        if path.is_file()
    }
    expected = class_files() | {"theirs.txt": b"theirs", "mine.txt": b"mine"}
    expected |= {"2/002.png": b"mine too", "both.txt": b"the same"}
    del expected["0/000.png"], expected["1/001.png"]
    assert files == expected


def test_two_first_pushes_that_meet_keep_both_folders(
    client: Client, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "first"
    other.mkdir()
    (other / "theirs.txt").write_bytes(b"theirs")

    result = client.datasets.push(folder, "digits", progress=Meeting(client, other))

    assert result.version["ref"] == "v2"
    assert set(labels_of(client, "digits@v2")) == {"theirs.txt", *class_files()}


@pytest.mark.pushed
def test_two_pushes_that_change_one_file_are_a_conflict(client: Client, folder: Path) -> None:
    other = copy_of(folder)
    (other / "0" / "000.png").write_bytes(b"theirs")
    (other / "1" / "001.png").write_bytes(b"theirs")
    (folder / "0" / "000.png").write_bytes(b"mine")
    (folder / "1" / "001.png").unlink()

    with pytest.raises(PushConflictError, match=r"'0/000\.png', '1/001\.png'"):
        client.datasets.push(folder, "digits", progress=Meeting(client, other))

    assert client.datasets.version("digits")["ref"] == "v2"
    assert client.datasets.push(folder, "digits").version["ref"] == "v3"
    assert "1/001.png" not in labels_of(client, "digits@v3")


@pytest.mark.pushed
def test_listing_a_folder_that_is_not_there_is_an_error(client: Client, folder: Path) -> None:
    environment = {
        **os.environ,
        "ATOM_URL": client.config.url,
        "ATOM_TOKEN": client.config.token or "",
        "ATOM_PROJECT": client.project,
    }
    atom = [str(Path(sys.executable).parent / "atom"), "data", "ls", "digits@v1"]

    def listed(prefix: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*atom, prefix], env=environment, capture_output=True, text=True, check=False
        )

    missing = listed("nothing/")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "digits@v1 has no folder or file 'nothing/'." in missing.stderr
    assert "000.png" in listed("0/").stdout
