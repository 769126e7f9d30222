"""The limits of a mounted folder: bytes that it hides, shows beyond a file, or keeps for the next
mount.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest
from blake3 import blake3

from atom_sdk.client.pull.mounts import require_complete
from atom_sdk.manifests import Entry
from atom_sdk.mount.errors import IncompleteViewError
from atom_sdk.mount.hardlinks import spare_limit_bytes, trim_copies
from atom_sdk.readers import LocalDataset
from tests.sdk.mount.conftest import Mounter, dataset_of, write_view
from tests.sdk.packs.strategies import packed

PAGES = 8192


def mapped(path: Path) -> bytes:
    """Two pages of a file as a program that maps it sees them, whatever its size."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    with path.open("rb") as file:
        readable, private = 1, 2
        address = libc.mmap(None, PAGES, readable, private, file.fileno(), 0)
    found = ctypes.string_at(address, PAGES)
    libc.munmap(ctypes.c_void_p(address), PAGES)
    return found


def test_a_map_never_shows_the_bytes_of_another_file(
    mounter: Mounter, tmp_path: Path, options: dict[str, object]
) -> None:
    """Beyond a file's end the kernel's ways show the next member's header, the others zeros."""
    first, second = b"a" * 5000, b"\xbb" * 5000
    mounter.mount(dataset_of(tmp_path, {"first": first, "second": second}), **options)
    found = mapped(mounter.folder / "first")
    assert found[:5000] == first
    assert b"\xbb\xbb" not in found
    has_zeros = found[5000:] == bytes(PAGES - 5000)
    assert has_zeros == (options["how"] in {"hardlinks", "fuse"})


def test_a_version_with_files_in_no_pack_is_not_mounted(tmp_path: Path) -> None:
    data, summary = packed({"packed": b"here"})
    (tmp_path / f"{summary.digest.hex()}.tar").write_bytes(data)
    [member] = summary.members
    entries = [
        Entry("packed", 4, member.digest, None, None, summary.digest, member.offset),
        Entry("waits", 5, blake3(b"later").digest()),
    ]
    dataset = LocalDataset(write_view(tmp_path, entries), tmp_path)
    require_complete(dataset, 1)
    with pytest.raises(IncompleteViewError, match="Only 1 of the version's 2 files"):
        require_complete(dataset, 2)


def test_copies_that_no_mount_uses_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = Mounter(tmp_path / "old"), Mounter(tmp_path / "new")
    new.cache = old.cache
    old.mount(dataset_of(tmp_path / "1", {"a": b"a" * 600, "b": b"b" * 600}), how="hardlinks")
    new.mount(dataset_of(tmp_path / "2", {"b": b"b" * 600, "c": b"c" * 600}), how="hardlinks")

    def copies() -> set[bytes]:
        return {path.read_bytes()[:1] for path in (old.cache / "files").glob("??/*")}

    monkeypatch.setenv("ATOM_MOUNT_COPIES_BYTES", "0")
    trim_copies(old.cache)
    assert copies() == {b"a", b"b", b"c"}
    old.unmount()
    assert copies() == {b"b", b"c"}
    assert (new.folder / "b").read_bytes() == b"b" * 600

    monkeypatch.setenv("ATOM_MOUNT_COPIES_BYTES", "600")
    # Unlinked one after the other: what was linked last is kept.
    os.unlink(new.folder / "c")
    os.unlink(new.folder / "b")
    trim_copies(old.cache)
    assert copies() == {b"b"}
    new.unmount()

    monkeypatch.setenv("ATOM_MOUNT_COPIES_BYTES", "a lot")
    with pytest.raises(ValueError, match="ATOM_MOUNT_COPIES_BYTES"):
        spare_limit_bytes()
