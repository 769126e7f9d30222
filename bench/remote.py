"""A simulated remote store: 20 ms away, 1 Gbit/s for all readers together.

Shows the shape that published tables have: small objects are slow in every epoch, packs are slow
once, and more readers do not help when the road is full.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import obstore

from atom.dev.seaweed import Seaweed
from bench.corpus import write_files
from bench.harness import PeerFailed, Result, failed, say
from bench.reads import pack_folder
from bench.remote_reader import Job, S3Address
from bench.servers import s3_server, store_of

LATENCY_S = 0.02
BYTES_PER_S = 125e6
SEED = "remote"
MOST_FILES = 4_000
READERS = (1, 2, 4)
COMPUTE_S = 0.0002
SMALL, PACKS = "small objects", "packs, streamed"


def run(scratch: Path, files: int) -> list[Result]:
    """Return samples per second and the share of time waiting, by readers and epoch."""
    folder = scratch / "files"
    write_files(folder, min(files, MOST_FILES))
    view, packs = pack_folder(folder, scratch)
    results: list[Result] = []
    with s3_server(scratch / "s3") as server, _proxy(server) as url:
        address = S3Address(url, server.bucket, server.access_key_id, server.secret_access_key)
        _store_files(server, folder, packs)
        sizes = {path.stem: path.stat().st_size for path in packs.iterdir()}
        job = Job("small", address, str(view), str(scratch / "cache"), sizes, 0, 1, 0, COMPUTE_S)
        for readers in READERS:
            results += _measure(replace(job, readers=readers))
    return results


@dataclass(frozen=True)
class _Epoch:
    rate: float
    waiting_share: float


def _measure(job: Job) -> list[Result]:
    """Two epochs of both kinds with so many readers."""
    shutil.rmtree(job.cache, ignore_errors=True)
    results: list[Result] = []
    for epoch in (0, 1):
        name = f"remote store, {job.readers} readers, epoch {epoch + 1}"
        try:
            small = _epoch(replace(job, kind="small", epoch=epoch))
            ours = _epoch(replace(job, kind="streamed", epoch=epoch))
        except PeerFailed as error:
            results.append(failed(name, str(error)))
            continue
        ratio = round(ours.rate / small.rate, 2)
        results += [
            Result(name, round(ours.rate), "images/s", SMALL, ratio, round(small.rate)),
            Result(
                f"{name}: time waiting",
                round(100 * ours.waiting_share, 1),
                "%",
                SMALL,
                None,
                round(100 * small.waiting_share, 1),
            ),
        ]
        say(f"  {name}: packs {ours.rate:,.0f}, small objects {small.rate:,.0f} images/s")
    return results


def _epoch(job: Job) -> _Epoch:
    jobs = [replace(job, reader=number) for number in range(job.readers)]
    processes = [_start(one) for one in jobs]
    try:
        for process in processes:
            _line(process)
        for process in processes:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
        found = [json.loads(_line(process)) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    slowest_s = max(one["total_s"] for one in found)
    waiting_s = sum(one["waiting_s"] for one in found)
    total_s = sum(one["total_s"] for one in found)
    return _Epoch(sum(one["samples"] for one in found) / slowest_s, waiting_s / total_s)


def _start(job: Job) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "bench.remote_reader", job.encode()]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _line(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        text = process.stderr.read() if process.stderr else ""
        raise PeerFailed(f"a reader ended: {(text.strip().splitlines() or ['no reason'])[-1]}")
    return line


@contextmanager
def _proxy(server: Seaweed) -> Iterator[str]:
    numbers = [str(server.port), str(LATENCY_S), str(BYTES_PER_S), SEED]
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "bench.proxy", *numbers]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield f"http://127.0.0.1:{_line(process).strip()}"
        finally:
            process.kill()


def _store_files(server: Seaweed, folder: Path, packs: Path) -> None:
    store = store_of(server)
    for path in folder.rglob("*"):
        if path.is_file():
            obstore.put(store, f"small/{path.relative_to(folder).as_posix()}", path)
    for path in packs.iterdir():
        obstore.put(store, f"packs/{path.name}", path)
