"""Mounts of volumes: folders of packs by a bind mount, views by the kernel's file system."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from atom_agent.csi.records import VolumeRecord, VolumeRecords
from atom_agent.csi.requests import VIEW
from atom_agent.errors import VolumeMountError
from atom_sdk.errors import AtomError
from atom_sdk.mount.errors import MountError, NotMountedError
from atom_sdk.mount.mountinfo import mounted_at
from atom_sdk.mount.names import EROFS, LOOP
from atom_sdk.mount.syscalls import bind_read_only
from atom_sdk.mount.syscalls import unmount as detach

# More mounts than these on one folder are not ours.
_MOST_LAYERS = 16


def is_mounted(target: Path) -> bool:
    """Whether something is mounted on a folder."""
    return mounted_at(Path(os.path.realpath(target))) is not None


def mount_volume(records: VolumeRecords, record: VolumeRecord) -> None:
    """Show a volume at its target, which is empty or missing. Raises VolumeMountError."""
    target = Path(record.target)
    try:
        if record.mode == VIEW:
            _mount_view(records, record, target)
        else:
            target.mkdir(mode=0o750, exist_ok=True)
            bind_read_only(records.shown(record.volume), target)
    except (AtomError, OSError) as error:
        raise VolumeMountError(f"The volume cannot be mounted: {error}") from error


def _mount_view(records: VolumeRecords, record: VolumeRecord, target: Path) -> None:
    # Here and not above: most agents show packs, and Arrow takes memory.
    from atom_sdk.mount import MountOptions, mount
    from atom_sdk.readers import LocalDataset

    folder = records.folder(record.volume)
    dataset = LocalDataset(folder / "view.arrow", records.shown(record.volume) / "packs")
    for way in (EROFS, LOOP):
        try:
            mount(dataset, target, folder, record.reference, MountOptions(how=way))
        except MountError:
            if way == LOOP:
                raise
        else:
            return


def unmount_volume(records: VolumeRecords, record: VolumeRecord) -> None:
    """Take a volume away from its target; repeatable. Raises VolumeMountError while it is used."""
    try:
        if record.mode == VIEW:
            from atom_sdk.mount import unmount

            with suppress(NotMountedError):
                unmount(Path(record.target), records.folder(record.volume))
    except (AtomError, OSError) as error:
        raise VolumeMountError(f"The volume cannot be unmounted: {error}") from error
    clear_target(Path(record.target))


def clear_target(target: Path) -> None:
    """Detach what is mounted on a folder and remove it. Raises VolumeMountError."""
    try:
        for _ in range(_MOST_LAYERS):
            if not is_mounted(target):
                break
            detach(target)
        target.rmdir()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise VolumeMountError(f"The volume cannot be unmounted: {error}") from error
