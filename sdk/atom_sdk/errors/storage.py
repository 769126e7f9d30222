"""Disks and object stores."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


class DiskFullError(AtomError):
    """A file finds no room on the disk, in the quota or below the limit of a file's size."""

    code = "disk_full"
    hint = "Free some space or raise the quota, then try again; nothing half written is left."

    def __init__(self, folder: str, free_bytes: int) -> None:
        """`free_bytes` is what the file system still offers."""
        super().__init__(f"No room in {folder}: {free_bytes} bytes are free.")
        self.folder = folder
        self.free_bytes = free_bytes


class PathInTheWayError(AtomError):
    """A file is where a folder is needed, or a folder where a file is."""

    code = "path_in_the_way"
    hint = (
        "Choose an empty folder, or remove what is there (`atom data pull --delete` does). If a "
        "version has both, as an object store allows, rename one, or leave it out by a query."
    )

    def __init__(self, path: str) -> None:
        """The path that cannot be written."""
        super().__init__(f"{path}: there is a file where a folder is needed, or a folder instead.")
        self.path = path


class LinksImpossibleError(AtomError):
    """A folder on a file system without symbolic links."""

    code = "links_impossible"
    hint = (
        "Choose a folder on another file system. To have files in place of links, push the "
        "folder again with --follow-links."
    )

    def __init__(self, folder: str) -> None:
        """The folder that was to hold links."""
        super().__init__(f"{folder} lies on a file system that holds no symbolic links.")


class ObjectNotFoundError(AtomError):
    """The object store does not have this key."""

    code = "object_not_found"
    hint = "Check the project and the dataset reference."

    def __init__(self, key: str) -> None:
        """The key as asked for."""
        super().__init__(f"There is no object {key!r} in the store.")
        self.key = key
