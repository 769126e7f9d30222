"""Errors between a version and a folder.

MountError
├── ImageLimitError           the format cannot describe this version
├── NameConflictError         a path is a file and a folder at once
├── UnalignedPackError        a file does not start at a block
├── PackTooShortError         a pack ends before its last file
├── IncompleteViewError       files that are in no pack
├── MountUnavailableError     one way of mounting is not possible here; says why
├── NoWayToMountError         none is possible; says why not, way by way
├── MountVerificationError    the mounted folder gives wrong bytes
├── MountLinkError            the mounted folder gives a wrong link
├── TargetNotEmptyError       the folder holds something already
├── AlreadyMountedError       the folder is mounted already
├── NotMountedError           nothing of ours is mounted there
├── MountBusyError            processes use the folder
├── MountRecordError          the note of what is mounted cannot be read
└── MountFailedError          the system refused for another reason
"""

from __future__ import annotations

from collections.abc import Sequence

from atom_sdk.errors import AtomError


class MountError(AtomError):
    """Base of the failures of showing a version as a folder."""

    code = "mount"
    hint = "Use 'atom data pull' to copy the files instead."


class ImageLimitError(MountError):
    """A limit of the EROFS format."""

    code = "mount_image_limit"
    hint = "Mount a part of the version, or another way: --how hardlinks."

    def __init__(self, what: str, limit: int, actual: int) -> None:
        """`what` is a plural: "packs"."""
        super().__init__(f"An EROFS image holds at most {limit:,} {what}; this needs {actual:,}.")
        self.limit = limit
        self.actual = actual


class NameConflictError(MountError):
    """A path is a file and a folder at once, as only an object store allows."""

    code = "mount_name_conflict"
    hint = "Rename one of them in a new version; until then read it with Client().datasets.open()."

    def __init__(self, path: str) -> None:
        """The path that exists twice."""
        super().__init__(f"{path!r} is a file and a folder at once, so no folder can show it.")
        self.path = path


class UnalignedPackError(MountError):
    """A file does not start at a multiple of 4,096 bytes of its pack."""

    code = "mount_unaligned"
    hint = "Mount another way, --how hardlinks, or push the files again with a newer atom-sdk."

    def __init__(self, path: str, offset_bytes: int) -> None:
        """Path of the first such file."""
        super().__init__(f"{path!r} starts at byte {offset_bytes:,} of its pack, inside a block.")
        self.path = path


class PackTooShortError(MountError):
    """A pack on this machine ends before its last file does."""

    code = "mount_pack_too_short"
    hint = "Remove that pack from the cache folder and mount again; it is fetched anew."

    def __init__(self, pack: str, expected_bytes: int, actual_bytes: int) -> None:
        """Give the digest in hex and both sizes."""
        super().__init__(
            f"The pack {pack} has {actual_bytes:,} bytes; its files need {expected_bytes:,}."
        )
        self.pack = pack


class IncompleteViewError(MountError):
    """Some files of the version are in no pack, so a folder would silently lack them."""

    code = "mount_incomplete"
    hint = "Wait until the version is packed, or read those files through the server."

    def __init__(self, files: int, packed: int) -> None:
        """Counts are files."""
        super().__init__(f"Only {packed:,} of the version's {files:,} files are in packs.")


class MountUnavailableError(MountError):
    """One way of mounting is not possible on this machine; the message says why."""

    code = "mount_unavailable"
    hint = "Leave --how out: the best way that works is chosen."

    def __init__(self, reason: str) -> None:
        """`reason` is a sentence without its full stop."""
        super().__init__(f"{reason}.")
        self.reason = reason


class NoWayToMountError(MountError):
    """No way of mounting is possible here."""

    code = "mount_no_way"
    hint = "Use 'atom data pull' to copy the files, or remove one of the obstacles."

    def __init__(self, reasons: Sequence[tuple[str, str]]) -> None:
        """Pairs of way and reason, in the order they were tried."""
        said = "; ".join(f"{how}: {reason}" for how, reason in reasons)
        super().__init__(f"This version cannot be mounted here. {said}.")
        self.reasons = tuple(reasons)


class MountVerificationError(MountError):
    """A file that was read through the mounted folder does not have its digest."""

    code = "mount_wrong_data"
    hint = "Remove that pack from the cache folder and mount again; it is fetched anew."

    def __init__(self, path: str, pack: str, problem: str) -> None:
        """`pack` as 64 hex digits; `problem` says what was read."""
        super().__init__(
            f"{path!r} of the pack {pack} {problem} through the mounted folder, which was removed "
            "again."
        )
        self.path = path
        self.pack = pack


class MountLinkError(MountError):
    """A link of the mounted folder is not the version's."""

    code = "mount_wrong_link"
    hint = "Mount the version another way: --how hardlinks, or copy it with 'atom data pull'."

    def __init__(self, path: str, problem: str) -> None:
        """`problem` says what was found."""
        super().__init__(
            f"The link {path!r} {problem} in the mounted folder, which was removed again."
        )
        self.path = path


class TargetNotEmptyError(MountError):
    """The folder to mount on holds something, or is no folder."""

    code = "mount_target_not_empty"
    hint = "Choose an empty folder, or one that does not exist yet."

    def __init__(self, folder: str, problem: str = "is not empty") -> None:
        """`problem` completes a sentence that begins with the folder."""
        super().__init__(f"{folder} {problem}.")
        self.folder = folder


class AlreadyMountedError(MountError):
    """The folder shows a version already."""

    code = "mount_already"
    hint = "Run 'atom unmount' on it first, or choose another folder."

    def __init__(self, folder: str, reference: str) -> None:
        """`reference` is what is mounted there."""
        super().__init__(f"{folder} shows {reference} already.")
        self.folder = folder


class NotMountedError(MountError):
    """Nothing that `atom mount` made is at this folder."""

    code = "mount_not_mounted"
    hint = "Run 'atom mount' without arguments to see what is mounted where."

    def __init__(self, folder: str) -> None:
        """The folder as given."""
        super().__init__(f"Atom has mounted nothing on {folder}.")
        self.folder = folder


class MountBusyError(MountError):
    """Processes use files or folders below the mount."""

    code = "mount_busy"
    hint = "End these processes or let them leave the folder, then run the same command again."

    def __init__(self, folder: str, users: Sequence[str]) -> None:
        """`users` are processes as `name (pid)`, as far as they can be seen."""
        by = ", ".join(users) or "a process that this user may not see"
        super().__init__(f"{folder} is in use by {by}.")
        self.folder = folder
        self.users = tuple(users)


class MountRecordError(MountError):
    """The file that says what is mounted on a folder cannot be read."""

    code = "mount_record"
    hint = "Unmount the folder with umount, then remove that file."

    def __init__(self, path: str, problem: str) -> None:
        """`path` is the record's own file."""
        super().__init__(f"The record of a mount, {path}, cannot be read: {problem}.")
        self.path = path


class MountFailedError(MountError):
    """The operating system refused a step."""

    code = "mount_failed"
    hint = "Look at the end of the kernel's log (dmesg), which names the cause."

    def __init__(self, step: str, error: OSError) -> None:
        """`step` is what was tried."""
        super().__init__(f"{step} failed: {error.strerror or error}.")
        self.errno = error.errno
