"""Random full reads: the SDK's zero-copy reader against `open().read()` on plain files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, build_view, entries_table
from atom_sdk.packs.plan import plan_packs
from atom_sdk.packs.walk import walk_folder
from atom_sdk.packs.writer import FileSink, write_pack
from atom_sdk.readers import LocalDataset
from bench.corpus import write_files
from bench.harness import Result, compare, drop_page_cache, interleave, seconds

ROUNDS = 5


def run(scratch: Path, files: int) -> list[Result]:
    """Return images per second, warm and cold, with the ratio to ext4."""
    folder = scratch / "files"
    write_files(folder, files)
    index, packs = pack_folder(folder, scratch)
    paths = [str(folder / file.path) for file in walk_folder(folder).files]
    everything = [*map(Path, paths), *packs.iterdir()]
    results: list[Result] = []
    for state in ("warm", "cold"):
        cold = everything if state == "cold" else None
        found = interleave(
            {
                "sdk": lambda: _sdk(index, packs, cold),  # noqa: B023  # called in this round
                "files": lambda: _files(paths, cold),  # noqa: B023
            },
            # The first warm round fills the page cache and is thrown away.
            ROUNDS + 1,
        )
        kept = {name: values[1:] for name, values in found.items()}
        results += compare(f"random read, {state}", "files/s", kept["sdk"], {"ext4": kept["files"]})
    return results


def pack_folder(folder: Path, scratch: Path) -> tuple[Path, Path]:
    """Pack a folder as a push does; returns the view index and the folder of packs."""
    packs = scratch / "packs"
    packs.mkdir()
    entries: list[Entry] = []
    for plan in plan_packs(walk_folder(folder).files):
        temporary = packs / "incoming"
        with temporary.open("wb") as out:
            summary = write_pack(plan.files, folder, FileSink(out.fileno()))
        temporary.rename(packs / f"{summary.digest.hex()}.tar")
        entries += [
            Entry(m.path, m.size, m.digest, "image/jpeg", None, summary.digest, m.offset)
            for m in summary.members
        ]
    store = MemoryObjectStore()
    index = scratch / "view.arrow"
    build_view(build_root([entries_table(entries)], store), store, index)
    return index, packs


def _order(count: int) -> list[int]:
    order: list[int] = np.random.default_rng(11).permutation(count).tolist()
    return order


def _sdk(index: Path, packs: Path, cold: list[Path] | None) -> float:
    if cold:
        drop_page_cache(cold)
    dataset = LocalDataset(index, packs, verify="never")
    order = _order(len(dataset))
    return len(order) / seconds(lambda: _touch(dataset, order))


def _touch(dataset: LocalDataset, order: list[int]) -> int:
    total = 0
    for sample in dataset.read_many(order):
        # One byte of every page, so that the kernel really brings them all: what a decoder does
        # with the bytes afterwards costs the same wherever they come from.
        total += len(bytes(sample.data[::4096]))
    return total


def _files(paths: list[str], cold: list[Path] | None) -> float:
    if cold:
        drop_page_cache(cold)
    order = _order(len(paths))

    def read_all() -> None:
        for index in order:
            with open(paths[index], "rb") as file:
                file.read()

    return len(order) / seconds(read_all)
