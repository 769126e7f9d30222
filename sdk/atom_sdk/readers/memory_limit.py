"""How much memory this process may use for the pages of files."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_UNLIMITED = "max"


def available_bytes() -> int:
    """Memory that files may take: what is free or reclaimable, within the limit of the cgroup."""
    return min(_machine_bytes(), _cgroup_bytes(_CGROUP, _own_cgroup()))


def _machine_bytes() -> int:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    lines = dict(line.split(":", 1) for line in text.splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def _own_cgroup() -> str:
    """Path of this process in the unified hierarchy, as `/proc/self/cgroup` says it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ""
    return next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")


def _cgroup_bytes(root: Path, own: str) -> int:
    """The smallest room of the process's cgroup and those above it; huge if nothing limits it."""
    room = 1 << 62
    folder = root / own
    while True:
        limit = _number(folder / "memory.max")
        if limit is not None:
            # Pages of files are counted as used but are given back first.
            used = _number(folder / "memory.current") or 0
            room = min(room, max(0, limit - used + _file_bytes(folder / "memory.stat")))
        if folder == root or root not in folder.parents:
            return room
        folder = folder.parent


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return None if text == _UNLIMITED else int(text)


def _file_bytes(path: Path) -> int:
    try:
        lines = dict(line.split() for line in path.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(lines.get("file", 0))
