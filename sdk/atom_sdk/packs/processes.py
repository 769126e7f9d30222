"""Packs of a folder's files, written by processes of their own.

Half of what packing small files takes is Python's, of which one thread runs at a time; with one
process per core a push packs more (a fifth more on two cores). A process that fails is not asked
why: the caller writes that pack itself, and what is wrong shows as the usual error.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.writer import FileSink, PackMember, PackSummary, write_pack

_MOST_PROCESSES = 4
# Less is packed before processes have begun.
_WORTH_BYTES = 512 << 20
_PACKAGES = Path(__file__).resolve().parents[2]


def packing_processes() -> int:
    """How many processes pack at once on this machine, one per core that this process may use."""
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)


class FolderPacker:
    """Writes packs of one folder; for several threads, and one `with` block."""

    def __init__(self, folder: Path, size_bytes: int, *, follow_links: bool = False) -> None:
        """`size_bytes` is about what will be packed: a little is packed by this process."""
        self._folder = folder
        self._follow_links = follow_links
        count = packing_processes() if size_bytes >= _WORTH_BYTES else 1
        self._children = [_Child(folder, follow_links) for _ in range(count if count > 1 else 0)]
        self._free: queue.SimpleQueue[_Child] = queue.SimpleQueue()
        # One after the other here: two at once take as long, and the first is there twice as late.
        self._turn = Lock()

    def __enter__(self) -> Self:
        """Start the processes."""
        for child in self._children:
            child.start()
            self._free.put(child)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes, at once if the block failed."""
        for child in self._children:
            child.end(now=error is not None)

    def write(self, files: Sequence[SourceFile], target: Path) -> PackSummary:
        """Write files of the folder, sorted by path, as a pack into `target`, which exists.

        Raises EmptyPackError, PackOrderError, PathError, FileChangedError, OSError.
        """
        summary = self._by_child(files, target) if self._children else None
        return summary or self._here(files, target)

    def _by_child(self, files: Sequence[SourceFile], target: Path) -> PackSummary | None:
        child = self._free.get()
        try:
            return child.write(files, target)
        finally:
            self._free.put(child)

    def _here(self, files: Sequence[SourceFile], target: Path) -> PackSummary:
        with self._turn, target.open("wb", buffering=0) as file:
            sink = FileSink(file.fileno())
            return write_pack(files, self._folder, sink, follow_links=self._follow_links)


class _Child:
    """A process that packs; for one thread at a time."""

    def __init__(self, folder: Path, follow_links: bool) -> None:
        self._folder = str(folder.resolve())
        self._follow_links = follow_links
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process, if this machine lets us and Python is a program of its own."""
        if not sys.executable or getattr(sys, "frozen", False):
            return
        found = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(_PACKAGES), *([found] if found else [])])
        with suppress(OSError):
            self._process = subprocess.Popen(
                # -P: what lies in the working folder is the user's data, not our code.
                [sys.executable, "-P", "-m", "atom_sdk.packs.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
            )

    def write(self, files: Sequence[SourceFile], target: Path) -> PackSummary | None:
        """Have a pack written; None if it was not, for whatever reason."""
        question = {
            "folder": self._folder,
            "follow_links": self._follow_links,
            "target": str(target.resolve()),
            "files": [(file.path, file.size) for file in files],
        }
        answer = self._ask(json.dumps(question).encode() + b"\n")
        return _summary(files, answer) if answer else None

    def end(self, *, now: bool = False) -> None:
        """Close its questions, by which it ends; `now` does not wait for a pack."""
        process, self._process = self._process, None
        if process is None:
            return
        if now:
            process.kill()
        with process, suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()

    def _ask(self, question: bytes) -> dict[str, Any]:
        """Return the answer, an empty one if there is none; who died is not asked again."""
        if self._process is None:
            return {}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            self.end(now=True)
            return {}
        return answer


def _summary(files: Sequence[SourceFile], answer: dict[str, Any]) -> PackSummary:
    members = tuple(
        PackMember(file.path, offset, file.size, bytes.fromhex(digest))
        for file, (offset, digest) in zip(files, answer["places"], strict=True)
    )
    return PackSummary(bytes.fromhex(answer["digest"]), answer["size_bytes"], members)
