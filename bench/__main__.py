"""`python -m bench [reads manifests push logs]`: run the benchmarks on a stack of their own.

Results of what is not asked for stay as they were last measured.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import harness, logs, manifests, plots, push, reads

FILES = 20_000
PARTS = ("reads", "manifests", "push", "logs")
PORTS = {
    "ATOM_WEB_PORT": "8700",
    "ATOM_GATEWAY_PORT": "8701",
    "ATOM_S3_GATEWAY_PORT": "8702",
    "ATOM_POSTGRES_PORT": "5732",
    "ATOM_REDIS_PORT": "6679",
    "ATOM_S3_PORT": "8733",
}


def main() -> int:
    """Run what was asked for, all of it by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--scratch", type=Path, help="a folder on the disk to measure")
    options = parser.parse_args()
    wanted = options.what or list(PARTS)
    scratch = Path(tempfile.mkdtemp(prefix="atom-bench-", dir=options.scratch))
    results: list[harness.Result] = []
    try:
        if "reads" in wanted:
            results += reads.run(scratch / "reads", options.files)
            shutil.rmtree(scratch / "reads")
        if "manifests" in wanted:
            results += manifests.run(scratch / "manifests")
        if {"push", "logs"} & set(wanted):
            results += _with_stack(wanted, scratch, options.files)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    results = harness.with_earlier(results)
    harness.save(results)
    plots.plot(results)
    print(harness.table(results))
    return 0


def _with_stack(wanted: list[str], scratch: Path, files: int) -> list[harness.Result]:
    results: list[harness.Result] = []
    home = scratch / "home"
    with _stack(home):
        from atom.dev.secret_store import load_or_generate
        from demo.people import Installation, client_of

        password = load_or_generate(home).admin_password
        url = f"http://127.0.0.1:{PORTS['ATOM_WEB_PORT']}"
        client = client_of(Installation(url, home, "admin", password), "admin", password)
        if "push" in wanted:
            dvc = push.Dvc.install(scratch, push.Bucket.of_stack(home))
            results += push.run(_folder(scratch / "push"), files, client, dvc)
        if "logs" in wanted:
            results += logs.run(_folder(scratch / "logs"), client, password)
    return results


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@contextmanager
def _stack(home: Path) -> Iterator[None]:
    """Run a stack of the benchmark's own, on ports of its own."""
    environment = {**os.environ, **PORTS, "ATOM_HOME": str(home)}
    command = [sys.executable, "-m", "atom.dev"]
    subprocess.run([*command, "start"], env=environment, check=True)
    try:
        yield
    finally:
        subprocess.run([*command, "down"], env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
