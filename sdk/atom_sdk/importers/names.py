"""Names that a foreign archive or annotation file gives, made paths of a dataset or refused."""

from __future__ import annotations

import re

from atom_sdk.errors import AtomError, PathError
from atom_sdk.packs.paths import encode_path

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LITTER = re.compile(r"(^|/)(__MACOSX(/|$)|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._[^/]*$)")
_SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}
_YEAR = re.compile(r"(?<=[a-z])[-_]?(19|20)\d\d$")


class NameRefusedError(AtomError):
    """A name that is no path of a dataset; the text says why in a few words."""

    code = "name_refused"
    hint = "Rename the file in the archive."


def normalised(name: str) -> str:
    """Return the path that a name stands for: without `./` and doubled slashes.

    Raises NameRefusedError for one that is absolute, leaves its folder or holds what no path may.
    """
    if name.startswith("/") or _DRIVE.match(name):
        raise NameRefusedError("its path is absolute")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise NameRefusedError("its path leaves the folder (..)")
    path = "/".join(parts)
    try:
        encode_path(path)
    except PathError as error:
        reason = _REASONS.get(error.code, "a dataset cannot hold its path")
        raise NameRefusedError(reason) from error
    return path


_REASONS = {
    "path_has_nul": "its path has a NUL character",
    "path_not_unicode": "its path is no Unicode text",
    "path_too_long": "its path is too long",
    "path_empty": "it has no path",
}


def is_litter(path: str) -> bool:
    """Whether an operating system left the file there, not a person."""
    return bool(_LITTER.search(path))


def split_of(name: str) -> str | None:
    """Return the split that a name says (`valid`, `train2017`), None if it says none."""
    return _SPLITS.get(_YEAR.sub("", name.lower()))


def split_in(path: str) -> str | None:
    """Return the split that one of the folders above a file names; the lowest one counts."""
    for part in reversed(path.split("/")[:-1]):
        if (found := split_of(part)) is not None:
            return found
    return None
