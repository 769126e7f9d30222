"""`mount` and `unmount`: the best way that this machine allows, checked, recorded, undone."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from atom_sdk.mount import syscalls
from atom_sdk.mount.errors import (
    AlreadyMountedError,
    MountBusyError,
    MountFailedError,
    MountUnavailableError,
    NotMountedError,
    NoWayToMountError,
    TargetNotEmptyError,
)
from atom_sdk.mount.fuse import mount_fuse, unmount_as_user
from atom_sdk.mount.hardlinks import mount_links, remove_links, trim_copies
from atom_sdk.mount.kernel import mount_files
from atom_sdk.mount.loop import mount_loop
from atom_sdk.mount.mountinfo import mounted_at, users_of
from atom_sdk.mount.names import EROFS, FUSE, HARD_LINKS, LOOP, WAYS
from atom_sdk.mount.plan import MountPlan
from atom_sdk.mount.records import MOUNTED, MOUNTING, MountRecord, MountRecords
from atom_sdk.mount.verify import verify_mount
from atom_sdk.readers import LocalDataset, ViewIndex
from atom_sdk.readers.folder_view import FolderView

_MOUNT_BY_WAY: dict[str, Callable[[MountPlan], str]] = {
    EROFS: mount_files,
    LOOP: mount_loop,
    HARD_LINKS: mount_links,
    FUSE: mount_fuse,
}


@dataclass(frozen=True, slots=True)
class MountOptions:
    """`how`: one way only. `verify_all`: read every file once, not one of each pack.

    `unsafe_links` shows links that lead out of the version, too: they lead to this machine's files.
    """

    how: str | None = None
    direct_io: bool = False
    verify_all: bool = False
    modified_at_s: int = 0
    unsafe_links: bool = False


def mount(
    dataset: LocalDataset,
    folder: Path,
    cache: Path,
    reference: str,
    options: MountOptions | None = None,
) -> MountRecord:
    """Show a dataset as a read-only folder, which must be empty or missing.

    Raises AlreadyMountedError, TargetNotEmptyError, MountUnavailableError (for `how`),
    NoWayToMountError, MountVerificationError, MountLinkError, PackMissingError, PackTooShortError.
    """
    options = options or MountOptions()
    folder = Path(os.path.realpath(folder))
    records = MountRecords(cache)
    with records.locked(folder):
        _clear_leftovers(records, folder)
        view = FolderView(dataset.index, unsafe_links=options.unsafe_links)
        record = _begin(view, folder, reference, options)
        records.write(record)
        try:
            return _mount(dataset, view, records, record, options)
        except BaseException:
            _undo(records, record)
            raise


def unmount(folder: Path, cache: Path) -> tuple[MountRecord, list[str]]:
    """Take away what `mount` made; returns its record and the files of others that are left.

    Raises NotMountedError, MountBusyError.
    """
    folder = Path(os.path.realpath(folder))
    records = MountRecords(cache)
    with records.locked(folder):
        record = records.find(folder)
        if record is None:
            raise NotMountedError(str(folder))
        return record, _undo(records, record)


def mounts(cache: Path) -> list[tuple[MountRecord, bool]]:
    """All records, and whether each folder still shows its version."""
    return [(record, _is_there(record)) for record in MountRecords(cache).all()]


def mounted_below(folder: Path, cache: Path) -> list[MountRecord]:
    """Records of what is, or before a restart was, mounted at or below a folder (resolved)."""
    records = MountRecords(cache).all()
    return [record for record in records if Path(record.folder).is_relative_to(folder)]


def _begin(view: FolderView, folder: Path, reference: str, options: MountOptions) -> MountRecord:
    made_folder = _prepare(folder)
    return MountRecord(
        folder=str(folder),
        reference=reference,
        state=MOUNTING,
        how="",
        source="",
        files=len(view),
        size_bytes=int(view.sizes.sum()),
        direct_io=options.direct_io,
        verified_files=0,
        made_folder=made_folder,
        mounted_at=datetime.now(UTC).isoformat(timespec="seconds"),
        links=len(view.links),
        links_left_out=len(view.left_out),
        unsafe_links=options.unsafe_links,
    )


def _prepare(folder: Path) -> bool:
    """Make the folder if it is missing; returns whether it was."""
    try:
        if any(folder.iterdir()):
            raise TargetNotEmptyError(str(folder))
        return False
    except FileNotFoundError:
        folder.mkdir(parents=True)
        return True
    except NotADirectoryError as error:
        raise TargetNotEmptyError(str(folder), "is not a folder") from error


def _mount(
    dataset: LocalDataset,
    view: FolderView,
    records: MountRecords,
    record: MountRecord,
    options: MountOptions,
) -> MountRecord:
    folder = Path(record.folder)
    plan = MountPlan(
        dataset,
        folder,
        records.folder.parent,
        records.path(folder, ".erofs"),
        view,
        options.direct_io,
        options.modified_at_s,
    )
    skipped = []
    for how in (options.how,) if options.how else WAYS:
        if how == HARD_LINKS:
            # To remove the links one by one; the view itself may have left the cache by then.
            shutil.copyfile(dataset.index.path, records.path(folder, ".arrow"))
        # Known before it is tried: a kill in the middle leaves something of this way.
        records.write(replace(record, how=how))
        try:
            source = _MOUNT_BY_WAY[how](plan)
        except MountUnavailableError as error:
            if options.how:
                raise
            skipped.append((how, error.reason))
            continue
        found = replace(record, how=how, source=source, skipped=tuple(skipped))
        records.write(found)
        return _verified(view, records, found, options.verify_all)
    raise NoWayToMountError(skipped)


def _verified(
    view: FolderView, records: MountRecords, record: MountRecord, every_file: bool
) -> MountRecord:
    count = verify_mount(view, Path(record.folder), every_file)
    done = replace(record, state=MOUNTED, verified_files=count)
    records.write(done)
    return done


def _clear_leftovers(records: MountRecords, folder: Path) -> None:
    """Undo what a killed mount or a restarted machine left. Raises AlreadyMountedError."""
    record = records.find(folder)
    if record is None:
        return
    if record.state == MOUNTED and _is_there(record):
        raise AlreadyMountedError(record.folder, record.reference)
    _undo(records, record)


def _is_there(record: MountRecord) -> bool:
    folder = Path(record.folder)
    if record.how == HARD_LINKS:
        return folder.is_dir()
    return mounted_at(folder) is not None


def _undo(records: MountRecords, record: MountRecord) -> list[str]:
    folder = Path(record.folder)
    # A mount that was killed has an old record: ask again which way was tried last.
    record = records.find(folder) or record
    left = []
    if record.how == HARD_LINKS:
        index = ViewIndex(records.path(folder, ".arrow"))
        left = remove_links(FolderView(index, unsafe_links=record.unsafe_links), folder)
        trim_copies(records.folder.parent)
    elif _is_ours(records, record):
        _detach(folder)
    if record.made_folder and not left:
        _remove_folder(folder)
    records.remove(folder)
    return left


def _is_ours(records: MountRecords, record: MountRecord) -> bool:
    """Whether the kernel shows our mount there, and not what somebody else put on top."""
    source = mounted_at(Path(record.folder))
    if source is None or record.source:
        return source is not None and source == record.source
    # Killed between the mount and its record.
    image = str(records.path(Path(record.folder), ".erofs"))
    return source in {image, "atom"} or source.startswith("/dev/loop")


def _detach(folder: Path) -> None:
    try:
        syscalls.unmount(folder)
    except OSError as error:
        if error.errno == errno.EPERM and unmount_as_user(folder):
            return
        if error.errno in {errno.EBUSY, errno.EPERM}:
            raise MountBusyError(str(folder), users_of(folder)) from error
        raise MountFailedError(f"Unmounting {folder}", error) from error


def _remove_folder(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError as error:
        # Somebody put something into it after it was unmounted, or took it away.
        if error.errno not in {errno.ENOTEMPTY, errno.ENOENT, errno.EBUSY}:
            raise
