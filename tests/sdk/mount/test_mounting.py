"""Refused mounts, failures that are noticed, and remains of a kill or of another user's file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from atom_sdk.errors import AtomError, SampleDigestMismatchError
from atom_sdk.mount import mounts, syscalls, unmount
from atom_sdk.mount.erofs import write_image
from atom_sdk.mount.errors import (
    AlreadyMountedError,
    MountBusyError,
    MountRecordError,
    MountVerificationError,
    NameConflictError,
    NotMountedError,
    TargetNotEmptyError,
)
from atom_sdk.mount.verify import telling_files, verify_mount
from atom_sdk.packs.cache_eviction import PackRoom
from atom_sdk.packs.store import PackStore
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView
from tests.sdk.mount.conftest import Files, Mounter, dataset_of, why_not

FILES: Files = {f"{n % 2}/{n:02d}": bytes([n]) * (n * 800) for n in range(40)}
MOUNT = """
import sys
from pathlib import Path
from atom_sdk.mount import MountOptions, mount
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView
index, packs, folder, cache, how = sys.argv[1:]
dataset = LocalDataset(index, packs)
{before}
record = mount(dataset, Path(folder), Path(cache), "pets@v1", MountOptions(how=how or None))
print(record.how)
for name, reason in record.skipped:
    print(name, "-", reason)
"""
# Ends the process, as a kill from outside would, when a function returns for the nth time.
KILL = """
import os, signal
name, calls = {name!r}, [0]
def watch(frame, event, argument):
    if event == "return" and frame.f_code.co_name == name:
        calls[0] += 1
        if calls[0] == {nth}:
            os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(watch)
