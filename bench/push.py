"""Bringing a folder in, against `tar cf`, `dvc add` and `dvc push`.

Packing alone does what `dvc add` does: every byte is read, hashed and written once, on one disk.
A whole push (`push`, with a stack) also sends the bytes to S3 and has them verified there; its
equal is `dvc add` followed by `dvc push` to the same S3 server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from atom.settings.environment import Environment
from atom_sdk.client import Client
from bench.corpus import write_files
from bench.environments import DVC, install
from bench.harness import PeerFailed, Result, compare, interleave, seconds
from bench.reads import pack_folder

ROUNDS = 5


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


def run_local(scratch: Path, files: int, work: Path) -> list[Result]:
    """Return MB/s of packing alone, against what does the same on one disk."""
    source = _Source(scratch, files)
    contenders = {
        "pack": source.rate(lambda target: seconds(lambda: pack_folder(source.folder, target))),
        "tar cf": source.rate(lambda target: seconds(lambda: _tar(source.folder, target))),
        "dvc add": source.rate(lambda target: Dvc.install(work).add(source.folder, target)),
    }
    found = interleave(contenders, ROUNDS, once={"dvc add"})
    return compare("hash, pack and index", "MB/s", found.pop("pack"), found)


def run(scratch: Path, files: int, client: Client, dvc: Callable[[], Dvc]) -> list[Result]:
    """Return MB/s of a whole push; every round starts from nothing."""
    source = _Source(scratch, files)
    contenders = {
        "push": source.rate(lambda target: seconds(lambda: _push(client, source.folder, target))),
        "tar cf": source.rate(lambda target: seconds(lambda: _tar(source.folder, target))),
        "dvc add and push": source.rate(lambda target: dvc().add_and_push(source.folder, target)),
    }
    found = interleave(contenders, ROUNDS, once={"dvc add and push"})
    return compare("push to a committed version", "MB/s", found.pop("push"), found)


class _Source:
    """A folder that is in the page cache, and changes before every measure."""

    def __init__(self, scratch: Path, files: int) -> None:
        self._scratch = scratch
        self.folder = scratch / "source"
        self._size_mb = write_files(self.folder, files) / 1e6
        self._rounds = iter(range(1000))
        _warm(self.folder)

    def rate(self, work: Callable[[Path], float]) -> Callable[[], float]:
        """Return a measure of `work` in MB/s; it gets an empty folder and returns seconds."""

        def measured() -> float:
            target = self._scratch / f"round{next(self._rounds)}"
            target.mkdir()
            _change_every_pack(self.folder, target.name)
            # Earlier writes must not reach the disk during this measure.
            os.sync()
            value = self._size_mb / work(target)
            shutil.rmtree(target)
            return value

        return measured


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
    bucket: Bucket | None

    @classmethod
    def install(cls, work: Path, bucket: Bucket | None = None) -> Dvc:
        """Install dvc with its S3 support. Raises PeerFailed."""
        return cls(install(DVC, work) / "dvc", bucket)

    def add(self, folder: Path, work: Path) -> float:
        """Return the seconds of `dvc add` into a cache of its own."""
        self._prepare(folder, work)
        return seconds(lambda: self._run(work, "add", "-q", "data"))

    def add_and_push(self, folder: Path, work: Path) -> float:
        """Return the seconds of `dvc add` and `dvc push` to a prefix of its own."""
        if self.bucket is None:
            raise PeerFailed("it has no bucket to push to")
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
        environment = {**os.environ, "DVC_NO_ANALYTICS": "1", "AWS_DEFAULT_REGION": "us-east-1"}
        if self.bucket is not None:
            environment["AWS_ACCESS_KEY_ID"] = self.bucket.access_key_id
            environment["AWS_SECRET_ACCESS_KEY"] = self.bucket.secret_access_key
        command = [str(self.binary), *arguments]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, check=False)
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise PeerFailed(f"dvc {arguments[0]}: {''.join(last)}")
