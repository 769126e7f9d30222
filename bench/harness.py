"""Interleaved rounds, medians, and the one file that keeps them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ParamSpec

_P = ParamSpec("_P")
RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "latest.json"
# Cold reads of a part of the files: a disk that is read at random takes minutes for all of them.
COLD_SHARE, COLD_AT_LEAST = 0.2, 2_000
# So begins the reason of what was not even tried.
SKIPPED = "skipped: "
DROP_CACHES = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True)
class Result:
    """One line of `latest.json`. `ratio` > 1 means that Atom is better than the peer.

    `failure` says why there is no measure; `files` is how many samples it was measured with, and
    `processor` how fast the machine was meanwhile (`processor_speed`).
    """

    name: str
    value: float | None
    unit: str
    peer: str | None = None
    ratio: float | None = None
    peer_value: float | None = None
    failure: str | None = None
    files: int | None = None
    processor: float | None = None


def failed(name: str, reason: str, peer: str | None = None) -> Result:
    """Return the line of something that could not be measured."""
    verdict = "" if reason.startswith(SKIPPED) else "failed: "
    say(f"{verdict}{name}{f' ({peer})' if peer else ''}: {reason}")
    return Result(name, None, "", peer, failure=reason)


def skipped(name: str, reason: str, peer: str | None = None) -> Result:
    """Return the line of something that this machine cannot measure."""
    say(f"skipped: {name}{f' ({peer})' if peer else ''}: {reason}")
    return Result(name, None, "", peer, failure=f"{SKIPPED}{reason}")


def say(text: str) -> None:
    """Print progress."""
    sys.stderr.write(f"[bench {time.strftime('%H:%M:%S')}] {text}\n")
    sys.stderr.flush()


class PeerFailed(Exception):
    """A peer could not be installed, prepared or measured; the text says why."""


class Rounds(dict[str, list[float]]):
    """Measures by contender; `failures` has the reasons of those that gave up."""

    def __init__(self, names: Iterable[str]) -> None:
        """No round yet."""
        super().__init__({name: [] for name in names})
        self.failures: dict[str, str] = {}

    def add(self, name: str, run: Callable[[], float]) -> None:
        """Measure once; a peer that fails is out."""
        try:
            self[name].append(run())
        except PeerFailed as error:
            self.failures[name] = str(error)
            del self[name]


def interleave(
    contenders: Mapping[str, Callable[[], float]], rounds: int, once: Collection[str] = ()
) -> Rounds:
    """Run every contender once per round, in turn; each returns its own measure.

    Those named in `once` take minutes, and part in the first round only.
    """
    found = Rounds(contenders)
    for number in range(rounds):
        for name, run in contenders.items():
            if name in found and not (number and name in once):
                found.add(name, run)
        last = ", ".join(f"{name} {values[-1]:,.0f}" for name, values in found.items())
        say(f"  round {number + 1} of {rounds}: {last}")
    return found


def again(measure: Callable[_P, float]) -> Callable[_P, float]:
    """Wrap a measure to run twice and return the second value: the first filled the caches."""

    def second(*args: _P.args, **kwargs: _P.kwargs) -> float:
        measure(*args, **kwargs)
        return measure(*args, **kwargs)

    return second


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor_speed() -> float:
    """Return how many million additions a second one plain loop of Python does, of 3 tries.

    A virtual machine gets what its host has to spare, which may be a third of it an hour later:
    figures without a peer say nothing without this one.
    """
    additions, total = 2_000_000, 0

    def add() -> None:
        nonlocal total
        for number in range(additions):
            total += number

    return round(additions / 1e6 / statistics.median(seconds(add) for _ in range(3)), 1)


def peak_mib() -> float:
    """Largest memory that this process has used.

    Not `ru_maxrss`: that begins with the memory of the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def compare(
    name: str, unit: str, ours: list[float], peers: Mapping[str, list[float]]
) -> list[Result]:
    """Return our median and its ratio to each peer's; larger values are better."""
    value = round(statistics.median(ours), 3)
    results = [Result(name, value, unit)]
    for peer, values in peers.items():
        theirs = statistics.median(values)
        ratio = round(value / theirs, 3)
        results.append(Result(name, value, unit, peer, ratio, round(theirs, 3)))
    if isinstance(peers, Rounds):
        results += [failed(name, reason, peer) for peer, reason in peers.failures.items()]
    return results


def cold_count(files: int) -> int:
    """How many of the files are read cold."""
    return min(files, max(COLD_AT_LEAST, int(COLD_SHARE * files)))


def drop_page_cache(files: Sequence[Path]) -> None:
    """Forget cached pages: all of them as root, otherwise those of `files`."""
    if os.access(DROP_CACHES, os.W_OK):
        subprocess.run(["sync"], check=True)
        DROP_CACHES.write_text("3")
        return
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def save(results: list[Result], path: Path = LATEST) -> None:
    """Write the results."""
    path.parent.mkdir(exist_ok=True)
    rows = [{k: v for k, v in asdict(result).items() if v is not None} for result in results]
    path.write_text(json.dumps(rows, indent=2) + "\n")


def with_earlier(results: list[Result], path: Path = LATEST) -> list[Result]:
    """Return these results, after those of the last runs that were not measured again."""
    rows = json.loads(path.read_text()) if path.exists() else []
    earlier = [Result(**{"value": None, "unit": "", **row}) for row in rows]
    measured = {result.name for result in results}
    return [result for result in earlier if result.name not in measured] + results
