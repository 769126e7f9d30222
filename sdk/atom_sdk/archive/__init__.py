"""Datasets with their history in a plain folder: saved, checked offline, loaded. See README.md."""

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.archive.check import CheckReport, check_archive
    from atom_sdk.archive.folder import ArchiveFolder
    from atom_sdk.archive.follow import Followed
    from atom_sdk.archive.history import (
        ArchivedMove,
        ArchivedTag,
        History,
        decode_history,
        encode_history,
    )

__all__ = [
    "ArchiveFolder",
    "ArchivedMove",
    "ArchivedTag",
    "CheckReport",
    "Followed",
    "History",
    "check_archive",
    "decode_history",
    "encode_history",
]

_MODULES = {
    "check": ("CheckReport", "check_archive"),
    "folder": ("ArchiveFolder",),
    "follow": ("Followed",),
    "history": ("ArchivedMove", "ArchivedTag", "History", "decode_history", "encode_history"),
}
if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
