"""`python -m bench [PART ...]`: run benchmarks; `peers` is all that has a target and no stack.

Results of what is not asked for stay as they were last measured. A part that fails is written down
as failed, and the others go on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from atom_sdk.client import Client
from bench import (
    first_line,
    growth,
    harness,
    loaders,
    logs,
    manifests,
    memory,
    plots,
    posix,
    preflight,
    push,
    reads,
    remote,
    runs,
    service,
    targets,
    transfer,
)
from bench.reconciler import __main__ as reconciler
from bench.watcher import __main__ as watcher

FILES = 50_000
WORK = Path(".atom/bench")
PORTS = {
    "ATOM_WEB_PORT": "8700",
    "ATOM_GATEWAY_PORT": "8701",
    "ATOM_S3_GATEWAY_PORT": "8702",
    "ATOM_POSTGRES_PORT": "5732",
    "ATOM_REDIS_PORT": "6679",
    "ATOM_S3_PORT": "8733",
}


@dataclass(frozen=True)
class Options:
    """How large, and where: `work` keeps the peers' environments, `scratch` is removed."""

    files: int
    entries: int
    work: Path
    scratch: Path
    results: Path


# Parts that measure no corpus of files.
_WITHOUT_FILES = {
    "images", "manifests", "memory", "growth", "service", "watcher", "reconciler",
}  # fmt: skip
Part = Callable[[Options, Path], list[harness.Result]]
PEERS: dict[str, Part] = {
    "reads": lambda options, folder: reads.run(folder, options.files, options.work),
    "posix": lambda options, folder: posix.run(folder, options.files, options.work),
    "images": lambda options, folder: posix.run_images(folder),
    "loaders": lambda options, folder: loaders.run(folder, options.files, options.work),
    "ingest": lambda options, folder: push.run_local(folder, options.files, options.work),
    "transfer": lambda options, folder: transfer.run(folder, options.files, options.work),
    "remote": lambda options, folder: remote.run(folder, options.files),
    "manifests": lambda options, folder: manifests.run(folder, options.entries),
    "memory": lambda options, folder: memory.run(folder, options.entries),
    "watcher": lambda options, folder: watcher.run(),
    "reconciler": lambda options, folder: reconciler.run(),
    "growth": lambda options, folder: growth.run(folder, options.files, options.results),
}
WITH_STACK = ("push", "start", "logs", "runs", "portal")


