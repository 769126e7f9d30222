"""Peak memory of what the platform does with millions of entries, each in a process of its own.

The entries are generated; the functions are those that the client, the web tasks and the garbage
collection call. A process gets 12 GiB of address space at most.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from atom.datasets.packs.engines.digest_runs import without
from atom.datasets.retention.engines.reachable import KINDS, Reachable
from atom.datasets.versions.engines.large_changes import read_changes
from atom.datasets.versions.engines.source_runs import (
    RUN_ROWS,
    RunRef,
    decode_run,
    encode_run,
    merge_runs,
    registered_entry,
)
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import build_version
from atom_sdk.client.progress import Silent
from atom_sdk.client.push.changes_file import CHANGES_SCHEMA, write_changes
from atom_sdk.client.push.packed_rows import in_path_order, packed_rows, rows_of
from atom_sdk.client.push.scan import DigestCache, Parent, compare
from atom_sdk.importers.collection import ImportContents
from atom_sdk.manifests import (
    Changes,
    FolderObjectStore,
    apply_changes,
    build_root,
    diff_roots,
    read_root,
    write_root,
)
from atom_sdk.manifests.pins import Pin
from atom_sdk.packs.file_list import FileList
from atom_sdk.packs.paths import case_collisions
from atom_sdk.packs.plan import SourceFile, plan_packs
from atom_sdk.packs.writer import PackMember, PackSummary
from bench import memory_onto
from bench.harness import Result, failed, peak_mib, say
from bench.manifests import edited, generated, path_of

MOST_BYTES = 12 << 30
_FILE_BYTES = 30_000
_STEP = 100


def run(scratch: Path, entries: int) -> list[Result]:
    """Return MiB for every step; those that read a version share one that is built first."""
    results = []
    for name in STEPS:
        say(f"memory: {name}")
        line = f"memory of {entries:,} entries: {name}"
        command = [sys.executable, "-m", "bench.memory", name, str(entries), str(scratch)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
            reason = "more than 12 GiB" if "MemoryError" in lines[-1] else lines[-1]
            results.append(failed(line, reason))
        else:
            results.append(Result(line, round(float(done.stdout)), "MiB"))
    return results


def build(entries: int, folder: Path) -> None:
    """Build two versions, of which the second differs in one per cent of the entries."""
    store = FolderObjectStore(folder / "objects")
    old = build_root(generated(entries), store)
    new = apply_changes(old, Changes(edited(range(0, entries, _STEP))), store)
    (folder / "roots").write_bytes(write_root(old, store) + write_root(new, store))


def diff(entries: int, folder: Path) -> None:
    """Compare them."""
    store = FolderObjectStore(folder / "objects")
    old, new = (read_root(digest, store) for digest in _roots(folder))
    found = len(diff_roots(old, new, store).changed_paths)
    if found != -(-entries // _STEP):
        raise AssertionError(f"{found} changes were found")


def collect(entries: int, folder: Path) -> None:
    """Mark what the second version needs, and look for what only the first one did."""
    store = FolderObjectStore(folder / "objects")
    reachable = Reachable(folder / "runs")
    reachable.add_root(_roots(folder)[1], store)
    for kind in KINDS:
        stored = sorted(
            bytes.fromhex(path.stem) for path in (folder / "objects" / kind).glob("*.*")
        )
        for _ in without(stored, reachable.digests(kind), lambda digest: digest):
            pass


def _roots(folder: Path) -> list[bytes]:
    data = (folder / "roots").read_bytes()
    return [data[:32], data[32:]]


def register(entries: int, folder: Path) -> None:
    """List objects into runs, merge these, and build the version."""
    store = FolderObjectStore(folder / "registered")
    runs = [
        _write_run(range(start, min(start + RUN_ROWS, entries)), store)
        for start in range(0, entries, RUN_ROWS)
    ]
    build_root(merge_runs(runs, lambda name: decode_run(store.get(name))), store)


def _write_run(numbers: range, store: FolderObjectStore) -> RunRef:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    pins = (Pin("source", path_of(n), _FILE_BYTES, None, f"{n:032x}", then) for n in numbers)
    found = [entry for pin in pins if (entry := registered_entry(pin, "image/jpeg"))]
    name = f"runs/{numbers.start}"
    store.put(name, encode_run(found))
    return RunRef(name, found[0].path, found[-1].path)


def push_client(entries: int, folder: Path) -> None:
    """Hold the listing, look for colliding names, plan the packs, write changes and digests."""
    os.environ["ATOM_CACHE"] = str(folder / "cache")
    files = FileList(SourceFile(path_of(n), _FILE_BYTES, n) for n in range(entries))
    case_collisions(lambda: (file.path for file in files))
    cache = DigestCache(folder / "cache", ImportContents(bytes(folder), {}))
    scan = compare(files, Parent(), cache, Silent(), folder)
    with packed_rows() as packed:
        for plan in plan_packs(scan.new):
            pack = blake3(plan.files[0].path.encode()).digest()
            members = [PackMember(f.path, 4096, f.size, _digest(f.mtime_ns)) for f in plan.files]
            packed.add(rows_of(PackSummary(pack, plan.pack_bytes, tuple(members))))
        write_changes(in_path_order(packed.runs()), folder / "changes.parquet")
        cache.save(files, (), packed.digests(), time.time_ns())


def push_server(entries: int, folder: Path) -> None:
    """Read the file of changes of a first push, and build the version."""
    path = folder / "changes.parquet"
    if not path.exists():
        _write_changes(entries, path)
    scratch = folder / "scratch"
    scratch.mkdir()
    plan = VersionPlan(read_changes(path, scratch))
    build_version(None, plan, FolderObjectStore(folder / "pushed"))


def _write_changes(entries: int, path: Path) -> None:
    with pq.ParquetWriter(path, CHANGES_SCHEMA, compression="zstd") as writer:
        for table in generated(entries):
            op = pa.array(["put"] * len(table), pa.string())
            rows = table.select(CHANGES_SCHEMA.names[1:]).add_column(0, CHANGES_SCHEMA.field(0), op)
            writer.write_table(rows.cast(CHANGES_SCHEMA))


def _digest(number: int) -> bytes:
    return number.to_bytes(32, "little")


STEPS: dict[str, Callable[[int, Path], None]] = {
    "build": build,
    "diff": diff,
    "garbage collection": collect,
    "register": register,
    "push, client": push_client,
    "push, server": push_server,
    **memory_onto.STEPS,
}

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    STEPS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
    print(peak_mib())
