"""A mounted version against plain files and a JuiceFS mount, with `open().read()` and `os.walk`.

Warm reads use a buffered mount, cold ones a mount past the page cache (`--direct-io`): what the
command's help advises for each. Right before each warm measure the same work is done once untimed:
a machine may take back memory that lay idle while the other contenders had their turn.
"""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from atom_sdk.manifests import MemoryObjectStore, build_root, build_view
from atom_sdk.manifests.entries import DIGEST, ENTRY_SCHEMA
from atom_sdk.mount import MountOptions, mount, syscalls, unmount
from atom_sdk.mount.erofs import write_image
from atom_sdk.mount.errors import MountUnavailableError
from atom_sdk.readers import LocalDataset, ViewIndex
from atom_sdk.readers.folder_view import FolderView
from bench.corpus import write_files
from bench.harness import (
    PeerFailed,
    Result,
    again,
    cold_count,
    compare,
    drop_page_cache,
    failed,
    interleave,
    seconds,
)
from bench.juicefs import NAME as JUICEFS
from bench.juicefs import JuiceFs
from bench.reads import pack_folder

ROUNDS = 5
IMAGE_FILES = 1_000_000
MOUNT_PACKS = 4096


def run(scratch: Path, files: int, work: Path) -> list[Result]:
    """Return files per second by kind of access."""
    folder = scratch / "files"
    write_files(folder, files)
    dataset = LocalDataset(*pack_folder(folder, scratch))
    with ExitStack() as stack:
        try:
            warm = stack.enter_context(_mounted(dataset, scratch, "warm", direct_io=False))
            cold = stack.enter_context(_mounted(dataset, scratch, "cold", direct_io=True))
        except MountUnavailableError as error:
            return [failed("folder read", str(error))]
        others, failures = {"ext4": folder}, []
        try:
            at = stack.enter_context(JuiceFs.holding(folder, scratch / "juicefs", work))
            others[JUICEFS] = at
        except PeerFailed as error:
            failures = [failed("folder read, warm", str(error), JUICEFS)]
        paths = [dataset.index.path_of(row) for row in range(len(dataset))]
        order = np.random.default_rng(11).permutation(paths).tolist()
        everything = [*dataset.pack_dir.iterdir(), *(folder / path for path in paths)]
        results = _compared("folder read, warm", warm, others, again(lambda at: _read(at, order)))
        results += _compared("folder walk and stat", warm, others, again(_walk))
        few = order[: cold_count(files)]
        results += _compared(
            "folder read, cold", cold, others, lambda at: _read(at, few, everything)
        )
    return results + failures


def run_images(scratch: Path) -> list[Result]:
    """Return what it costs to make a mount of many files, and of many packs."""
    return _images(scratch) + _many_packs(scratch)


@contextmanager
def _mounted(dataset: LocalDataset, scratch: Path, name: str, direct_io: bool) -> Iterator[Path]:
    cache, folder = scratch / "cache", scratch / name
    mount(dataset, folder, cache, name, MountOptions("erofs", direct_io))
    try:
        yield folder
    finally:
        unmount(folder, cache)


def _compared(
    name: str, view: Path, others: Mapping[str, Path], work: Callable[[Path], float]
) -> list[Result]:
    contenders = {"view": view, **others}
    runs = {key: (lambda at=at: work(at)) for key, at in contenders.items()}
    found = interleave(runs, ROUNDS)
    return compare(name, "files/s", found.pop("view"), found)


def _read(folder: Path, order: list[str], cold: list[Path] | None = None) -> float:
    if cold:
        drop_page_cache(cold)

    def read_all() -> None:
        for path in order:
            with open(f"{folder}/{path}", "rb") as file:
                file.read()

    return len(order) / seconds(read_all)


def _walk(folder: Path) -> float:
    count = 0

    def walk() -> None:
        nonlocal count
        for where, _, names in os.walk(folder):
            for name in names:
                os.stat(f"{where}/{name}")
            count += len(names)

    took_s = seconds(walk)
    return count / took_s


def _images(scratch: Path) -> list[Result]:
    """Seconds to write the image of a million generated entries."""
    index = _generated(scratch / "image", IMAGE_FILES, 64)
    packs, image = scratch / "image" / "packs", scratch / "image" / "image"
    took = [seconds(lambda: write_image(FolderView(index), packs, image)) for _ in range(ROUNDS)]
    shutil.rmtree(scratch / "image")
    return [Result(f"image of {IMAGE_FILES:,} files", round(statistics.median(took), 3), "s")]


def _many_packs(scratch: Path) -> list[Result]:
    """Milliseconds to mount an image over thousands of packs."""
    index = _generated(scratch / "many", MOUNT_PACKS * 4, MOUNT_PACKS)
    folder, image = scratch / "many" / "mounted", scratch / "many" / "image"
    folder.mkdir()
    write_image(FolderView(index), scratch / "many" / "packs", image)
    packs = [scratch / "many" / "packs" / f"{pack.hex()}.tar" for pack in index.packs]
    took = []
    for _ in range(ROUNDS):
        took.append(seconds(lambda: syscalls.mount_file_system("erofs", image, folder, packs, [])))
        syscalls.unmount(folder)
    shutil.rmtree(scratch / "many")
    took_ms = round(1000 * statistics.median(took), 3)
    return [Result(f"mount of {MOUNT_PACKS:,} packs", took_ms, "ms")]


def _generated(folder: Path, files: int, packs: int) -> ViewIndex:
    """A view of entries that were never files, over packs that are holes."""
    (folder / "packs").mkdir(parents=True)
    digests = [number.to_bytes(32, "big") for number in range(1, packs + 1)]
    blocks = -(-files // packs)
    for digest in digests:
        with (folder / "packs" / f"{digest.hex()}.tar").open("wb") as file:
            file.truncate(blocks * 4096)
    rows = np.arange(files)
    columns = {
        "path": pa.array([f"class{row // 1000:05d}/{row:08d}.jpg" for row in range(files)]),
        "size": pa.array(1 + rows % 4096),
        "digest": pa.array(digests, DIGEST).take(pa.array(rows % packs)),
        "pack": pa.array(digests, DIGEST).take(pa.array(rows // blocks)),
        "offset": pa.array(rows % blocks * 4096),
    }
    arrays = [columns.get(field.name, pa.nulls(files, field.type)) for field in ENTRY_SCHEMA]
    entries = pa.Table.from_arrays(arrays, schema=ENTRY_SCHEMA)
    store = MemoryObjectStore()
    build_view(build_root([entries], store), store, folder / "view.arrow")
    return ViewIndex(folder / "view.arrow")