def main() -> int:
    """Run what was asked for, all of it by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parts = [*PEERS, *WITH_STACK, "service", "peers"]
    parser.add_argument("what", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--only", nargs="+", metavar="PART", default=[], help="the same as PART")
    parser.add_argument("--check", action="store_true", help="say what is missing, measure nothing")
    parser.add_argument("--files", type=int, default=FILES, help="files of each corpus")
    parser.add_argument("--entries", type=int, default=10_000_000, help="generated entries")
    parser.add_argument("--work", type=Path, default=WORK, help="keeps the peers' environments")
    parser.add_argument("--scratch", type=Path, help="a folder on the disk to measure")
    parser.add_argument("--results", type=Path, default=harness.RESULTS, help="where to write")
    given = parser.parse_args()
    named = [*given.what, *given.only]
    if unknown := set(named) - set(parts):
        parser.error(f"there is no part {sorted(unknown)[0]!r}; there are {', '.join(parts)}")
    wanted = named or [*PEERS, *WITH_STACK, "service"]
    wanted = [part for name in wanted for part in (PEERS if name == "peers" else [name])]
    scratch = Path(tempfile.mkdtemp(prefix="atom-bench-", dir=given.scratch))
    # So that mounts and servers are taken down too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    options = Options(given.files, given.entries, given.work.resolve(), scratch, given.results)
    try:
        rows = _look(wanted, options)
        if given.check:
            return 1 if any(row.reason for row in rows) else 0
        _run(wanted, preflight.blocked(rows, wanted), options)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0


def _look(wanted: list[str], options: Options) -> list[preflight.Row]:
    """Say what each part needs, before any of them takes an hour."""
    needs = preflight.needs_of(options.files, options.work, options.scratch)
    rows = preflight.look(needs, wanted)
    print(preflight.table(rows), flush=True)
    return rows


def _run(wanted: list[str], blocked: dict[str, str], options: Options) -> None:
    for name, reason in blocked.items():
        _keep(options, name, [harness.skipped(name, reason)])
    wanted = [name for name in wanted if name not in blocked]
    for name in PEERS:
        if name in wanted:
            _keep(options, name, _measured(name, PEERS[name], options))
    if set(WITH_STACK) & set(wanted):
        stack = _measured("stack", lambda o, folder: _stack_parts(wanted, o), options)
        _keep(options, "stack", stack)
    if "service" in wanted:
        _keep(options, "service", _measured("service", _service, options))
    latest = harness.with_earlier([], options.results / "latest.json")
    plots.plot(latest, options.results)
    print(_page(latest))


def _measured(name: str, part: Part, options: Options) -> list[harness.Result]:
    harness.say(f"{name} …")
    started, speed = time.monotonic(), harness.processor_speed()
    folder = options.scratch / name
    folder.mkdir()
    try:
        found = part(options, folder)
    # Whatever went wrong with one part: the others are measured, and it is not left out silently.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        found = [harness.failed(name, reason)]
    shutil.rmtree(folder, ignore_errors=True)
    speed = min(speed, harness.processor_speed())
    harness.say(f"{name} took {time.monotonic() - started:,.0f} s; {speed} million additions/s")
    counted = name not in _WITHOUT_FILES
    files = options.files if counted else None
    return [replace(result, files=files, processor=speed) for result in found]


def _keep(options: Options, part: str, found: list[harness.Result]) -> None:
    """Write after every part: a run that is stopped keeps what it has."""
    path = options.results / "latest.json"
    # A failure of the whole part, of an earlier run, is over.
    over = {part, *WITH_STACK} if part == "stack" else {part}
    earlier = [result for result in harness.with_earlier([], path) if result.name not in over]
    measured = {result.name for result in found}
    results = [result for result in earlier if result.name not in measured] + found
    harness.save(results, path)
    (options.results / "latest.md").write_text(_page(results))


def _page(results: list[harness.Result]) -> str:
    sizes = sorted({result.files for result in results if result.files})
    plural = ", ".join(f"{size:,}" for size in sizes)
    return targets.table(results, [f"Files of each corpus: {plural}. {growth.NOTE}"])


def _stack_parts(wanted: list[str], options: Options) -> list[harness.Result]:
    results: list[harness.Result] = []
    home = options.scratch / "home"
    with _stack(home):
        client, password = _administrator(home)
        if "push" in wanted:
            bucket = push.Bucket.of_stack(home)
            results += push.run(
                _folder(options.scratch / "push"),
                options.files,
                client,
                lambda: push.Dvc.install(options.work, bucket),
            )
        if "start" in wanted:
            results += first_line.run(_folder(options.scratch / "start"), client, password)
        if "logs" in wanted:
            results += logs.run(_folder(options.scratch / "logs"), client, password)
        if "runs" in wanted:
            results += runs.run(home, client)
        if "portal" in wanted:
            # It needs a package and a browser that the other parts do without.
            from bench import portal

            results += portal.run(_folder(options.scratch / "portal"), client, password)
    return results


def _service(options: Options, folder: Path) -> list[harness.Result]:
    """Load a stack of its own: what it leaves would slow the others down."""
    home = options.scratch / "service-home"
    options.results.mkdir(exist_ok=True)
    # As a machine with four cores has it; on two there is one.
    with _stack(home, ATOM_WEB_PROCESSES="2"):
        client, password = _administrator(home)
        return service.run(folder, home, client, password, options.results, options.entries)


def _administrator(home: Path) -> tuple[Client, str]:
    from atom.dev.secret_store import load_or_generate
    from demo.people import Installation, client_of

    password = load_or_generate(home).admin_password
    port = os.environ.get("ATOM_WEB_PORT", PORTS["ATOM_WEB_PORT"])
    installation = Installation(f"http://127.0.0.1:{port}", home, "admin", password)
    return client_of(installation, "admin", password), password


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@contextmanager
def _stack(home: Path, **settings: str) -> Iterator[None]:
    """Run a stack of the benchmark's own, on ports of its own."""
    environment = {**PORTS, **settings, **os.environ, "ATOM_HOME": str(home)}
    command = [sys.executable, "-m", "atom.dev"]
    subprocess.run([*command, "start"], env=environment, check=True)
    try:
        yield
    finally:
        subprocess.run([*command, "down"], env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
