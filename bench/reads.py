"""Random full reads: the SDK's zero-copy reader against `open().read()` on other folders.

Right before each warm measure the same reads are done once untimed, as in `bench.posix`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.packs.plan import PackPlan, plan_packs
from atom_sdk.packs.processes import FolderPacker, packing_processes
from atom_sdk.packs.walk import walk_folder
from atom_sdk.readers import LocalDataset
from bench.corpus import write_files
from bench.harness import (
    PeerFailed,
    Result,
    again,
    cold_count,
    compare,
    drop_page_cache,
    interleave,
    seconds,
)
from bench.juicefs import NAME as JUICEFS
from bench.juicefs import JuiceFs

ROUNDS = 5


def run(scratch: Path, files: int, work: Path) -> list[Result]:
    """Return files per second, warm and cold, with the ratios to ext4 and JuiceFS."""
    folder = scratch / "files"
    write_files(folder, files)
    index, packs = pack_folder(folder, scratch)
    paths = [file.path for file in walk_folder(folder).files]
    others = {"ext4": folder}
    failures: dict[str, str] = {}
    with ExitStack() as stack:
        try:
            at = stack.enter_context(JuiceFs.holding(folder, scratch / "juicefs", work))
            others[JUICEFS] = at
        except PeerFailed as error:
            failures[JUICEFS] = str(error)
        everything = [*(folder / path for path in paths), *packs.iterdir()]
        return [
            *_compared("random read, warm", index, packs, _Others(others, failures, paths)),
            *_compared(
                "random read, cold", index, packs, _Others(others, failures, paths, everything)
            ),
        ]


@dataclass(frozen=True)
class _Others:
    """Folders that hold the same paths; pages of the files `cold` are forgotten before a round."""

    folders: Mapping[str, Path]
    failures: Mapping[str, str]
    paths: list[str]
    cold: list[Path] | None = None


def _compared(name: str, index: Path, packs: Path, others: _Others) -> list[Result]:
    contenders: dict[str, Callable[[], float]] = {"sdk": lambda: _sdk(index, packs, others.cold)}
    for peer, folder in others.folders.items():
        contenders[peer] = partial(_files, folder, others.paths, others.cold)
    if others.cold is None:
        contenders = {name: again(measure) for name, measure in contenders.items()}
    found = interleave(contenders, ROUNDS)
    found.failures.update(others.failures)
    return compare(name, "files/s", found.pop("sdk"), found)


def pack_folder(folder: Path, scratch: Path) -> tuple[Path, Path]:
    """Pack a folder as a push does; returns the view index and the packs."""
    packs = scratch / "packs"
    packs.mkdir()
    files = walk_folder(folder).files
    size_bytes = sum(file.size for file in files)
    with (
        FolderPacker(folder, size_bytes) as packer,
        ThreadPoolExecutor(packing_processes()) as pool,
    ):
        waiting = [pool.submit(_pack, packer, plan, packs) for plan in plan_packs(files)]
        tables = [future.result() for future in waiting]
    store = MemoryObjectStore()
    index = scratch / "view.arrow"
    build_view(build_root(tables, store), store, index)
    return index, packs


def _pack(packer: FolderPacker, plan: PackPlan, packs: Path) -> pa.Table:
    temporary = packs / plan.files[0].path.replace("/", "-")
    temporary.touch()
    summary = packer.write(plan.files, temporary)
    temporary.rename(packs / f"{summary.digest.hex()}.tar")
    return entries_table(
        Entry(m.path, m.size, m.digest, "image/jpeg", None, summary.digest, m.offset)
        for m in summary.members
    )


def _order(count: int, *, is_cold: bool) -> list[int]:
    order: list[int] = np.random.default_rng(11).permutation(count).tolist()
    return order[: cold_count(count)] if is_cold else order


def _sdk(index: Path, packs: Path, cold: list[Path] | None) -> float:
    if cold:
        drop_page_cache(cold)
    dataset = LocalDataset(index, packs, verify="never")
    order = _order(len(dataset), is_cold=cold is not None)
    return len(order) / seconds(lambda: _touch(dataset, order))


def _touch(dataset: LocalDataset, order: list[int]) -> int:
    total = 0
    for sample in dataset.read_many(order):
        # One byte of every page, so that the kernel really brings them all: what a decoder does
        # with the bytes afterwards costs the same wherever they come from.
        total += len(bytes(sample.data[::4096]))
    return total


def _files(folder: Path, paths: list[str], cold: list[Path] | None) -> float:
    if cold:
        drop_page_cache(cold)
    names = [f"{folder}/{path}" for path in paths]
    order = _order(len(names), is_cold=cold is not None)

    def read_all() -> None:
        for index in order:
            with open(names[index], "rb") as file:
                file.read()

    return len(order) / seconds(read_all)
