"""Datasets of any files as a node sees them, and what this machine can mount."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from ctypes.util import find_library
from pathlib import Path

import pytest

from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.manifests.links import link_entry
from atom_sdk.manifests.views import ViewSelector
from atom_sdk.mount import MountOptions, MountRecord, mount, mounts, unmount
from atom_sdk.readers import LocalDataset
from tests.sdk.packs.strategies import packed

Files = dict[str, bytes]


def write_view(folder: Path, entries: list[Entry], selector: ViewSelector | None = None) -> Path:
    """The view index of some entries."""
    store = MemoryObjectStore()
    root = build_root([entries_table(entries)], store)
    build_view(root, store, folder / "view.arrow", selector)
    return folder / "view.arrow"


def dataset_of(
    folder: Path,
    files: Mapping[str, bytes],
    packs: int = 1,
    links: Mapping[str, str] | None = None,
    selector: ViewSelector | None = None,
) -> LocalDataset:
    """A dataset of these files, spread over some packs, and of links with their targets."""
    (folder / "packs").mkdir(parents=True)
    entries: list[Entry] = []
    ordered = sorted(files)
    for number in range(packs):
        data, summary = packed({path: files[path] for path in ordered[number::packs]})
        (folder / "packs" / f"{summary.digest.hex()}.tar").write_bytes(data)
        entries += [
            Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
            for m in summary.members
        ]
    entries += [link_entry(path, target) for path, target in (links or {}).items()]
    entries.sort(key=lambda entry: entry.path.encode())
    return LocalDataset(write_view(folder, entries, selector), folder / "packs")


def why_not(how: str) -> str | None:
    """Why this machine cannot mount in some way, judged without the code under test."""
    if how == "hardlinks":
        return None
    if how == "fuse":
        found = os.access("/dev/fuse", os.W_OK) and (find_library("fuse3") or find_library("fuse"))
        return None if found and os.geteuid() == 0 else "needs root, /dev/fuse and libfuse"
    if os.geteuid() != 0 or "erofs" not in Path("/proc/filesystems").read_text():
        return "needs root and a kernel with EROFS"
    if how == "loop":
        return None if os.access("/dev/loop-control", os.W_OK) else "needs loop devices"
    release = tuple(int(part) for part in platform.release().split(".")[:2])
    return None if release >= (6, 12) else "needs Linux 6.12"


class Mounter:
    """Mounts below one folder and takes everything away at the end."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.folder = folder / "a folder"

    def mount(self, dataset: LocalDataset, **options: object) -> MountRecord:
        chosen = MountOptions(**options)  # type: ignore[arg-type]  # a test's own words
        return mount(dataset, self.folder, self.cache, "pets@v1", chosen)

    def unmount(self) -> list[str]:
        return unmount(self.folder, self.cache)[1]

    def kept(self) -> set[str]:
        """Suffixes of the files that are kept for mounts."""
        return {path.suffix for path in (self.cache / "mounts").iterdir()}


@pytest.fixture
def mounter(tmp_path: Path) -> Iterator[Mounter]:
    mounter = Mounter(tmp_path)
    yield mounter
    for record, _ in mounts(mounter.cache):
        unmount(Path(record.folder), mounter.cache)


@pytest.fixture(params=["erofs", "erofs past the page cache", "loop", "hardlinks", "fuse"])
def options(request: pytest.FixtureRequest) -> dict[str, object]:
    """Each way to mount that this machine allows."""
    how, _, direct_io = request.param.partition(" ")
    if reason := why_not(how):
        pytest.skip(reason)
    return {"how": how, "direct_io": bool(direct_io)}


@pytest.fixture
def kernel() -> None:
    """Skip where the kernel cannot show packs."""
    if reason := why_not("erofs"):
        pytest.skip(reason)
