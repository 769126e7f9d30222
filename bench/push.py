"""Bringing a folder in: hash, pack, send, verify and commit, against `tar cf` and `dvc add`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from atom_sdk.client import Client
from bench.corpus import write_files
from bench.harness import Result, compare, interleave, seconds
from bench.reads import pack_folder

ROUNDS = 3


def run(scratch: Path, files: int, client: Client, dvc: Path) -> list[Result]:
    """Return MB/s of packing alone and of a whole push; every round starts from nothing."""
    folder = scratch / "source"
    size_mb = write_files(folder, files) / 1e6
    _warm(folder)
    counter = iter(range(1000))

    def rate(work: Callable[[Path], object]) -> Callable[[], float]:
        def measured() -> float:
            target = scratch / f"round{next(counter)}"
            target.mkdir()
            value = size_mb / seconds(lambda: work(target))
            shutil.rmtree(target)
            return value

        return measured

    found = interleave(
        {
            "pack": rate(lambda target: pack_folder(folder, target)),
            "push": rate(lambda target: _push(client, folder, target)),
            "tar cf": rate(lambda target: _tar(folder, target)),
            "dvc add": _dvc_rate(dvc, folder, scratch, size_mb),
        },
        ROUNDS,
    )
    peers = {"tar cf": found["tar cf"], "dvc add": found["dvc add"]}
    return compare("hash, pack and index", "MB/s", found["pack"], peers) + compare(
        "push to a committed version", "MB/s", found["push"], peers
    )


def _warm(folder: Path) -> None:
    for path in folder.rglob("*.jpg"):
        path.read_bytes()


def _push(client: Client, folder: Path, target: Path) -> None:
    # A cache of its own and a dataset that is new: nothing of an earlier round can help.
    os.environ["ATOM_CACHE"] = str(target)
    (folder / "round.txt").write_text(target.name)
    client.datasets.push(folder, f"bench-{target.name}")


def _tar(folder: Path, target: Path) -> None:
    subprocess.run(["tar", "cf", str(target / "all.tar"), "-C", str(folder), "."], check=True)


def _dvc_rate(dvc: Path, folder: Path, scratch: Path, size_mb: float) -> Callable[[], float]:
    counter = iter(range(1000))

    def measured() -> float:
        work = scratch / f"dvc{next(counter)}"
        work.mkdir()
        _run(work, str(dvc), "init", "--no-scm", "-q")
        _run(work, "cp", "-al", str(folder), "data")
        value = size_mb / seconds(lambda: _run(work, str(dvc), "add", "-q", "data"))
        shutil.rmtree(work)
        return value

    return measured


def _run(folder: Path, *command: str) -> None:
    environment = {**os.environ, "DVC_NO_ANALYTICS": "1"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def install_dvc(scratch: Path) -> Path:
    """Return the `dvc` of a virtual environment of its own."""
    home = scratch / "dvc-venv"
    if not (home / "bin" / "dvc").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "-q", "dvc"], check=True)
    return home / "bin" / "dvc"
