"""Paths that a dataset cannot hold."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


class PathError(AtomError):
    """A path that a dataset cannot hold."""

    code = "path_invalid"
    hint = "Rename the file, or leave it out, and try again."
    reason = "is not valid"

    def __init__(self, path: str) -> None:
        """Keep the path as given; the sentence shows it escaped."""
        super().__init__(f"The path {path!r} {self.reason}.")
        self.path = path


class EmptyPathError(PathError):
    """The path has no characters."""

    code = "path_empty"
    reason = "is empty"


class AbsolutePathError(PathError):
    """The path begins with a slash."""

    code = "path_absolute"
    reason = "is absolute; paths are relative to the dataset"


class PathTraversalError(PathError):
    """A segment of the path is `..`."""

    code = "path_traversal"
    reason = "has a '..' segment and could leave the dataset"


class PathNotNormalisedError(PathError):
    """The path has a `.` segment, a doubled slash or ends in a slash."""

    code = "path_not_normalised"
    reason = "has an empty or '.' segment"


class NulInPathError(PathError):
    """The path contains a NUL character, which no file system can hold."""

    code = "path_has_nul"
    reason = "contains a NUL character"


class LinkTargetError(PathError):
    """The target of a symbolic link is no text that a dataset can hold."""

    code = "link_target"
    hint = "Remove the link or give it another target, then try again."
    reason = "is a link whose target is empty, over 4,095 bytes, has a NUL or is not valid UTF-8"


class PathNotUnicodeError(PathError):
    """The file name is not valid UTF-8."""

    code = "path_not_unicode"
    reason = "is not valid UTF-8"


class PathTooLongError(PathError):
    """The path is over 4,095 bytes, or one segment is over 255 bytes."""

    code = "path_too_long"
    reason = "is over 4,095 bytes, or one of its segments is over 255 bytes"
