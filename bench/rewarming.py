"""Warming a version that is on the node already, and one of which a hundredth has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from atom_sdk.client import Client
from bench.corpus import write_files
from bench.harness import Result, seconds

FILES = 5_000
CHANGED = FILES // 100
_PATIENCE_S = 300


def run(scratch: Path, client: Client) -> list[Result]:
    """Return the seconds of the first warm-up, of a second, and of one of a changed version."""
    folder = scratch / "files"
    size_mb = write_files(folder, FILES) / 1e6
    name = f"rewarm-{time.time_ns()}"
    client.datasets.push(folder, name)
    first_s = seconds(lambda: _warm(client, f"{name}@v1"))
    again_s = seconds(lambda: _warm(client, f"{name}@v1"))
    # The first of every hundredth of the files, as a correction of some labels would.
    for path in sorted(folder.rglob("*.jpg"))[:: FILES // CHANGED]:
        path.write_bytes(path.read_bytes() + b"changed")
    client.datasets.push(folder, name)
    # As in use, where the files of the version before have long been on the disk.
    os.sync()
    changed_s = seconds(lambda: _warm(client, f"{name}@v2"))
    what = f"warm-up of {size_mb:,.0f} MB"
    return [
        Result(f"{what}, first", round(first_s, 2), "s"),
        Result("warm-up of what is there already", round(again_s, 2), "s"),
        Result("warm-up of a version of which 1 % changed", round(changed_s, 2), "s"),
    ]


def _warm(client: Client, reference: str) -> None:
    client.datasets.warm(reference)
    deadline = time.monotonic() + _PATIENCE_S
    while not _is_warm(client, reference):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{reference} is not warm after {_PATIENCE_S} s")
        time.sleep(0.02)


def _is_warm(client: Client, reference: str) -> bool:
    nodes = client.datasets.coverage(reference)
    return any(node["state"] == "warm" and node["coverage"] >= 1 for node in nodes)
