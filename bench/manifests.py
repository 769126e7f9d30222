"""Manifests at scale: commit, diff, lookup and memory from ten thousand to a billion entries.

Up to ten million, every entry exists: generated rows, real ranges on the disk. The billion has a
real root and real groups, but only a few of its ranges are there to be read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import pyarrow as pa
from blake3 import blake3

from atom_sdk.manifests import (
    Changes,
    Entry,
    FolderObjectStore,
    Listing,
    Root,
    apply_changes,
    build_root,
    diff_roots,
    entries_table,
    read_range,
    read_root,
    write_root,
)
from atom_sdk.manifests.build import merge_entries, write_range
from atom_sdk.manifests.entries import DIGEST, ENTRY_SCHEMA
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.roots.roots import make_root
from bench.harness import Result, peak_mib, say

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
BILLION = 1_000_000_000
T = TypeVar("T")
_BLOCK_ROWS = 100_000
_RANGE_ROWS = 4096
_CHANGED_SHARE = 100
# Each with another change to the same version, whose diff nobody has read before.
_ROUNDS = 5


@dataclass(frozen=True)
class Measured:
    """The measures of one process for one size; times in seconds, memory in MiB."""

    build_s: float
    manifest_bytes: int
    commit_scattered_s: float
    commit_scattered_share: float
    diff_scattered_s: float
    commit_clustered_s: float
    commit_clustered_share: float
    diff_clustered_s: float
    lookup_s: float
    peak_mib: float


def run(scratch: Path, most: int = SIZES[-1]) -> list[Result]:
    """Measure every size up to `most` in a process of its own, then the billion."""
    results: list[Result] = []
    for size in (size for size in SIZES if size <= most):
        say(f"manifests: {size:,} entries")
        found = _in_a_process(size, scratch / f"{size}")
        results += [
            Result(f"manifest {size:,}: {name}", round(value, 4), unit)
            for name, value, unit in _lines(found)
        ]
    return results + _billion(scratch / "billion")


def _lines(found: Measured) -> Iterator[tuple[str, float, str]]:
    yield "build", found.build_s, "s"
    yield "commit of 1 % scattered", found.commit_scattered_s, "s"
    yield "commit of 1 % scattered writes", 100 * found.commit_scattered_share, "% of manifest"
    yield "diff of 1 % scattered", 1000 * found.diff_scattered_s, "ms"
    yield "commit of 1 % clustered", found.commit_clustered_s, "s"
    yield "commit of 1 % clustered writes", 100 * found.commit_clustered_share, "% of manifest"
    yield "diff of 1 % clustered", 1000 * found.diff_clustered_s, "ms"
    yield "lookup of one path, cold", 1000 * found.lookup_s, "ms"
    yield "memory at most", found.peak_mib, "MiB"


def _in_a_process(size: int, folder: Path) -> Measured:
    command = [sys.executable, "-m", "bench.manifests", str(size), str(folder)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(**json.loads(answer.stdout))


def measure(size: int, folder: Path) -> Measured:
    """Build a dataset of `size` generated entries and change one per cent of it in two ways."""
    store = FolderObjectStore(folder)
    build_s, root = _timed(lambda: build_root(generated(size), store))
    manifest_bytes = _stored_bytes(folder)
    few = size // _CHANGED_SHARE
    spread = _median(
        _change(root, edited(range(start, size, _CHANGED_SHARE)), store, folder)
        for start in range(_ROUNDS)
    )
    half = size // 2
    dense = _median(
        _change(root, edited(range(start, start + few)), store, folder)
        for start in range(half, half + _ROUNDS * few, few)
    )
    lookup_s, _ = _timed(lambda: Listing(spread.root, store).lookup(path_of(size // 3)))
    return Measured(
        build_s=build_s,
        manifest_bytes=manifest_bytes,
        commit_scattered_s=spread.commit_s,
        commit_scattered_share=spread.written_bytes / manifest_bytes,
        diff_scattered_s=spread.diff_s,
        commit_clustered_s=dense.commit_s,
        commit_clustered_share=dense.written_bytes / manifest_bytes,
        diff_clustered_s=dense.diff_s,
        lookup_s=lookup_s,
        peak_mib=peak_mib(),
    )


@dataclass(frozen=True)
class _Changed:
    root: Root
    commit_s: float
    written_bytes: int
    diff_s: float


def _change(root: Root, edits: pa.Table, store: FolderObjectStore, folder: Path) -> _Changed:
    before = _stored_bytes(folder)
    commit_s, new = _timed(lambda: apply_changes(root, Changes(edits), store))
    write_root(new, store)
    written = _stored_bytes(folder) - before
    # The first reading is the one that a user waits for: nothing of the delta is decoded yet. It
    # says which files differ and how; their rows are read when somebody opens them.
    diff_s, diff = _timed(lambda: diff_roots(root, new, store))
    if diff.changed_paths != edits["path"].combine_chunks():
        raise AssertionError(f"the diff has {len(diff.changed_paths)} of {len(edits)} changes")
    return _Changed(new, commit_s, written, diff_s)


def _median(rounds: Iterable[_Changed]) -> _Changed:
    """The last round, with the medians of all."""
    *others, last = rounds
    every = [*others, last]
    return replace(
        last,
        commit_s=median(each.commit_s for each in every),
        written_bytes=int(median(each.written_bytes for each in every)),
        diff_s=median(each.diff_s for each in every),
    )


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    done = work()
    return time.perf_counter() - started, done


def _stored_bytes(folder: Path) -> int:
    return sum(entry.stat().st_size for sub in os.scandir(folder) for entry in os.scandir(sub))


def path_of(number: int) -> str:
    return f"train/{number // 1000:06d}/{number:09d}.jpg"


def generated(size: int) -> Iterator[pa.Table]:
    for start in range(0, size, _BLOCK_ROWS):
        yield _block(range(start, min(start + _BLOCK_ROWS, size)))


def _block(numbers: range) -> pa.Table:
    rows = len(numbers)
    stream = blake3(str(numbers.start).encode()).digest(length=32 * rows)
    packs = [blake3(str(number // 4000).encode()).digest() for number in numbers]
    sizes = np.random.default_rng(numbers.start).integers(1_000, 60_000, rows)
    columns = {
        "path": pa.array([path_of(number) for number in numbers]),
        "size": pa.array(sizes),
        "digest": pa.FixedSizeBinaryArray.from_buffers(DIGEST, rows, [None, pa.py_buffer(stream)]),
        "media_type": pa.array(["image/jpeg"] * rows),
        "pack": pa.array(packs, DIGEST),
        "offset": pa.array(np.arange(rows) % 4000 * 4096 * 15),
    }
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in ENTRY_SCHEMA]
    return pa.Table.from_arrays(arrays, schema=ENTRY_SCHEMA)


def edited(numbers: range) -> pa.Table:
    digest = blake3(b"another content").digest()
    return entries_table(
        Entry(path, 77, blake3(path.encode()).digest(), "image/jpeg", None, digest, 4096)
        for path in map(path_of, numbers)
    )


def _billion(folder: Path) -> list[Result]:
    """Open, look up and compare roots over a billion entries."""
    store = FolderObjectStore(folder)
    root = make_root(_billion_ranges(store))
    digests = write_root(root, store), write_root(_with_one_change(root, store), store)
    # Reads from the disk, as a new process does.
    open_s, old = _timed(lambda: read_root(digests[0], store))
    middle = path_of(BILLION // 2 + 17)
    lookup_s, _ = _timed(lambda: Listing(old, store).lookup(middle))
    new = read_root(digests[1], store)
    diff_s, diff = _timed(lambda: diff_roots(read_root(digests[0], store), new, store))
    if len(diff.changed_paths) != 1:
        raise AssertionError("the diff does not find the one change")
    names = ("root opened", open_s), ("path looked up", lookup_s), ("diff of one change", diff_s)
    return [Result(f"manifest 1,000,000,000: {name}", round(1e3 * s, 2), "ms") for name, s in names]


def _billion_ranges(store: FolderObjectStore) -> Iterator[RangeRef]:
    middle = BILLION // 2 // _RANGE_ROWS
    for number in range(BILLION // _RANGE_ROWS):
        first = number * _RANGE_ROWS
        if number == middle:
            yield write_range(_block(range(first, first + _RANGE_ROWS)), store, {})
            continue
        digest = blake3(b"%d" % number).digest()
        last = first + _RANGE_ROWS - 1
        yield RangeRef(path_of(first), path_of(last), _RANGE_ROWS, 10**8, digest, digest)


def _with_one_change(root: Root, store: FolderObjectStore) -> Root:
    parts = list(root.ranges)
    middle = BILLION // 2 // _RANGE_ROWS
    table = read_range(parts[middle], store)
    changed = edited(range(middle * _RANGE_ROWS + 1, middle * _RANGE_ROWS + 2))
    parts[middle] = write_range(merge_entries(table, changed, ()), store, {})
    return make_root(parts)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), Path(sys.argv[2])).__dict__))
