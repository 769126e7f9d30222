"""Looks before anything is measured: which programs, packages and rights each part needs.

The table names each need with the command that brings it. A peer without its need is left out of
the results by name, with the reason; a part without its own need is not begun.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bench import environments
from bench.environments import PeerPackages
from bench.harness import PeerFailed

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
FRONTEND = Path(__file__).parents[1] / "frontend"
# As measured: packs, single files and the peers' copies of them.
_BYTES_PER_FILE = 1_200_000
_FUSE = "apt-get install fuse3"
_FILE_SYSTEMS = Path("/proc/filesystems")


@dataclass(frozen=True)
class Need:
    """Something that `parts` need; `check` returns "" or why it is not there.

    Without a need of its own (`is_peer` is false) a part cannot be measured at all.
    """

    name: str
    parts: frozenset[str]
    check: Callable[[], str]
    install: str
    is_peer: bool = False


@dataclass(frozen=True)
class Row:
    """A need, and why it is missing: "" where it is there."""

    need: Need
    reason: str

    @property
    def advice(self) -> str:
        """Return the reason with the command that repairs it."""
        return f"{self.reason}: {self.need.install}" if self.need.install else self.reason


def needs_of(files: int, work: Path, scratch: Path) -> list[Need]:
    """Return everything that the benchmarks need beside Atom itself."""
    return [
        _need("root", "posix images", _root, "run it as root, for mounts and a cold page cache"),
        _need("EROFS", "posix images", _erofs, "modprobe erofs (Linux 5.19 or newer)"),
        _need("playwright", "portal", _playwright, "make bench, which installs it"),
        _need("a browser", "portal", browser_missing, f"apt-get install {BROWSERS[0]}"),
        _need("the built portal", "portal", _portal, "make .make/portal"),
        _need("disk", "", lambda: _disk(files, scratch), "--scratch FOLDER or fewer --files"),
        Need("fusermount", _set("reads posix"), fuse_missing, _FUSE, is_peer=True),
        *(_peer(peer, parts, work) for peer, parts in _PEERS),
    ]


def look(needs: Sequence[Need], parts: Collection[str]) -> list[Row]:
    """Check what the parts need; a peer's packages are installed meanwhile."""
    return [Row(need, need.check()) for need in needs if not need.parts or need.parts & set(parts)]


def table(rows: Sequence[Row]) -> str:
    """Return the table for people."""
    cells = [("needed", "by", "state"), *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(2)]
    lines = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in cells]
    return "\n".join(line.rstrip() for line in lines)


def blocked(rows: Sequence[Row], parts: Sequence[str]) -> dict[str, str]:
    """Return the parts that cannot be measured here, with the reason and what to do."""
    return {
        part: row.advice
        for row in reversed(rows)
        for part in parts
        if row.reason and not row.need.is_peer and part in row.need.parts
    }


def _cells(row: Row) -> tuple[str, str, str]:
    by = ", ".join(sorted(row.need.parts)) or "all"
    if row.need.is_peer:
        by += ", as a peer"
    return row.need.name, by, f"missing: {row.advice}" if row.reason else "ok"


def _set(parts: str) -> frozenset[str]:
    return frozenset(parts.split())


def _need(name: str, parts: str, check: Callable[[], str], install: str) -> Need:
    return Need(name, _set(parts), check, install)


_PEERS = (
    (environments.JUICEFS, "reads posix"),
    (environments.DVC, "ingest push"),
    (environments.TOOLS, "transfer"),
    (environments.MDS, "loaders"),
    (environments.HF, "loaders"),
    (environments.WEBDATASET, "loaders"),
    (environments.LANCE, "loaders"),
)


def _peer(peer: PeerPackages, parts: str, work: Path) -> Need:
    def check() -> str:
        try:
            environments.install(peer, work)
        except PeerFailed as error:
            return str(error)
        return ""

    command = f"pip install {' '.join((*peer.packages, *peer.bare))}"
    short = command if len(command) < 80 else f"pip install {(peer.bare or peer.packages)[0]}"
    return Need(peer.name, _set(parts), check, f"it comes by {short}", is_peer=True)


def find_browser() -> str | None:
    """Return the path of the browser that the portal is measured in."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def browser_missing() -> str:
    """Return why there is no browser, or ""."""
    return "" if find_browser() else "there is no Chromium"


def fuse_missing() -> str:
    """Return why JuiceFS cannot mount, or ""."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK):
        return "JuiceFS needs root and /dev/fuse"
    if shutil.which("fusermount3") is None and shutil.which("fusermount") is None:
        return "JuiceFS needs fusermount"
    return ""


def _root() -> str:
    return "" if os.geteuid() == 0 else "you are not root"


def _erofs() -> str:
    if not _knows_erofs() and shutil.which("modprobe"):
        # The kernel loads it with the first mount; so it may be there and not be listed.
        subprocess.run(["modprobe", "-q", "erofs"], check=False, capture_output=True)
    return "" if _knows_erofs() else "the kernel does not know EROFS"


def _knows_erofs() -> bool:
    return _FILE_SYSTEMS.exists() and "erofs" in _FILE_SYSTEMS.read_text().split()


def _playwright() -> str:
    return "" if find_spec("playwright") else "the package is not installed"


def _portal() -> str:
    return "" if (FRONTEND / "dist" / "index.html").exists() else "the portal is not built"


def _disk(files: int, scratch: Path) -> str:
    free, needed = shutil.disk_usage(scratch).free, files * _BYTES_PER_FILE
    if free >= needed:
        return ""
    return f"{scratch} has {free / 1e9:,.0f} GB free of about {needed / 1e9:,.0f} GB"
