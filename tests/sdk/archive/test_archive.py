"""An archive is checked against its promises, and a hostile one is refused in words."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.archive import check_archive, decode_history, encode_history
from atom_sdk.archive.errors import (
    ArchiveCorruptError,
    ArchiveHistoryDiffersError,
    ArchiveMissingError,
    ArchiveRegisteredError,
    ArchiveWriteError,
)
from atom_sdk.archive.folder import ArchiveFolder
from atom_sdk.archive.follow import Followed
from atom_sdk.archive.history import lacks
from atom_sdk.manifests import Entry
from atom_sdk.manifests.objects import pack_key
from tests.sdk.archive.conftest import Made, move


def first_object(made: Made, kind: str) -> Path:
    return sorted((made.folder.root / kind).iterdir())[0]


def test_a_whole_archive_has_no_problem(made: Made) -> None:
    report = check_archive(made.folder)
    assert (report.problems, report.datasets) == ([], ["digits"])
    assert report.objects == sum(1 for path in made.folder.root.rglob("*") if path.is_file()) - 1


@pytest.mark.parametrize("kind", ["packs", "ranges", "roots", "commits", "histories", "indexes"])
@pytest.mark.parametrize("harm", ["flip", "cut", "remove", "link"])
def test_every_harm_to_every_kind_of_object_is_found(made: Made, kind: str, harm: str) -> None:
    path = first_object(made, kind)
    data = path.read_bytes()
    if harm == "flip":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif harm == "cut":
        path.write_bytes(data[:-1])
    else:
        path.unlink()
    if harm == "link":
        path.symlink_to("/etc/hostname")
    assert check_archive(made.folder).problems


def test_a_file_that_is_elsewhere_in_its_pack_is_found(made: Made) -> None:
    entry = Entry("c.txt", 500, b"\1" * 32, None, None, made.pack, 4096)
    commit = made.commit_with([entry])
    history = replace(made.history, moves=(move(1, "", commit),), tags=(), kept=frozenset([commit]))
    found = Followed(made.folder).follow(history)
    index = made.folder.write_index({*found.keys, pack_key(made.pack)})
    made.folder.point("digits", made.folder.pointed("digits")[0], index)
    made.point(history)
    assert "not where the versions say" in check_archive(made.folder).problems[0]


def test_files_without_bytes_in_the_folder_are_refused(made: Made) -> None:
    for entry, kind in (
        (Entry("c", 5, b"\1" * 32, source="s", key="k"), ArchiveRegisteredError),
        (Entry("c", 5, b"\1" * 32), ArchiveCorruptError),
        (Entry("../c", 5, b"\1" * 32, None, None, made.pack, 0), ArchiveCorruptError),
    ):
        commit = made.commit_with([entry])
        history = replace(
            made.history, moves=(move(1, "", commit),), tags=(), kept=frozenset([commit])
        )
        with pytest.raises(kind):
            Followed(made.folder).follow(history)
        # Its history alone may be there.
        assert Followed(made.folder).follow(replace(history, kept=frozenset())).packs == set()


def test_a_parent_that_no_move_made_is_refused(made: Made) -> None:
    second = made.history.moves[1].new
    history = replace(made.history, moves=(move(1, "", second),), tags=(), kept=frozenset())
    with pytest.raises(ArchiveCorruptError, match="comes from"):
        Followed(made.folder).follow(history)


def changed(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda value: value.update(fields)


def in_move(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda value: value["moves"][1].update(fields)


@pytest.mark.parametrize(
    "harm",
    [
        changed(format="atom-archive-history/9"),
        changed(moves=None),
        changed(moves={}),
        changed(moves=[1]),
        changed(kept=["0" * 64]),
        changed(kept="all"),
        changed(tags=[{"name": "x", "commit": "0" * 64, "created_at": "2026-01-01T00:00:00Z"}]),
        changed(dataset={"name": "../x"}),
        in_move(seq=7),
        in_move(seq=-1),
        in_move(seq=True),
        in_move(number=3),
        in_move(number=2**80),
        in_move(old="0" * 64),
        in_move(new="../../etc/passwd"),
        in_move(new=""),
        in_move(kind="end"),
        in_move(kind=[]),
        in_move(branch="a/b"),
        in_move(branch="side"),
        in_move(at="yesterday"),
        in_move(at="2026-01-01T00:00:00"),
        in_move(added=-1),
        in_move(author="x" * 2000),
    ],
)
def test_a_history_that_contradicts_itself_is_refused(
    made: Made, harm: Callable[[dict[str, Any]], None]
) -> None:
    value = json.loads(encode_history(made.history))
    harm(value)
    with pytest.raises(ArchiveCorruptError):
        decode_history(json.dumps(value).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_history_is_refused(data: bytes) -> None:
    with pytest.raises(ArchiveCorruptError):
        decode_history(data)


def test_a_history_is_read_as_it_was_written(made: Made) -> None:
    assert decode_history(encode_history(made.history)) == made.history


def test_one_of_two_histories_must_continue_the_other(made: Made) -> None:
    whole = made.history
    shorter = replace(whole, moves=whole.moves[:1], kept=frozenset())
    assert lacks(whole, shorter)
    assert not lacks(shorter, whole)
    assert not lacks(whole, whole)
    assert lacks(whole, replace(whole, tags=()))
    other = replace(whole, moves=(move(1, "", "1" * 64),), tags=())
    with pytest.raises(ArchiveHistoryDiffersError):
        lacks(whole, other)
    tag = replace(whole.tags[0], commit=whole.moves[1].new)
    with pytest.raises(ArchiveHistoryDiffersError):
        lacks(whole, replace(whole, tags=(tag,)))


@pytest.mark.parametrize("pointer", [b"", b"{}", b'{"format":"atom-archive/1","history":5}'])
def test_a_torn_pointer_is_said(made: Made, pointer: bytes) -> None:
    (made.folder.root / "datasets" / "digits.json").write_bytes(pointer)
    assert check_archive(made.folder).problems
    for name in ("nobody", "../digits", ".hidden"):
        with pytest.raises(ArchiveMissingError):
            check_archive(made.folder, name)


def test_names_of_objects_lead_nowhere_else(made: Made) -> None:
    for key in ("../x", "packs/x.tar", f"packs/{'0' * 64}.tar/..", f"secrets/{'0' * 64}.json"):
        with pytest.raises(ArchiveCorruptError):
            made.folder.path(key)


def test_a_full_disk_is_said_and_leaves_nothing_half(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"packs/{'0' * 64}.tar"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArchiveWriteError, match="disk is full"):
        made.folder.put(pack_key(made.pack), made.folder.get(pack_key(made.pack)))
    monkeypatch.undo()

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise ConnectionError

    with pytest.raises((ConnectionError, ArchiveWriteError)):
        made.folder.write(key, broken())
    with pytest.raises(ArchiveCorruptError):
        made.folder.write(key, [b"other bytes"])
    assert not made.folder.exists(key)
    assert not list(made.folder.root.rglob(".part-*"))


def test_an_empty_folder_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveMissingError):
        check_archive(ArchiveFolder(tmp_path))
