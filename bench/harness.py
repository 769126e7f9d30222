"""Interleaved rounds, medians, and the one file that keeps them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "latest.json"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True)
class Result:
    """One line of `latest.json`. `ratio` > 1 means that Atom is better than the peer."""

    name: str
    value: float
    unit: str
    peer: str | None = None
    ratio: float | None = None


def interleave(
    contenders: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Run every contender once per round, in turn; each returns its own measure."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            found[name].append(run())
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(
    name: str, unit: str, ours: list[float], peers: Mapping[str, list[float]]
) -> list[Result]:
    """Return our median and its ratio to each peer's; larger values are better."""
    value = statistics.median(ours)
    results = [Result(name, round(value, 3), unit)]
    for peer, values in peers.items():
        ratio = round(value / statistics.median(values), 3)
        results.append(Result(name, round(value, 3), unit, peer, ratio))
    return results


def drop_page_cache(files: list[Path]) -> None:
    """Forget cached pages: all of them as root, otherwise those of `files`."""
    if os.access(DROP_CACHES, os.W_OK):
        subprocess.run(["sync"], check=True)
        DROP_CACHES.write_text("3")
        return
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def save(results: list[Result]) -> None:
    """Write `latest.json` and the table."""
    RESULTS.mkdir(exist_ok=True)
    rows = [asdict(result) for result in results]
    LATEST.write_text(json.dumps(rows, indent=2) + "\n")
    (RESULTS / "latest.md").write_text(table(results))


def with_earlier(results: list[Result]) -> list[Result]:
    """Return these results, after those of the last runs that were not measured again."""
    earlier = [Result(**row) for row in json.loads(LATEST.read_text())] if LATEST.exists() else []
    measured = {result.name for result in results}
    return [result for result in earlier if result.name not in measured] + results


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table."""
    lines = ["| what | value | unit | peer | ratio |", "|---|---:|---|---|---:|"]
    for r in results:
        ratio = f"{r.ratio:.2f}×" if r.ratio is not None else ""
        lines.append(f"| {r.name} | {r.value:,.1f} | {r.unit} | {r.peer or ''} | {ratio} |")
    return "\n".join(lines) + "\n"
