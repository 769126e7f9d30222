"""`atom data push|pull|archive` against the real API: what they say."""

from __future__ import annotations

from pathlib import Path

from tests.datasets.commands import Atom
from tests.datasets.pushing import Pusher, png


def test_pull_says_what_was_there_already(atom: Atom, pusher: Pusher, tmp_path: Path) -> None:
    pusher.push({"a.png": png(1), "b.png": png(2)})
    copy = tmp_path / "copy"
    assert atom("data", "pull", "digits@v1", str(copy))[1] == f"2 of 2 files written to {copy}.\n"
    said = atom("data", "pull", "digits@v1", str(copy), "--delete")[1]
    assert said == "Nothing was missing: 2 files were there already, verified; 0 removed.\n"
    (copy / "a.png").write_bytes(b"other")
    said = atom("data", "pull", "digits@v1", str(copy))[1]
    assert said == f"1 of 2 files written to {copy}, 1 there already, verified.\n"


def test_a_pull_over_another_version_says_that_old_files_stay(
    atom: Atom, pusher: Pusher, tmp_path: Path
) -> None:
    pusher.push({"a.png": png(1), "old/b.png": png(2)})
    rows = [{"op": "delete", "path": "old/b.png"}]
    assert pusher.commit(rows)["state"] == "published"
    copy = str(tmp_path / "copy")
    atom("data", "pull", "digits@v1", copy)
    said = atom("data", "pull", "digits@v2", copy)[1].splitlines()
    assert said == [
        "Nothing was missing: 1 file was there already, verified.",
        f"1 other file in {copy} stays, such as those of another version.",
        "To remove them, pull again with --delete.",
    ]
    assert (tmp_path / "copy" / "old" / "b.png").exists()
    removed = atom("data", "pull", "digits@v2", copy, "--delete")[1]
    assert removed.endswith("verified; 1 removed.\n")


def test_one_file_is_said_in_the_singular(atom: Atom, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.png").write_bytes(png(1))
    said = atom("data", "push", str(tmp_path / "one"), "digits")[1]
    assert "digits@v1  1 file, 1 sent" in said
    assert "in 1 pack)" in said
    copy = str(tmp_path / "copy")
    atom("data", "pull", "digits@v1", copy)
    assert "1 file was there already" in atom("data", "pull", "digits@v1", copy)[1]


def test_an_archive_names_versions_and_branches(atom: Atom, pusher: Pusher, tmp_path: Path) -> None:
    pusher.push({"a.png": png(1)})
    folder = str(tmp_path / "saved")
    assert "1 version on 1 branch," in atom("data", "archive", "save", "digits", folder)[1]
    pusher.post("branches/", {"name": "side", "at": "v1"})
    pusher.push({"b.png": png(2)}, branch="side")
    assert "2 versions on 2 branches," in atom("data", "archive", "save", "digits", folder)[1]
    said = atom("data", "archive", "load", folder, "--name", "other")[1]
    assert said == "other: 2 versions on 2 branches, v1 is the newest on main\n"
