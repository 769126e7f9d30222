"""Records of mounts: one small file per folder, which outlives the process that mounted.

Layout: `<cache>/mounts/<id>.json`, beside it the image (`.erofs`), the view index (`.arrow`), a
log and a lock of the same id, which is made of the folder's path.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from blake3 import blake3

from atom_sdk.mount.errors import MountRecordError

_ID_DIGITS = 32
# A record is written before anything else is done, so that whatever a kill leaves can be undone.
MOUNTING, MOUNTED = "mounting", "mounted"


@dataclass(frozen=True, slots=True)
class MountRecord:
    """One mounted folder. `source` is what the kernel calls it; `skipped` says why not better ways.

    `made_folder`: the folder did not exist and goes with the mount. `links_left_out` lead out of
    the version, and are shown with `unsafe_links` only.
    """

    folder: str
    reference: str
    state: str
    how: str
    source: str
    files: int
    size_bytes: int
    direct_io: bool
    verified_files: int
    made_folder: bool
    mounted_at: str
    skipped: tuple[tuple[str, str], ...] = ()
    links: int = 0
    links_left_out: int = 0
    unsafe_links: bool = False


class MountRecords:
    """The records of one cache folder."""

    def __init__(self, cache: Path) -> None:
        """Create the folder if it is missing."""
        self.folder = cache / "mounts"
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, folder: Path, suffix: str) -> Path:
        """The file with a suffix that belongs to a mounted folder."""
        name = blake3(os.fsencode(folder)).hexdigest()[:_ID_DIGITS]
        return self.folder / f"{name}{suffix}"

    def find(self, folder: Path) -> MountRecord | None:
        """The record of a folder, if there is one. Raises MountRecordError."""
        return _read(self.path(folder, ".json"))

    def all(self) -> list[MountRecord]:
        """All records, by folder. Raises MountRecordError."""
        found = (_read(path) for path in self.folder.glob("*.json"))
        return sorted((r for r in found if r is not None), key=lambda record: record.folder)

    def write(self, record: MountRecord) -> None:
        """Keep a record; the file appears whole."""
        path = self.path(Path(record.folder), ".json")
        partial = path.with_suffix(".json.partial")
        partial.write_text(json.dumps(asdict(record), indent=2))
        partial.replace(path)

    def remove(self, folder: Path) -> None:
        """Forget a folder and everything that was kept for it."""
        for suffix in (".erofs", ".partial", ".arrow", ".log", ".json.partial", ".json"):
            self.path(folder, suffix).unlink(missing_ok=True)

    @contextmanager
    def locked(self, folder: Path) -> Iterator[None]:
        """Let one process at a time mount or unmount a folder."""
        lock = self.path(folder, ".lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            # The kernel drops the lock with the process.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _read(path: Path) -> MountRecord | None:
    try:
        saved = json.loads(path.read_text())
        return MountRecord(**{**saved, "skipped": tuple(map(tuple, saved["skipped"]))})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise MountRecordError(str(path), str(error)) from error
