"""Bringing a folder in, against `tar cf`, `dvc add` and `dvc push`.

Packing alone does what `dvc add` does: every byte is read, hashed and written once, on one disk.
A whole push also sends the bytes to S3 and has them verified there; its equal is `dvc add` followed
by `dvc push` to the same S3 server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from atom.settings.environment import Environment
from atom_sdk.client import Client
from bench.corpus import write_files
from bench.harness import Result, compare, interleave, seconds
from bench.reads import pack_folder

ROUNDS = 3


@dataclass(frozen=True)
class Bucket:
    """Where `dvc push` sends to: the stack's own S3 server."""

    endpoint_url: str
    name: str
    access_key_id: str
    secret_access_key: str

    @classmethod
    def of_stack(cls, home: Path) -> Bucket:
        """Return the bucket of the stack that runs in `home`."""
        found = Environment(_env_file=home / "run" / "stack.env", atom_home=home)
        secret = found.s3_secret_access_key.get_secret_value()
        return cls(found.s3_endpoint_url, found.s3_bucket, found.s3_access_key_id, secret)


def run(scratch: Path, files: int, client: Client, dvc: Dvc) -> list[Result]:
    """Return MB/s of packing alone and of a whole push; every round starts from nothing."""
    folder = scratch / "source"
    size_mb = write_files(folder, files) / 1e6
    _warm(folder)
    rounds = iter(range(1000))

    def rate(work: Callable[[Path], float]) -> Callable[[], float]:
        def measured() -> float:
            target = scratch / f"round{next(rounds)}"
            target.mkdir()
            _change_every_pack(folder, target.name)
            value = size_mb / work(target)
            shutil.rmtree(target)
            return value

        return measured

    found = interleave(
        {
            "pack": rate(lambda target: seconds(lambda: pack_folder(folder, target))),
            "push": rate(lambda target: seconds(lambda: _push(client, folder, target))),
            "tar cf": rate(lambda target: seconds(lambda: _tar(folder, target))),
            "dvc add": rate(lambda target: dvc.add(folder, target)),
            "dvc add and push": rate(lambda target: dvc.add_and_push(folder, target)),
        },
        ROUNDS,
    )
    local = {name: found[name] for name in ("tar cf", "dvc add")}
    peers = {**local, "dvc add and push": found["dvc add and push"]}
    return compare("hash, pack and index", "MB/s", found["pack"], local) + compare(
        "push to a committed version", "MB/s", found["push"], peers
    )


def _warm(folder: Path) -> None:
    for path in folder.rglob("*.jpg"):
        path.read_bytes()


def _change_every_pack(folder: Path, text: str) -> None:
    """Put a new file before each class: the server must have no pack of an earlier round."""
    for directory in folder.iterdir():
        (directory / "0.txt").write_text(f"{directory.name} {text} {time.time_ns()}")


def _push(client: Client, folder: Path, target: Path) -> None:
    # A cache of its own and a dataset that is new: nothing of an earlier round can help.
    os.environ["ATOM_CACHE"] = str(target)
    client.datasets.push(folder, f"bench-{target.name}")


def _tar(folder: Path, target: Path) -> None:
    subprocess.run(["tar", "cf", str(target / "all.tar"), "-C", str(folder), "."], check=True)


@dataclass(frozen=True)
class Dvc:
    """The peer, in an environment of its own."""

    binary: Path
    bucket: Bucket

    @classmethod
    def install(cls, scratch: Path, bucket: Bucket) -> Dvc:
        """Install dvc with its S3 support."""
        home = scratch / "dvc-venv"
        if not (home / "bin" / "dvc").exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([str(home / "bin" / "pip"), "install", "-q", "dvc[s3]"], check=True)
        return cls(home / "bin" / "dvc", bucket)

    def add(self, folder: Path, work: Path) -> float:
        """Return the seconds of `dvc add` into a cache of its own."""
        self._prepare(folder, work)
        return seconds(lambda: self._run(work, "add", "-q", "data"))

    def add_and_push(self, folder: Path, work: Path) -> float:
        """Return the seconds of `dvc add` and `dvc push` to a prefix of its own."""
        self._prepare(folder, work)
        address = f"s3://{self.bucket.name}/{work.name}-{time.time_ns()}"
        self._run(work, "remote", "add", "-q", "-d", "store", address)
        self._run(work, "remote", "modify", "store", "endpointurl", self.bucket.endpoint_url)

        def both() -> None:
            self._run(work, "add", "-q", "data")
            self._run(work, "push", "-q")

        return seconds(both)

    def _prepare(self, folder: Path, work: Path) -> None:
        self._run(work, "init", "--no-scm", "-q")
        # Links: the peer's own copy into its cache is what is measured.
        subprocess.run(["cp", "-al", str(folder), str(work / "data")], check=True)

    def _run(self, work: Path, *arguments: str) -> None:
        environment = {
            **os.environ,
            "DVC_NO_ANALYTICS": "1",
            "AWS_ACCESS_KEY_ID": self.bucket.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.bucket.secret_access_key,
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        command = [str(self.binary), *arguments]
        subprocess.run(command, cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)
