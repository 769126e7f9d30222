"""Records of volumes on the disk: they outlive the process, so that mounts stay known.

Layout: `<cache>/volumes/<id>/record.json`, beside it `shown/`, the folder that a pod sees, and
`view.arrow` for a view. The id is made of the volume's id.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from blake3 import blake3

_ID_DIGITS = 32
# A record is written before anything is done, so that whatever a kill leaves can be undone.
PUBLISHING, PUBLISHED = "publishing", "published"


@dataclass(frozen=True, slots=True)
class VolumeRecord:
    """A volume of a pod. `project` and `packs` are empty until the server has answered."""

    volume: str
    target: str
    version: str
    alias: str
    mode: str
    waits: bool
    pod_uid: str
    state: str = PUBLISHING
    project: str = ""
    reference: str = ""
    packs: tuple[str, ...] = ()


class VolumeRecords:
    """All records of a node."""

    def __init__(self, cache: Path) -> None:
        """Use a cache folder; nothing is made yet, since the disk may be bad."""
        self.root = cache / "volumes"

    def folder(self, volume: str) -> Path:
        """The folder of a volume."""
        return self.root / blake3(volume.encode()).hexdigest()[:_ID_DIGITS]

    def shown(self, volume: str) -> Path:
        """The folder that a pod sees."""
        return self.folder(volume) / "shown"

    def find(self, volume: str) -> VolumeRecord | None:
        """The record of a volume, None if there is none or its file is broken."""
        return _read(self.folder(volume) / "record.json")

    def all(self) -> list[VolumeRecord]:
        """All records."""
        return [record for record in map(_read, self._files()) if record is not None]

    def write(self, record: VolumeRecord) -> None:
        """Keep a record; the file appears whole. Raises OSError."""
        folder = self.folder(record.volume)
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / "record.partial"
        with partial.open("w") as file:
            json.dump(asdict(record), file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / "record.json")

    def remove(self, volume: str) -> None:
        """Forget a volume; the record goes last. Raises OSError."""
        folder = self.folder(volume)
        shutil.rmtree(self.shown(volume), ignore_errors=True)
        (folder / "record.json").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def _files(self) -> Iterator[Path]:
        with suppress(FileNotFoundError):
            yield from sorted(self.root.glob("*/record.json"))


def _read(path: Path) -> VolumeRecord | None:
    try:
        fields = json.loads(path.read_text())
        return VolumeRecord(**{**fields, "packs": tuple(fields["packs"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
