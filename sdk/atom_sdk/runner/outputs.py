"""Finds the files of an output folder that are ready to be sent."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SMALL_BYTES = 1024 * 1024
SMALL_STABLE_S = 1.0
LARGE_STABLE_S = 10.0
LARGE_AGAIN_S = 60.0
MOST_FILES = 10_000
COMPLETE = ".complete"
_CHECKPOINT = re.compile(r"^checkpoints/step-0*(\d+)/")
_CHECKPOINT_FOLDER = re.compile(r"^step-0*(\d+)$")


@dataclass(frozen=True)
class OutputFile:
    """One file as it was when it was looked at."""

    path: str
    size_bytes: int
    mtime_ns: int
    kind: str
    step: int | None = None

    @property
    def stamp(self) -> str:
        """Changes when the file does."""
        return f"{self.size_bytes}:{self.mtime_ns}"


class OutputScan:
    """Decides what to send: by class, when stable, only when changed."""

    def __init__(self, folder: Path) -> None:
        """Scan `folder`."""
        self._folder = folder
        self.left_out = 0
        # Time is short: the newest checkpoint goes before everything else.
        self.checkpoints_first = False

    def ready(self, sent: dict[str, str], sent_at_s: dict[str, float]) -> list[list[OutputFile]]:
        """Return groups of changed files that may go now, in the order to send them.

        `sent` gives the stamp of what was sent by path, `sent_at_s` when (monotonic).
        """
        files = [file for file in self._files() if sent.get(file.path) != file.stamp]
        loose = [f for f in files if f.kind != "checkpoint" and self._is_stable(f, sent_at_s)]
        groups = [[file] for file in sorted(loose, key=_urgency)]
        # Only the newest checkpoint: an older one that was not sent yet is of little use now.
        return self._ordered(groups, self._checkpoints(files)[:1])

    def all_left(self, sent: dict[str, str]) -> list[list[OutputFile]]:
        """Return every changed file, stable or not, most wanted first: the command has ended."""
        files = [file for file in self._files() if sent.get(file.path) != file.stamp]
        loose = sorted((f for f in files if f.kind != "checkpoint"), key=_urgency)
        return self._ordered([[file] for file in loose], self._checkpoints(files))

    def _ordered(
        self, loose: list[list[OutputFile]], checkpoints: list[list[OutputFile]]
    ) -> list[list[OutputFile]]:
        return checkpoints + loose if self.checkpoints_first else loose + checkpoints

    def _checkpoints(self, files: list[OutputFile]) -> list[list[OutputFile]]:
        """Return the files of complete checkpoints, a list per step, newest first."""
        by_step: dict[int, list[OutputFile]] = {}
        for file in files:
            if file.kind == "checkpoint" and file.step is not None:
                by_step.setdefault(file.step, []).append(file)
        return [by_step[step] for step in sorted(by_step, reverse=True)]

    def _files(self) -> Iterator[OutputFile]:
        self.left_out = 0
        for count, (path, status) in enumerate(_walk(self._folder, "")):
            if count >= MOST_FILES:
                self.left_out += 1
                continue
            kind, step = _classify(path)
            yield OutputFile(path, status.st_size, status.st_mtime_ns, kind, step)

    def _is_stable(self, file: OutputFile, sent_at_s: dict[str, float]) -> bool:
        age_s = time.time() - file.mtime_ns / 1e9
        if file.size_bytes < SMALL_BYTES:
            return age_s >= SMALL_STABLE_S
        again_s = time.monotonic() - sent_at_s.get(file.path, float("-inf"))
        return age_s >= LARGE_STABLE_S and again_s >= LARGE_AGAIN_S


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (path, status) of plain, visible files, without links and unfinished checkpoints."""
    try:
        entries = sorted(os.scandir(str(folder)), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = prefix + entry.name
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield path, status
        elif stat.S_ISDIR(status.st_mode) and _may_enter(path, Path(entry.path)):
            yield from _walk(Path(entry.path), path + "/")


def _may_enter(path: str, folder: Path) -> bool:
    parent, _, name = path.rpartition("/")
    if parent == "checkpoints" and _CHECKPOINT_FOLDER.match(name):
        return (folder / COMPLETE).exists()
    return True


def _classify(path: str) -> tuple[str, int | None]:
    match = _CHECKPOINT.match(path)
    if match:
        return "checkpoint", int(match.group(1))
    return ("model" if path.startswith("model/") else "output"), None


def _urgency(file: OutputFile) -> tuple[int, int, str]:
    """Small results first, then the model, then large files."""
    rank = 0 if file.kind == "output" and file.size_bytes < SMALL_BYTES else 1
    return (rank if file.kind != "model" else 1, file.size_bytes, file.path)
