"""Preview Parquet files in a process of its own, bounded in memory, bytes and time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from atom.core.parquet.child import BROKEN, CUT, ENCRYPTED, HEAVY, MAX_COLUMNS, NOT_PARQUET

MAX_READ_BYTES: Final = 64 << 20
TIMEOUT_S: Final = 20.0
BUSY: Final = "busy"
REASONS: Final = ("", NOT_PARQUET, CUT, BROKEN, ENCRYPTED, HEAVY, BUSY)
# Previews at once in one server process; others wait for a moment.
_AT_ONCE = 2
_WAIT_S = 10.0
_slots = threading.BoundedSemaphore(_AT_ONCE)
_ROOT = Path(__file__).parents[3]
_ENVIRONMENT = {
    # The arenas of other allocators, and threads, would count as memory.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "LANG": "C.UTF-8",
}


@dataclass(frozen=True)
class ParquetPreview:
    """The columns and the first rows; with a `reason`, as much of them as could be read.

    Each column has a `name`, a `type` (of a page) and what is `declared` in the file.
    """

    reason: str = ""
    columns: list[dict[str, str]] = field(default_factory=list)
    rows: list[list[str | None]] = field(default_factory=list)
    row_count: int = 0
    row_groups: int = 0
    writer: str = ""
    column_count: int = 0

    @property
    def truncated(self) -> bool:
        """Whether the file holds more rows or columns than these."""
        return len(self.rows) < self.row_count or self.column_count > MAX_COLUMNS


def preview_parquet(read: Callable[[int, int], bytes], size_bytes: int) -> ParquetPreview:
    """Return what a file holds; `read(start, end)` gives its bytes."""
    if not _slots.acquire(timeout=_WAIT_S):
        return ParquetPreview(BUSY)
    try:
        return _read_in_child(read, size_bytes)
    finally:
        _slots.release()


def _read_in_child(read: Callable[[int, int], bytes], size_bytes: int) -> ParquetPreview:
    process = subprocess.Popen(
        [sys.executable, "-m", "atom.core.parquet.child", str(size_bytes)],
        cwd=_ROOT,
        env=_ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    ending = threading.Timer(TIMEOUT_S, process.kill)
    ending.start()
    asks, answers = _pipes(process)
    with process:
        try:
            found = _conversation(asks, answers, read)
        finally:
            ending.cancel()
            process.kill()
            with suppress(BrokenPipeError):
                answers.close()
    return ParquetPreview(**found)


def _conversation(
    asks: IO[bytes], answers: IO[bytes], read: Callable[[int, int], bytes]
) -> dict[str, Any]:
    """Give the process the bytes that it asks for until its output ends."""
    found: dict[str, Any] = {}
    left = MAX_READ_BYTES
    for line in asks:
        said: dict[str, Any] = json.loads(line)
        if "refused" in said:
            return {**found, "reason": said["refused"]}
        if "read" not in said:
            found |= said
            continue
        start, end = said["read"]
        left -= end - start
        if left < 0:
            return {**found, "reason": HEAVY}
        try:
            answers.write(read(start, end))
            answers.flush()
        except BrokenPipeError:
            break
    # A limit ends the process without a message.
    return found if "rows" in found else {**found, "reason": HEAVY}


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdout is None or process.stdin is None:
        raise RuntimeError("The process was started without pipes.")
    return process.stdout, process.stdin
