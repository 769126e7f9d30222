"""The mounts of the kernel, and the processes that use them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MOUNTINFO = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")
# Fields of a line: the mount point is the fifth; the source is the second after the dash.
_POINT = 4


def mounted_at(folder: Path) -> str | None:
    """The source of what is mounted on a folder, the topmost if there are several."""
    found = None
    for line in _MOUNTINFO.read_text(errors="surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        if _plain(fields.split(" ")[_POINT]) == str(folder):
            found = _plain(rest.split(" ")[1])
    return found


def _plain(text: str) -> str:
    """Spaces, tabs, line feeds and backslashes are written as octal numbers."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


def users_of(folder: Path) -> list[str]:
    """Processes that have a file or folder below `folder` open, as `name (pid)`.

    Only those that this user may look into.
    """
    return [
        f"{_name(process)} ({process.name})"
        for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name))
        if any(_is_below(target, folder) for target in _targets(process))
    ]


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "a process"


def _targets(process: Path) -> Iterator[str]:
    try:
        links = [process / "cwd", process / "root", *(process / "fd").iterdir()]
        for link in links:
            yield os.readlink(link)
        maps = (process / "maps").read_text(errors="surrogateescape")
    except OSError:
        return
    for line in maps.splitlines():
        yield line.partition("/")[1] + line.partition("/")[2]


def _is_below(target: str, folder: Path) -> bool:
    return target == str(folder) or target.startswith(f"{folder}/")
