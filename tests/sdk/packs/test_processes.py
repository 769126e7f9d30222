"""Packs written by processes of their own are the packs that this process would write."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from atom_sdk.errors import FileChangedError
from atom_sdk.packs.plan import PackLimits, PackPlan, plan_packs
from atom_sdk.packs.processes import FolderPacker, packing_processes
from atom_sdk.packs.walk import walk_folder
from atom_sdk.packs.writer import FileSink, PackSummary, write_pack

LIMITS = PackLimits(target_bytes=64 << 10, own_pack_bytes=32 << 10)
MUCH = 1 << 40
pytestmark = pytest.mark.skipif(packing_processes() == 1, reason="one core: one process packs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    (root / "é").mkdir(parents=True)
    for number in range(60):
        (root / ("é", ".")[number % 2] / f"{number:02d}").write_bytes(os.urandom(number * 200))
    return root


@pytest.fixture
def plans(folder: Path) -> list[PackPlan]:
    return list(plan_packs(walk_folder(folder).files, LIMITS))


@pytest.fixture
def packer(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FolderPacker]:
    # Files of the user's folder are data: a process that took them for its own code would fail.
    (tmp_path / "json.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    with FolderPacker(folder, MUCH) as running:
        yield running
    assert _children() == []


def _children() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children():
        # One that has ended has no command line.
        with suppress(psutil.Error):
            if "atom_sdk.packs.child" in process.cmdline():
                found.append(process)
    return found


def _expected(plan: PackPlan, folder: Path, target: Path) -> PackSummary:
    with target.open("wb") as file:
        return write_pack(plan.files, folder, FileSink(file.fileno()))


def _written(packer: FolderPacker, plan: PackPlan, target: Path) -> PackSummary:
    target.touch()
    return packer.write(plan.files, target)


def test_they_write_the_same_packs(
    packer: FolderPacker, plans: list[PackPlan], folder: Path, tmp_path: Path
) -> None:
    def compare(number: int) -> None:
        here, there = tmp_path / f"{number}.here", tmp_path / f"{number}.there"
        assert _written(packer, plans[number], there) == _expected(plans[number], folder, here)
        assert there.read_bytes() == here.read_bytes()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compare, range(len(plans))))
    written = sum(process.io_counters().write_chars for process in _children())
    assert written > sum(plan.pack_bytes for plan in plans)


def test_a_little_is_packed_without_them(
    plans: list[PackPlan], folder: Path, tmp_path: Path
) -> None:
    with FolderPacker(folder, plans[0].pack_bytes) as packer:
        assert _children() == []
        summary = _written(packer, plans[0], tmp_path / "there")
    assert summary == _expected(plans[0], folder, tmp_path / "here")


def test_a_pack_is_written_though_its_process_was_killed(
    packer: FolderPacker, plans: list[PackPlan], folder: Path, tmp_path: Path
) -> None:
    for process in _children():
        process.send_signal(signal.SIGKILL)
    for plan in plans:
        summary = _written(packer, plan, tmp_path / "there")
        assert summary == _expected(plan, folder, tmp_path / "here")


def test_a_file_that_changed_is_named(
    packer: FolderPacker, plans: list[PackPlan], folder: Path, tmp_path: Path
) -> None:
    changed = plans[0].files[-1].path
    (folder / changed).write_bytes(b"longer than it was" * 10_000)
    with pytest.raises(FileChangedError, match=changed):
        _written(packer, plans[0], tmp_path / "there")
    assert _written(packer, plans[1], tmp_path / "there")


def _interrupted(folder: Path) -> None:
    with FolderPacker(folder, MUCH):
        assert len(_children()) == packing_processes()
        raise KeyboardInterrupt


def test_no_process_is_left_when_packing_fails(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupted(folder)
    assert _children() == []
