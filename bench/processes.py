"""The memory of a stack's processes: what each and its children hold, shared pages by share."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import Result

_EVERY_S = 2.0


def pss_mib(home: Path) -> dict[str, float]:
    """Return the proportional set size of each process of the stack that runs in `home`."""
    state = json.loads((home / "run" / "launcher.json").read_text())
    pids = {name: one["identity"]["pid"] for name, one in state["processes"].items()}
    pids["launcher"] = state["launcher"]["pid"]
    children = _children()
    # The launcher is the parent of all others.
    return {
        name: sum(map(_pss_mib, [pid] if name == "launcher" else _family(pid, children)))
        for name, pid in pids.items()
    }


@contextmanager
def most_memory(home: Path, name: str, results: list[Result]) -> Iterator[None]:
    """Add the most that each process held meanwhile to `results`, as lines of `name`."""
    most: dict[str, float] = defaultdict(float)
    stop = threading.Event()

    def look() -> None:
        while True:
            for process, mib in pss_mib(home).items():
                most[process] = max(most[process], mib)
            if stop.wait(_EVERY_S):
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    results += [
        Result(f"{name}, memory of {process}", round(mib), "MiB")
        for process, mib in sorted(most.items())
    ]


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        found[int(text[text.rindex(")") + 2 :].split()[1])].append(int(path.parent.name))
    return found


def _family(pid: int, children: dict[int, list[int]]) -> list[int]:
    return [pid, *(one for child in children.get(pid, ()) for one in _family(child, children))]


def _pss_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
