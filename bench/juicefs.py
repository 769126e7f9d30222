"""A JuiceFS volume on the same disk: the FUSE peer, set up as its documentation advises to read.

Names are in Valkey (in memory, the fastest that it has), its cache folder is on the disk that is
measured and is warmed beforehand, and names, attributes and opened files are cached for an hour,
since nothing changes; it hashes nothing, as the others do not. With its defaults and SQLite every
`open` asks the database: that made it an order of magnitude slower, and the comparison unfair.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.environments import JUICEFS, install
from bench.harness import SKIPPED, PeerFailed
from bench.preflight import fuse_missing
from bench.servers import valkey_server

NAME = "JuiceFS"
_CACHE_S = "3600"
_CACHED = [
    *("--open-cache", _CACHE_S, "--attr-cache", _CACHE_S),
    *("--entry-cache", _CACHE_S, "--dir-entry-cache", _CACHE_S, "--readdir-cache"),
    # By default it remembers 10,000 opened files only, and hashes what it reads from its cache.
    *("--open-cache-limit", "0", "--verify-cache-checksum", "none"),
]


class JuiceFs:
    """One volume: names in Valkey, objects and cache in folders of the same disk."""

    def __init__(self, program: Path, scratch: Path, meta: str, password: str) -> None:
        self._program, self._scratch, self._meta = program, scratch, meta
        # A daemon: its log and its home stay in the scratch folder.
        self._environment = {**os.environ, "HOME": str(scratch), "META_PASSWORD": password}
        self.folder = scratch / "mounted"

    @classmethod
    @contextmanager
    def holding(cls, source: Path, scratch: Path, work: Path) -> Iterator[Path]:
        """Mount a volume with a copy of `source`; yields the copy. Raises PeerFailed."""
        if reason := fuse_missing():
            raise PeerFailed(f"{SKIPPED}{reason}")
        scratch.mkdir(parents=True)
        program = install(JUICEFS, work) / "juicefs"
        with valkey_server(scratch / "valkey") as valkey:
            meta = f"redis://127.0.0.1:{valkey.port}/1"
            volume = cls(program, scratch, meta, valkey.password)
            volume._mount()
            try:
                yield volume._fill(source)
            finally:
                volume._run("umount", "--force", str(volume.folder))

    def _mount(self) -> None:
        objects, cache = self._scratch / "objects", self._scratch / "cache"
        storage = ["--storage", "file", "--bucket", f"{objects}/", "--trash-days", "0"]
        self._run("format", *storage, self._meta, "bench")
        options = ["-d", "--no-usage-report", "--cache-dir", str(cache), *_CACHED]
        self._run("mount", *options, self._meta, str(self.folder))

    def _fill(self, source: Path) -> Path:
        target = self.folder / "files"
        shutil.copytree(source, target)
        self._run("warmup", str(target))
        return target

    def _run(self, *arguments: str) -> None:
        log = self._scratch / "juicefs.log"
        with log.open("ab") as out:
            command = [str(self._program), *arguments]
            done = subprocess.run(
                command, stdout=out, stderr=out, check=False, env=self._environment
            )
        if done.returncode:
            lines = log.read_text(errors="replace").strip().splitlines() or ["no reason given"]
            raise PeerFailed(f"juicefs {arguments[0]}: {lines[-1]}")
