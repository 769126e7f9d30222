"""Samples in random order from the SDK and from the formats of other loaders, all of it warm.

Every reader gives samples as it does: the SDK a view of the mapped pack, the others `bytes`. One
byte of every page is then taken, by the same code on all sides: what a decoder does with the bytes
costs the same wherever they come from. A second line has the SDK copy each sample into `bytes`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atom_sdk.readers import LocalDataset
from bench.corpus import write_files
from bench.environments import HF, LANCE, MDS, WEBDATASET, PeerPackages, install
from bench.harness import PeerFailed, Result, compare, failed, interleave, say, seconds
from bench.peer_worker import touched
from bench.reads import pack_folder

ROUNDS = 3
NAME = "loader, warm, samples as given"
COPIED = "loader, warm, samples copied to bytes"
_WORKER = Path(__file__).with_name("peer_worker.py")
PEERS: dict[str, tuple[str, PeerPackages]] = {
    "MosaicML MDS ds[i]": ("mds", MDS),
    "HF ds[i]": ("hf", HF),
    "WebDataset, shuffle buffer": ("webdataset", WEBDATASET),
    "Lance, take of 64 rows": ("lance", LANCE),
}


def run(scratch: Path, files: int, work: Path) -> list[Result]:
    """Return samples per second."""
    folder = scratch / "files"
    size_bytes = write_files(folder, files)
    dataset = LocalDataset(*pack_folder(folder, scratch), verify="never")
    rounds = iter(range(1_000_000))

    def ours(take: Callable[[memoryview], int]) -> float:
        order = np.random.default_rng(next(rounds)).permutation(files).tolist()
        return files / seconds(lambda: _read(dataset, order, take, size_bytes))

    failures: list[Result] = []
    contenders: dict[str, Callable[[], float]] = {
        NAME: lambda: ours(touched),
        COPIED: lambda: ours(lambda data: touched(bytes(data))),
    }
    with ExitStack() as stack:
        for name, (kind, packages) in PEERS.items():
            try:
                say(f"loaders: preparing {name}")
                python = install(packages, work) / "python"
                target = scratch / f"peer-{kind}"
                command = [str(python), str(_WORKER), kind, str(folder), str(target)]
                worker = stack.enter_context(_worker(command, _log_of(target)))
                stack.callback(shutil.rmtree, target, ignore_errors=True)
                peer = _Peer(worker, _log_of(target), files, size_bytes)
                peer.answer()
                # The first round fills the page cache, and shows that the peer works.
                peer.rate()
                contenders[name] = peer.rate
            except (PeerFailed, OSError) as error:
                failures.append(failed(NAME, str(error), name))
        ours(touched)
        found = interleave(contenders, ROUNDS)
    given, copied = found.pop(NAME), found.pop(COPIED)
    results = compare(NAME, "files/s", given, found) + compare(COPIED, "files/s", copied, found)
    return results + failures


def _read(
    dataset: LocalDataset, order: list[int], take: Callable[[memoryview], int], size_bytes: int
) -> None:
    total = sum(take(sample.data) for sample in dataset.read_many(order))
    if total != size_bytes:
        raise AssertionError(f"{total} of {size_bytes} bytes were read")


def _log_of(target: Path) -> Path:
    return target.with_suffix(".log")


@contextmanager
def _worker(command: list[str], log_path: Path) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with (
        log_path.open("w") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


@dataclass
class _Peer:
    process: subprocess.Popen[str]
    log: Path
    files: int
    size_bytes: int
    seed: int = 0

    def rate(self) -> float:
        """Samples per second of one round. Raises PeerFailed."""
        if self.process.stdin is None:
            raise PeerFailed("it has no input")
        self.seed += 1
        try:
            self.process.stdin.write(f"{self.seed}\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerFailed("it ended") from error
        answer = self.answer()
        if answer["bytes"] != self.size_bytes:
            raise PeerFailed(f"it read {answer['bytes']} of {self.size_bytes} bytes")
        return self.files / answer["seconds"]

    def answer(self) -> dict[str, float]:
        """Return its next answer. Raises PeerFailed with the last line of its log."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if line:
            answer: dict[str, float] = json.loads(line)
            return answer
        lines = self.log.read_text(errors="replace").strip().splitlines() or ["no reason given"]
        raise PeerFailed(f"it ended with {self.process.wait()}: {lines[-1]}")