"""


@pytest.fixture
def dataset(tmp_path: Path) -> LocalDataset:
    return dataset_of(tmp_path, FILES, packs=2)


def mount_elsewhere(
    dataset: LocalDataset, mounter: Mounter, how: str = "", before: str = "", *wrapper: str
) -> subprocess.CompletedProcess[str]:
    """Mount in a process of its own."""
    arguments = [dataset.index.path, dataset.pack_dir, mounter.folder, mounter.cache, how]
    command = [*wrapper, sys.executable, "-c", MOUNT.format(before=before), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def shown(folder: Path) -> Files:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_best_way_that_works_is_taken(
    dataset: LocalDataset, mounter: Mounter, kernel: None
) -> None:
    record = mounter.mount(dataset)
    assert (record.how, record.skipped, record.verified_files) == ("erofs", (), 2)
    assert [(found, there) for found, there in mounts(mounter.cache)] == [(record, True)]


def test_with_a_cache_in_memory_packs_are_mounted_through_loop_devices(mounter: Mounter) -> None:
    memory = Path("/dev/shm")
    if reason := why_not("erofs") or why_not("loop"):
        pytest.skip(reason)
    if f" {memory} tmpfs " not in Path("/proc/mounts").read_text():
        pytest.skip("needs tmpfs")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        mounter.cache = Path(folder) / "cache"
        record = mounter.mount(dataset_of(Path(folder) / "data", FILES, packs=2))
        assert record.how == "loop"
        assert [(how, "tmpfs" in reason) for how, reason in record.skipped] == [("erofs", True)]
        assert shown(mounter.folder) == FILES
        mounter.unmount()


@pytest.fixture
def without_rights() -> tuple[str, ...]:
    """A command that takes the right to mount from its processes.

    Root has the right itself; others get it from `fusermount3`, which is root's.
    """
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv of util-linux")
    if os.geteuid() != 0:
        return ("setpriv", "--no-new-privs")
    return ("setpriv", "--bounding-set=-sys_admin")


def test_without_the_right_to_mount_files_are_linked_and_the_reason_is_told(
    dataset: LocalDataset, mounter: Mounter, without_rights: tuple[str, ...]
) -> None:
    done = mount_elsewhere(dataset, mounter, "", "", *without_rights)
    assert done.returncode == 0, done.stderr
    how, *skipped = done.stdout.splitlines()
    assert how == "hardlinks"
    assert [line.split()[0] for line in skipped] == ["erofs", "loop"]
    assert all("CAP_SYS_ADMIN" in line for line in skipped)
    assert shown(mounter.folder) == FILES


def test_where_nothing_works_every_way_says_why(
    dataset: LocalDataset, mounter: Mounter, without_rights: tuple[str, ...]
) -> None:
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == mounter.cache.parent.stat().st_dev:
        pytest.skip("needs two file systems")
    mounter.folder = elsewhere / f"atom-test-{os.getpid()}"
    done = mount_elsewhere(dataset, mounter, "", "", *without_rights)
    assert done.returncode == 1
    for reason in ("erofs: mounting needs", "loop: ", "hardlinks: ", "another file", "fuse: "):
        assert reason in done.stderr
    assert not mounter.folder.exists()


def test_a_folder_is_mounted_once(
    dataset: LocalDataset, mounter: Mounter, options: dict[str, object]
) -> None:
    mounter.mount(dataset, **options)
    with pytest.raises(AlreadyMountedError, match=r"shows pets@v1 already"):
        mounter.mount(dataset, **options)
    assert shown(mounter.folder) == FILES


def test_only_an_empty_folder_is_taken_and_it_stays(
    dataset: LocalDataset, mounter: Mounter
) -> None:
    mounter.folder.mkdir()
    (mounter.folder / "mine").touch()
    with pytest.raises(TargetNotEmptyError, match="is not empty"):
        mounter.mount(dataset)
    mounter.folder = mounter.folder / "mine"
    with pytest.raises(TargetNotEmptyError, match="is not a folder"):
        mounter.mount(dataset)
    mounter.folder.unlink()
    mounter.folder = mounter.folder.parent
    mounter.mount(dataset)
    mounter.unmount()
    assert list(mounter.folder.iterdir()) == []


def test_what_is_not_mounted_cannot_be_unmounted(mounter: Mounter) -> None:
    with pytest.raises(NotMountedError):
        mounter.unmount()
    with pytest.raises(NotMountedError):
        unmount(Path("/proc"), mounter.cache)


def test_a_folder_in_use_stays_mounted_and_its_users_are_named(
    dataset: LocalDataset, mounter: Mounter, kernel: None
) -> None:
    mounter.mount(dataset)
    with (mounter.folder / "0" / "02").open(), pytest.raises(MountBusyError) as caught:
        mounter.unmount()
    assert any(f"({os.getpid()})" in user for user in caught.value.users)
    assert shown(mounter.folder) == FILES
    mounter.unmount()


def test_unmounting_links_leaves_the_files_of_others(
    dataset: LocalDataset, mounter: Mounter
) -> None:
    mounter.mount(dataset, how="hardlinks")
    (mounter.folder / "0" / "mine").write_text("mine")
    (mounter.folder / "1" / "03").unlink()
    (mounter.folder / "1" / "03").write_text("replaced")
    assert mounter.unmount() == ["0/mine", "1/03"]
    assert shown(mounter.folder) == {"0/mine": b"mine", "1/03": b"replaced"}


def test_a_linked_file_that_was_written_to_is_made_anew(
    dataset: LocalDataset, mounter: Mounter
) -> None:
    mounter.mount(dataset, how="hardlinks")
    (mounter.folder / "1" / "03").chmod(0o644)
    (mounter.folder / "1" / "03").write_bytes(b"z" * len(FILES["1/03"]))
    mounter.folder = mounter.folder.with_name("again")
    mounter.mount(dataset, how="hardlinks")
    assert shown(mounter.folder) == FILES


def damage(dataset: LocalDataset, row: int) -> None:
    """Flip a bit of a file in its pack."""
    pack = dataset.pack_dir / f"{dataset.index.packs[dataset.index.pack_ids[row]].hex()}.tar"
    at = int(dataset.index.offsets[row]) + 100
    data = bytearray(pack.read_bytes())
    data[at] ^= 1
    pack.write_bytes(data)


def test_a_damaged_pack_is_never_shown(
    dataset: LocalDataset, mounter: Mounter, options: dict[str, object]
) -> None:
    damage(dataset, int(telling_files(FolderView(dataset.index))[1]))
    with pytest.raises((MountVerificationError, SampleDigestMismatchError)) as caught:
        mounter.mount(dataset, **options)
    assert dataset.index.packs[1].hex() in str(caught.value)
    assert not mounter.folder.exists()
    assert mounts(mounter.cache) == []


def test_damage_anywhere_is_found_when_every_file_is_checked(
    dataset: LocalDataset, mounter: Mounter, kernel: None
) -> None:
    damage(dataset, len(dataset) - 1)
    with pytest.raises(MountVerificationError, match="has other bytes"):
        mounter.mount(dataset, verify_all=True)


def test_packs_in_the_wrong_order_are_found(
    dataset: LocalDataset, tmp_path: Path, kernel: None
) -> None:
    write_image(FolderView(dataset.index), dataset.pack_dir, tmp_path / "image")
    packs = [dataset.pack_dir / f"{pack.hex()}.tar" for pack in dataset.index.packs]
    (tmp_path / "shown").mkdir()
    syscalls.mount_file_system("erofs", tmp_path / "image", tmp_path / "shown", packs[::-1], [])
    try:
        with pytest.raises(MountVerificationError):
            verify_mount(FolderView(dataset.index), tmp_path / "shown")
    finally:
        syscalls.unmount(tmp_path / "shown")


CRASHES = [
    ("erofs", "_begin", 1),
    ("erofs", "write", 1),
    ("erofs", "write_image", 1),
    ("erofs", "mount_file_system", 1),
    ("erofs", "verify_mount", 1),
    ("loop", "mount_file_system", 1),
    ("hardlinks", "_link", 7),
    ("fuse", "mount_fuse", 1),
]


@pytest.mark.parametrize(("how", "name", "nth"), CRASHES)
def test_a_kill_while_mounting_hinders_neither_mounting_nor_unmounting(
    dataset: LocalDataset, mounter: Mounter, how: str, name: str, nth: int
) -> None:
    if reason := why_not(how):
        pytest.skip(reason)
    done = mount_elsewhere(dataset, mounter, how, KILL.format(name=name, nth=nth))
    assert done.returncode == -signal.SIGKILL, done.stderr
    mounter.mount(dataset, how="hardlinks")
    assert shown(mounter.folder) == FILES
    mounter.unmount()
    assert mounter.kept() == {".lock"}
    assert str(mounter.folder).replace(" ", "\\040") not in Path("/proc/mounts").read_text()


def test_a_mount_outlives_its_process(
    dataset: LocalDataset, mounter: Mounter, options: dict[str, object]
) -> None:
    done = mount_elsewhere(dataset, mounter, str(options["how"]))
    assert done.stdout.split() == [options["how"]], done.stderr
    assert shown(mounter.folder) == FILES
    mounter.unmount()
    assert not mounter.folder.exists()


def test_a_folder_whose_server_was_killed_can_be_taken_away(
    dataset: LocalDataset, mounter: Mounter
) -> None:
    if reason := why_not("fuse"):
        pytest.skip(reason)
    mounter.mount(dataset, how="fuse")
    server = server_of(mounter.folder)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    # The kernel says "not connected", or "connection abort" to the first that asks.
    with pytest.raises(OSError, match="connect"):
        os.listdir(mounter.folder)
    mounter.unmount()
    assert not mounter.folder.exists()


def test_a_server_holds_its_packs_until_the_folder_is_taken_away(mounter: Mounter) -> None:
    if reason := why_not("fuse"):
        pytest.skip(reason)
    dataset = dataset_of(mounter.cache, FILES, packs=2)
    mounter.mount(dataset, how="fuse")
    room = PackRoom(PackStore(mounter.cache), 0)
    assert not room.shrink()
    assert dataset.missing_packs() == []
    assert shown(mounter.folder) == FILES
    mounter.unmount()
    await_end_of(mounter.folder)
    assert room.shrink()
    assert dataset.missing_packs() == list(dataset.index.packs)


def await_end_of(folder: Path) -> None:
    """Wait until the process that served a folder has noticed that this is gone."""
    for _ in range(500):
        if not servers_of(folder):
            return
        time.sleep(0.02)
    raise AssertionError("the server still runs")


def server_of(folder: Path) -> int:
    """The process that serves a folder."""
    (server,) = servers_of(folder)
    return server


def servers_of(folder: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            command = (process / "cmdline").read_bytes()
            if b"fuse_server" in command and os.fsencode(folder) in command:
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("how", ["erofs", "hardlinks"])
def test_a_path_that_is_a_file_and_a_folder_is_named_and_nothing_is_made(
    tmp_path: Path, mounter: Mounter, how: str
) -> None:
    if reason := why_not(how):
        pytest.skip(reason)
    dataset = dataset_of(tmp_path, {"a": b"1", "b/c": b"2", "b/c/d": b"3"})
    with pytest.raises(NameConflictError, match="'b/c' is a file and a folder"):
        mounter.mount(dataset, how=how)
    assert not mounter.folder.exists()
    assert mounts(mounter.cache) == []


def test_a_mount_that_the_machine_forgot_is_listed_as_gone_and_can_be_made_again(
    dataset: LocalDataset, mounter: Mounter, kernel: None
) -> None:
    mounter.mount(dataset)
    # A restart of the machine has this effect.
    syscalls.unmount(mounter.folder)
    assert [there for _, there in mounts(mounter.cache)] == [False]
    mounter.mount(dataset)
    assert shown(mounter.folder) == FILES


def test_a_damaged_record_is_an_error_that_names_its_file(
    dataset: LocalDataset, mounter: Mounter
) -> None:
    mounter.mount(dataset, how="hardlinks")
    (record,) = (mounter.cache / "mounts").glob("*.json")
    whole = record.read_bytes()
    for cut in (b"", whole[:40], b"{}", b"[]"):
        record.write_bytes(cut)
        with pytest.raises(MountRecordError, match=record.name):
            mounter.unmount()
    record.write_bytes(whole)


def test_of_two_mounts_at_once_one_is_refused(dataset: LocalDataset, mounter: Mounter) -> None:
    found: list[str] = []

    def try_it() -> None:
        try:
            found.append(mounter.mount(dataset).state)
        except AtomError as error:
            found.append(error.code)

    threads = [threading.Thread(target=try_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["mount_already", "mounted"]
