"""Files that a stream fetched go on to the next attempt; nothing else of a job's folder does."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from atom.cache.delivery.engines.stream_handover import inherit, keep_fetched

ONE, TWO, THREE = ("1" * 64, "2" * 64, "3" * 64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An attempt's folder with a streamed dataset `d`: a whole pack, and one that arrives."""
    (tmp_path / "old" / "d" / "packs").mkdir(parents=True)
    (tmp_path / "old" / "d" / "partial").mkdir()
    (tmp_path / "new").mkdir()
    for name in (f"packs/{ONE}.tar", f"partial/{TWO}.data", f"partial/{TWO}.blocks"):
        (tmp_path / "old" / "d" / name).write_text(name)
    return tmp_path


def files_below(folder: Path) -> set[str]:
    """Every file below a folder, by its path there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


FETCHED = {f"packs/{ONE}.tar", f"partial/{TWO}.data", f"partial/{TWO}.blocks"}


def test_packs_and_parts_of_packs_go_on_by_another_name(folder: Path) -> None:
    gid = 12345 if os.geteuid() == 0 else None

    assert inherit(folder / "old" / "d", folder / "new", gid) == 3

    assert (files_below(folder / "new"), files_below(folder / "old")) == (FETCHED, set())
    if gid is not None:
        owners = {(folder / "new" / name).stat().st_uid for name in FETCHED}
        assert owners == {gid}
    assert inherit(folder / "old" / "d", folder / "new", gid) == 0


def test_what_the_next_attempt_has_already_stays(folder: Path) -> None:
    (folder / "new" / "packs").mkdir()
    (folder / "new" / "packs" / f"{ONE}.tar").write_text("linked")

    assert inherit(folder / "old" / "d", folder / "new", None) == 2
    assert (folder / "new" / "packs" / f"{ONE}.tar").read_text() == "linked"


def test_nothing_is_taken_that_a_job_put_there_to_be_taken(folder: Path) -> None:
    old, secret = folder / "old" / "d", folder / "secret"
    secret.write_text("not the job's")
    (old / "packs" / f"{TWO}.tar").symlink_to(secret)
    os.link(secret, old / "packs" / f"{THREE}.tar")
    os.mkfifo(old / "partial" / f"{THREE}.data")
    (old / "partial" / "notes.txt").write_text("no pack")

    assert inherit(old, folder / "new", None) == 3

    assert files_below(folder / "new") == FETCHED
    owner = secret.stat()
    assert (owner.st_uid, owner.st_nlink) == (os.geteuid(), 2)


def test_a_folder_that_is_a_link_is_no_folder(folder: Path) -> None:
    old = folder / "old" / "d"
    (old / "packs").rename(folder / "elsewhere")
    (old / "packs").symlink_to(folder / "elsewhere")

    assert inherit(old, folder / "new", None) == 2
    assert files_below(folder / "elsewhere") == {f"{ONE}.tar"}


def test_parts_from_before_the_machine_started_may_have_holes(folder: Path) -> None:
    for name in ("data", "blocks"):
        os.utime(folder / "old" / "d" / "partial" / f"{TWO}.{name}", (0, 0))
    os.utime(folder / "old" / "d" / "packs" / f"{ONE}.tar", (0, time.time() - 1e9))

    # A whole pack was on the disk before it got its name.
    assert inherit(folder / "old" / "d", folder / "new", None) == 1
    assert files_below(folder / "new") == {f"packs/{ONE}.tar"}


def test_of_an_ended_attempt_only_what_it_fetched_is_kept(folder: Path) -> None:
    old, node = folder / "old", folder / "node.tar"
    node.write_text("the node's own")
    os.link(node, old / "d" / "packs" / f"{THREE}.tar")
    (old / "d" / "view.arrow").write_text("index")
    (old / "d" / "locks").mkdir()
    (old / "warm" / "packs").mkdir(parents=True)
    (old / "warm" / "packs" / f"{TWO}.tar").write_text("warmed")

    assert keep_fetched(old, {"d"})

    assert files_below(old / "d") == FETCHED
    assert (node.stat().st_nlink, (old / "warm").exists()) == (1, False)
    inherit(old / "d", folder / "new", None)
    assert not keep_fetched(old, {"d"})
