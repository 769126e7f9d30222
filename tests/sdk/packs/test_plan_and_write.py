"""Planning packs from a folder and writing them."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.packs import (
    FileSink,
    PackLimits,
    PackWriter,
    SourceFile,
    hash_file,
    plan_packs,
    verify_pack,
    walk_folder,
    write_pack,
)
from atom_sdk.packs.walk import SkippedPath
from tests.sdk.packs.strategies import paths

SMALL = PackLimits(target_bytes=64 << 10, own_pack_bytes=32 << 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    for name, size in {
        "b/x.bin": 100,
        "a": 5000,
        "b.txt": 1,
        "b/empty": 0,
        "c/big": 3 << 20,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    return root


def test_a_folder_is_listed_in_the_byte_order_of_its_paths(folder: Path) -> None:
    assert [file.path for file in walk_folder(folder).files] == [
        "a",
        "b.txt",
        "b/empty",
        "b/x.bin",
        "c/big",
    ]


def test_links_are_listed_with_their_targets_and_not_followed(folder: Path) -> None:
    (folder / "link").symlink_to("a")
    (folder / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to("../gone")
    listing = walk_folder(folder)
    assert listing.links == {"link": "a", "loop": str(folder), "nowhere": "../gone"}
    assert listing.skipped == []
    assert len(listing.files) == 5


def test_what_no_dataset_holds_is_left_out_with_its_reason(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    os.symlink(b"caf\xe9", os.fsencode(folder / "latin"))
    assert walk_folder(folder).skipped == [
        SkippedPath("latin", "it is a link whose target a dataset cannot hold"),
        SkippedPath("pipe", "it is a special file"),
    ]


def test_links_are_followed_on_request_but_not_in_a_circle(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far").write_bytes(b"far away")
    (folder / "file").symlink_to("a")
    (folder / "folder").symlink_to(outside)
    (folder / "c" / "circle").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "gone").symlink_to("nothing")
    listing = walk_folder(folder, follow_links=True)
    assert listing.links == {}
    sizes = {file.path: file.size for file in listing.files}
    assert sizes["file"] == sizes["a"]
    assert sizes["folder/far"] == 8
    assert listing.skipped == [
        SkippedPath("c/circle", "its link leads to a folder that it lies in"),
        SkippedPath("gone", "its link leads nowhere"),
        SkippedPath("self", "its link leads nowhere"),
    ]
    (plan,) = plan_packs(listing.files)
    with (tmp_path / "pack").open("wb", buffering=0) as file:
        summary = write_pack(plan.files, folder, FileSink(file.fileno()), follow_links=True)
    digests = {member.path: member.digest for member in summary.members}
    assert digests["file"] == digests["a"]
    # A file that became a link since it was listed is no file of this folder.
    with (tmp_path / "pack").open("wb", buffering=0) as file, pytest.raises(OSError, match="links"):
        write_pack(plan.files, folder, FileSink(file.fileno()))


def test_an_ignored_folder_is_not_entered(folder: Path) -> None:
    listing = walk_folder(folder, ignore=lambda path: path == "b")
    assert [file.path for file in listing.files] == ["a", "b.txt", "c/big"]


def test_a_name_that_is_not_utf8_is_refused_with_its_name(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9")).write_bytes(b"")
    with pytest.raises(errors.PathNotUnicodeError):
        walk_folder(folder)


def test_a_folder_becomes_a_pack_of_exactly_the_planned_size(folder: Path, tmp_path: Path) -> None:
    (plan,) = plan_packs(walk_folder(folder).files)
    target = tmp_path / "pack.tar"
    with target.open("wb", buffering=0) as file:
        summary = write_pack(plan.files, folder, FileSink(file.fileno()))
    assert target.stat().st_size == plan.pack_bytes == summary.size_bytes
    assert hash_file(target) == summary.digest
    assert tuple(verify_pack([target.read_bytes()], summary.digest)) == summary.members
    for member in summary.members:
        assert member.digest == hash_file(folder / member.path)


@pytest.mark.parametrize("threaded", [True, False])
def test_a_file_larger_than_all_buffers_is_streamed(threaded: bool) -> None:
    content = os.urandom(10 << 20)
    sink = io.BytesIO()
    with PackWriter(sink, threaded=threaded) as writer:
        writer.add_bytes("a", b"small")
        writer.add_bytes("b", content)
        writer.add_bytes("c", b"small")
        summary = writer.close()
    assert summary.members[1].digest == blake3(content).digest()
    assert tuple(verify_pack([sink.getvalue()], summary.digest)) == summary.members


@pytest.mark.parametrize("now", [b"", b"short", b"much longer than it was"])
def test_a_file_that_changes_its_size_is_named(folder: Path, now: bytes) -> None:
    files = walk_folder(folder).files
    (folder / "b/x.bin").write_bytes(now)
    with pytest.raises(errors.FileChangedError, match=r"b/x\.bin"):
        write_pack(files, folder, io.BytesIO())


@pytest.mark.parametrize("threaded", [True, False])
def test_a_source_that_ends_early_is_named(threaded: bool) -> None:
    with PackWriter(io.BytesIO(), threaded=threaded) as writer:
        with pytest.raises(errors.FileChangedError, match="'x'"):
            writer.add("x", 10, lambda target: len(target) - 1)
        with pytest.raises(errors.FileChangedError, match="'y'"):
            writer.add("y", 9 << 20, lambda target: len(target) // 2)


@pytest.mark.parametrize("threaded", [True, False])
def test_a_sink_that_fails_fails_the_pack(threaded: bool) -> None:
    class FullDisk:
        def write(self, data: memoryview, /) -> None:
            raise OSError(28, "No space left on device")

    with PackWriter(FullDisk(), threaded=threaded) as writer:
        writer.add_bytes("x", b"1")
        with pytest.raises(OSError, match="No space"):
            writer.close()


def test_no_files_make_no_pack(tmp_path: Path) -> None:
    assert list(plan_packs([])) == []
    with pytest.raises(errors.EmptyPackError):
        write_pack([], tmp_path, io.BytesIO())


sizes = st.integers(0, 50_000)
file_lists = st.dictionaries(paths, sizes, max_size=30).map(
    lambda files: [SourceFile(path, files[path]) for path in sorted(files)]
)


@given(file_lists)
def test_a_plan_holds_every_file_once_in_order_and_in_small_enough_packs(
    files: list[SourceFile],
) -> None:
    plans = list(plan_packs(files, SMALL))
    small = [file for file in files if file.size < SMALL.own_pack_bytes]
    assert sorted(file for plan in plans for file in plan.files) == files
    assert [file for plan in plans for file in plan.files if file in small] == small
    for plan in plans:
        assert len(plan.files) == 1 or plan.pack_bytes <= SMALL.target_bytes + 8192
        assert len(plan.files) == 1 or all(file.size < SMALL.own_pack_bytes for file in plan.files)


@given(file_lists)
def test_the_same_files_give_the_same_plan(files: list[SourceFile]) -> None:
    assert list(plan_packs(files, SMALL)) == list(plan_packs(iter(files), SMALL))


def test_unsorted_files_are_refused() -> None:
    with pytest.raises(errors.PackOrderError):
        list(plan_packs([SourceFile("b", 1), SourceFile("a", 1)]))
