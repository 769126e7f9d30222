"""A disk that is full: a clear error, nothing half under a final name, and all well afterwards."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.pull.pull import write_entry
from atom_sdk.client.push.scratch_packs import packed_file
from atom_sdk.errors import DiskFullError, PackStoreFullError
from atom_sdk.export import export_dataset
from atom_sdk.manifests import (
    Entry,
    FolderObjectStore,
    MemoryObjectStore,
    build_root,
    build_view,
    entries_table,
)
from atom_sdk.packs import PackStore, verify_pack
from atom_sdk.packs.plan import plan_packs
from atom_sdk.packs.processes import FolderPacker
from atom_sdk.packs.walk import walk_folder
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.ranges import PackRange, StreamOptions
from atom_sdk.readers.streaming import StreamingDataset
from atom_sdk.runner import spool as spool_module
from atom_sdk.runner.spool import Spool
from tests.sdk.packs.strategies import packed

FILES = {f"{n:02d}.bin": bytes([n]) * 40_000 for n in range(30)}
DISK_BYTES = 3 << 20
STORED_WITHIN_S = 30
FRAME_BYTES = 100_000


@dataclass
class Disk:
    """A small file system of its own."""

    folder: Path

    def fill_up(self) -> None:
        with self._ballast.open("wb", 0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    def make_room(self) -> None:
        self._ballast.unlink()

    def files(self) -> list[Path]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return [path for path in found if path != self._ballast]

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root and the right to mount a small file system")
    yield Disk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass
class Stored:
    """A version elsewhere: its pack, its entries, its view; reads ranges as a store would."""

    pack: bytes
    data: bytes
    entries: list[Entry]
    view: Path

    def doubt(self, pack: bytes) -> None:
        """It is stored once."""

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        return PackRange(memoryview(self.data)[start : start + length], len(self.data))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    data, summary = packed(FILES)
    entries = [
        Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
        for m in summary.members
    ]
    view = tmp_path_factory.mktemp("view") / "view.arrow"
    _build(entries, view)
    return Stored(summary.digest, data, entries, view)


def _build(entries: list[Entry], path: Path) -> None:
    store = MemoryObjectStore()
    build_view(build_root([entries_table(entries)], store), store, path)


def _appends(spool: Spool) -> threading.Thread:
    """Append a frame beside the test, which waits as there is no room."""
    thread = threading.Thread(target=spool.append, args=(1, 0, bytes(FRAME_BYTES)), daemon=True)
    thread.start()
    thread.join(0.5)
    assert thread.is_alive()
    return thread


@pytest.fixture
def full_spool(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Spool:
    """A log of several files on a disk that has become full."""
    monkeypatch.setattr(spool_module, "SEGMENT_BYTES", FRAME_BYTES)
    # As when as much is held in memory as may be.
    monkeypatch.setattr(spool_module, "HELD_BYTES", 0)
    spool = Spool(disk.folder, 1 << 30)
    for _ in range(4):
        spool.append(1, 0, bytes(FRAME_BYTES))
    disk.fill_up()
    return spool


def test_a_log_that_waits_for_room_is_sent_meanwhile_which_makes_room(full_spool: Spool) -> None:
    end = full_spool.end
    thread = _appends(full_spool)
    full_spool.ack(end)
    thread.join(STORED_WITHIN_S)
    assert not thread.is_alive()
    assert full_spool.end == end + FRAME_BYTES
    assert full_spool.read(end, FRAME_BYTES)[1] == FRAME_BYTES
    full_spool.close()


def test_a_log_that_nobody_will_send_does_not_wait_for_room(full_spool: Spool) -> None:
    end = full_spool.end
    thread = _appends(full_spool)
    full_spool.release()
    thread.join(STORED_WITHIN_S)
    assert not thread.is_alive()
    assert full_spool.end == end
    full_spool.close()


def _fails_then_works(disk: Disk, work: Callable[[], object]) -> None:
    """Run `work` on a full disk, then with room again."""
    before = disk.files()
    disk.fill_up()
    with pytest.raises((DiskFullError, PackStoreFullError), match="bytes are free"):
        work()
    assert [path for path in disk.files() if path.stat().st_size] == before
    disk.make_room()
    work()


def test_warming_a_pack(disk: Disk, stored: Stored) -> None:
    store = PackStore(disk.folder)
    _fails_then_works(disk, lambda: store.fill(stored.pack, [stored.data]))
    assert store.path(stored.pack).read_bytes() == stored.data


def test_pulling_a_file(disk: Disk, stored: Stored, tmp_path: Path) -> None:
    store = PackStore(tmp_path / "cache")
    store.fill(stored.pack, [stored.data])
    entry = stored.entries[7]
    _fails_then_works(disk, lambda: write_entry(store, entry, disk.folder / "pulled"))
    assert (disk.folder / "pulled" / entry.path).read_bytes() == FILES[entry.path]


def test_exporting_a_folder_and_shards(disk: Disk, stored: Stored, tmp_path: Path) -> None:
    store = PackStore(tmp_path / "cache")
    store.fill(stored.pack, [stored.data])
    dataset = LocalDataset(stored.view, store.packs)
    for file_format in ("folder", "webdataset", "parquet"):
        target = disk.folder / file_format
        disk.fill_up()
        with pytest.raises(DiskFullError):
            export_dataset(dataset, target, file_format, Silent())
        assert not [path for path in disk.files() if not path.name.endswith(".part")]
        disk.make_room()
        assert export_dataset(dataset, target, file_format, Silent()).written == len(FILES)
        for path in target.iterdir():
            path.unlink()


@pytest.mark.parametrize("packed_in_all_bytes", [0, 1 << 40])
def test_building_a_pack_for_a_push(
    packed_in_all_bytes: int, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name, data in FILES.items():
        (source / name).write_bytes(data)
    (plan,) = plan_packs(walk_folder(source).files)
    monkeypatch.setenv("ATOM_CACHE", str(disk.folder))

    with FolderPacker(source, packed_in_all_bytes) as packer:

        def work() -> None:
            with packed_file(partial(packer.write, plan.files)) as (path, summary):
                assert len(verify_pack([path.read_bytes()], summary.digest)) == len(FILES)

        _fails_then_works(disk, work)
    assert disk.files() == []


def test_writing_a_view_and_a_manifest(disk: Disk, stored: Stored) -> None:
    store, view = FolderObjectStore(disk.folder / "objects"), disk.folder / "view.arrow"
    _fails_then_works(disk, lambda: store.put("ranges/a", bytes(9000)))
    assert store.get("ranges/a") == bytes(9000)
    _fails_then_works(disk, lambda: _build(stored.entries, view))
    assert view.read_bytes() == stored.view.read_bytes()


def test_streaming_goes_on_in_memory_and_later_on_the_disk(disk: Disk, stored: Stored) -> None:
    def read_all() -> None:
        dataset = StreamingDataset(stored.view, disk.folder, stored, StreamOptions(None, 2))
        assert {sample.path: bytes(sample.data) for sample in dataset} == FILES

    PackStore(disk.folder)
    disk.fill_up()
    read_all()
    assert not PackStore(disk.folder).has(stored.pack)
    disk.make_room()
    read_all()
    # The thread that brought the last block makes it whole.
    deadline = time.monotonic() + STORED_WITHIN_S
    while not PackStore(disk.folder).has(stored.pack):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert PackStore(disk.folder).path(stored.pack).read_bytes() == stored.data
