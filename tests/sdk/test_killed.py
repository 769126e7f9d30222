"""SIGKILL while files are written: nothing half is under a final name, and the next try is whole.

Also what makes files large: a system call that reads or writes less than it was asked to.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.client.progress import Silent
from atom_sdk.client.pull.pull import write_entry
from atom_sdk.errors import SampleDigestMismatchError
from atom_sdk.export import export_dataset
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.packs import PackStore
from atom_sdk.readers import LocalDataset
from tests.sdk.killed_child import WAYS, carry_out
from tests.sdk.packs.strategies import packed

# The second would be the first one's temporary name, if names were made of names.
FILES = {
    "a": b"first" * 500,
    ".a.part": b"second" * 300,
    "b/" + "中" * 84: b"a name of 252 bytes" * 100,
    "b/empty": b"",
}


def stored(files: dict[str, bytes], folder: Path) -> tuple[Path, PackStore, list[Entry]]:
    """A version on this machine: its view, its packs, its entries."""
    data, summary = packed(files)
    store = PackStore(folder / "cache")
    store.fill(summary.digest, [data])
    entries = [
        Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
        for m in summary.members
    ]
    objects = MemoryObjectStore()
    build_view(build_root([entries_table(entries)], objects), objects, folder / "view.arrow")
    return folder / "view.arrow", store, entries


def shown(folder: Path) -> dict[str, bytes]:
    """Files below a folder that have their final names."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if name in FILES or not (path.name.startswith(".") or path.name.endswith(".part"))
    }


def test_after_a_kill_everything_under_a_final_name_is_whole(tmp_path: Path) -> None:
    view, store, _ = stored(FILES, tmp_path)
    target = tmp_path / "target"
    command = [
        sys.executable,
        "-m",
        "tests.sdk.killed_child",
        *map(str, [view, store.packs, target]),
    ]
    done = subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for way in WAYS:
        tries = sorted((target / way).iterdir(), key=lambda path: int(path.name))
        whole = shown(tries[-1] / "shown")
        assert len(tries) > len(whole) > 1, way
        if way in {"pull", "mount", "folder"}:
            assert whole == FILES, way
        for killed in tries[1:-1]:
            half = shown(killed / "shown")
            assert half.items() <= whole.items(), (way, killed.name)
        if way != "mount":
            # One that was killed in the middle goes on.
            killed = tries[len(tries) // 2]
            carry_out(way, view, store.packs, killed)
            assert shown(killed / "shown") == whole, way


def test_what_one_call_does_not_read_or_write_the_next_ones_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"large": bytes(range(256)) * 64, "small": b"x"}
    view, store, entries = stored(files, tmp_path)
    pread, write = os.pread, os.write
    # As Linux does beyond 2 GiB.
    monkeypatch.setattr(os, "pread", lambda file, size, at: pread(file, min(size, 1000), at))
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:700]))
    for entry in entries:
        write_entry(store, entry, tmp_path / "pulled")
    export_dataset(LocalDataset(view, store.packs), tmp_path / "exported", "folder", Silent())
    for path, data in files.items():
        assert (tmp_path / "pulled" / path).read_bytes() == data
        assert (tmp_path / "exported" / path).read_bytes() == data


def test_a_pack_that_was_cut_off_is_never_written_as_a_file(tmp_path: Path) -> None:
    _, store, entries = stored({"a": b"x" * 10_000}, tmp_path)
    assert entries[0].pack is not None
    assert entries[0].offset is not None
    path = store.path(entries[0].pack)
    path.chmod(0o644)
    os.truncate(path, entries[0].offset + 5000)
    with pytest.raises(SampleDigestMismatchError):
        write_entry(store, entries[0], tmp_path / "pulled")
    assert list((tmp_path / "pulled").iterdir()) == []
