"""A simulated remote store: 20 ms away, 1 Gbit/s for all readers together.

Shows the shape that published tables have: small objects are slow in every epoch, packs are slow
once, and more readers do not help when the road is full.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import obstore
from obstore.store import S3Store

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
    with s3_server(scratch / "s3") as server, slow_road(server.port) as url:
        address = S3Address(url, server.bucket, server.access_key_id, server.secret_access_key)
        store_files(store_of(server), folder, packs)
        sizes = {path.stem: path.stat().st_size for path in packs.iterdir()}
        job = Job("small", address, str(view), str(scratch / "cache"), sizes, 0, 1, 0, COMPUTE_S)
        for readers in READERS:
            results += _measure(replace(job, readers=readers))
    return results


@dataclass(frozen=True)
class Epoch:
    """Samples per second of all readers together, the share of their time that they waited, and
    the share of samples that came whole.
    """

    rate: float
    waiting_share: float
    whole_share: float


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


def _epoch(job: Job) -> Epoch:
    return read_epoch([replace(job, reader=number) for number in range(job.readers)])


def read_epoch(jobs: Sequence[Job]) -> Epoch:
    """Read with all readers at once. Raises PeerFailed if one ends early."""
    processes = [_start(job) for job in jobs]
    try:
        for process in processes:
            _line(process)
        for process in processes:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
        measures = [json.loads(_line(process)) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    sums = {key: sum(measure[key] for measure in measures) for key in measures[0]}
    slowest_s = max(measure["total_s"] for measure in measures)
    return Epoch(
        sums["samples"] / slowest_s,
        sums["waiting_s"] / sums["total_s"],
        1 - sums["broken"] / max(sums["samples"], 1),
    )


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
def slow_road(port: int) -> Iterator[str]:
    """Yield the address of a server of this machine as if it were far away."""
    numbers = [str(port), str(LATENCY_S), str(BYTES_PER_S), SEED]
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "bench.proxy", *numbers]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield f"http://127.0.0.1:{_line(process).strip()}"
        finally:
            process.kill()


def store_files(store: S3Store, folder: Path, packs: Path) -> None:
    """Put files below `small/` and packs below `packs/`."""
    for path in folder.rglob("*"):
        if path.is_file():
            obstore.put(store, f"small/{path.relative_to(folder).as_posix()}", path)
    for path in packs.iterdir():
        obstore.put(store, f"packs/{path.name}", path)
