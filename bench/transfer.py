"""Bringing a version to a node: packs and the same files as small objects, from one S3 server.

The warm-up does the cache's work: packs are hashed, synchronized to the disk and named. It is
compared with the same requests written to the same disk without that, and with the small objects
as files on that disk. The rates of both without writing show the transfer alone. Ten thousand small
objects give their rate.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import obstore
from obstore.store import S3Store

from atom.cache.engines.fill import FETCHES_AT_ONCE, FillPlan, fill
from atom.dev.seaweed import Seaweed
from atom_sdk.packs import PackStore
from bench.corpus import write_files
from bench.environments import TOOLS, install
from bench.harness import PeerFailed, Result, compare, interleave, say, seconds
from bench.reads import pack_folder
from bench.servers import aws_environment, s3_server, store_of

ROUNDS = 3
NAME = "warm-up of packs"
TRANSFER = "transfer of packs, to nothing"
_SMALL = "small objects, same client"
_SMALL_FILES = "small objects to files, same client"
_CHUNK_BYTES = 8 << 20
_SMALL_AT_ONCE = 64
_SMALL_OBJECTS = 10_000
# Packs and raw requests are compared closely; the others differ by factors, and take longer.
_ONCE = (_SMALL, _SMALL_FILES, "s5cmd, small objects", "s5cmd, packs",
         "rclone, small objects", "rclone, packs")  # fmt: skip


def run(scratch: Path, files: int, work: Path) -> list[Result]:
    """Return MB/s of file contents."""
    folder = scratch / "files"
    size_mb = write_files(folder, files) / 1e6
    _, packs = pack_folder(folder, scratch)
    with s3_server(scratch / "s3") as server:
        stored = _Stored.of(server, folder, packs)
        contenders: dict[str, Callable[[], object]] = {
            "raw S3, to nothing": lambda: _raw(stored, None),
            "packs": lambda: _warm(stored, scratch / "cache"),
            "raw S3, to the disk": lambda: _raw(stored, scratch / "raw"),
            _SMALL: lambda: asyncio.run(_small_objects(stored, None)),
            _SMALL_FILES: lambda: _small_files(stored, scratch / "small"),
            **_tools(server, scratch / "copied", work),
        }
        sizes = {name: stored.small_mb if "small" in name else size_mb for name in contenders}
        rates = {name: _rate(run_, sizes[name]) for name, run_ in contenders.items()}
        # So that the first does not pay for reading what the server has on its disk.
        _raw(stored, None)
        found = interleave(rates, ROUNDS, once=_ONCE)
    transfer = compare(TRANSFER, "MB/s", found["raw S3, to nothing"], {_SMALL: found[_SMALL]})
    return compare(NAME, "MB/s", found.pop("packs"), found) + transfer


@dataclass(frozen=True)
class _Stored:
    """The content of the bucket: the files below `small/`, their packs below `packs/`."""

    store: S3Store
    names: list[str]
    small_mb: float
    packs: list[bytes]

    @classmethod
    def of(cls, server: Seaweed, folder: Path, packs: Path) -> _Stored:
        store = store_of(server)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        # Files of all classes, so that their sizes are typical.
        paths = paths[:: -(-len(paths) // _SMALL_OBJECTS)]
        small_mb = sum(path.stat().st_size for path in paths) / 1e6
        names = [f"small/{path.relative_to(folder).as_posix()}" for path in paths]
        say(f"transfer: storing {len(names):,} small objects")
        with ThreadPoolExecutor(_SMALL_AT_ONCE) as pool:
            put = pool.map(lambda pair: obstore.put(store, *pair), zip(names, paths, strict=True))
            for _ in put:
                pass
        for path in packs.iterdir():
            obstore.put(store, f"packs/{path.name}", path)
        return cls(store, names, small_mb, [bytes.fromhex(path.stem) for path in packs.iterdir()])

    def stream(self, pack: bytes) -> Iterator[memoryview]:
        """Read a pack as a node does when it warms."""
        result = obstore.get(self.store, f"packs/{pack.hex()}.tar")
        for chunk in result.stream(min_chunk_size=_CHUNK_BYTES):
            yield memoryview(chunk)


def _rate(work: Callable[[], object], size_mb: float) -> Callable[[], float]:
    def measured() -> float:
        # Earlier writes must not reach the disk during this measure.
        os.sync()
        return size_mb / seconds(work)

    return measured


def _warm(stored: _Stored, cache: Path) -> None:
    """Do the cache's work (hash, write, name the packs), then remove the files."""
    fill(PackStore(cache), FillPlan(stored.packs, stored.stream), lambda progress: None)
    shutil.rmtree(cache)


def _raw(stored: _Stored, target: Path | None) -> None:
    """The same requests at once, without digests and names; synchronized as packs are."""

    def copy(pack: bytes) -> None:
        with (target / pack.hex() if target else Path(os.devnull)).open("wb", 0) as file:
            for chunk in obstore.get(stored.store, f"packs/{pack.hex()}.tar").stream(
                min_chunk_size=_CHUNK_BYTES
            ):
                file.write(chunk)
            if target:
                os.fsync(file.fileno())

    if target:
        target.mkdir()
    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        for _ in pool.map(copy, stored.packs):
            pass
    if target:
        shutil.rmtree(target)


async def _small_objects(stored: _Stored, target: Path | None) -> None:
    names = iter(stored.names)

    async def take() -> None:
        for name in names:
            data = await (await obstore.get_async(stored.store, name)).bytes_async()
            if target:
                (target / name.replace("/", "-")).write_bytes(data)

    await asyncio.gather(*(take() for _ in range(_SMALL_AT_ONCE)))


def _small_files(stored: _Stored, target: Path) -> None:
    """The small objects as files; one call at the end brings all of them to the disk."""
    target.mkdir()
    asyncio.run(_small_objects(stored, target))
    os.sync()
    shutil.rmtree(target)


def _tools(server: Seaweed, target: Path, work: Path) -> dict[str, Callable[[], object]]:
    def copier(command: Callable[[Path, str], list[str]], prefix: str) -> Callable[[], object]:
        def copy() -> None:
            binaries = install(TOOLS, work)
            _run(command(binaries, prefix), server, target)
            shutil.rmtree(target)

        return copy

    def s5cmd(binaries: Path, prefix: str) -> list[str]:
        source = f"s3://{server.bucket}/{prefix}/*"
        return [str(binaries / "s5cmd"), "--log", "error", "cp", source, f"{target}/"]

    def rclone(binaries: Path, prefix: str) -> list[str]:
        remote = f":s3,provider=Other,env_auth=true,endpoint='{server.url}'"
        flags = ["--transfers", "16", "--checkers", "16", "--config", "/dev/null"]
        source = f"{remote}:{server.bucket}/{prefix}"
        return [str(binaries / "rclone"), "copy", *flags, source, str(target)]

    return {
        "s5cmd, small objects": copier(s5cmd, "small"),
        "s5cmd, packs": copier(s5cmd, "packs"),
        "rclone, small objects": copier(rclone, "small"),
        "rclone, packs": copier(rclone, "packs"),
    }


def _run(command: list[str], server: Seaweed, target: Path) -> None:
    target.mkdir()
    environment = aws_environment(server)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        shutil.rmtree(target)
        raise PeerFailed(f"{Path(command[0]).name}: {lines[-1]}")
