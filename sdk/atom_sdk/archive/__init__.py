"""Datasets with their history in a plain folder: saved, checked offline, loaded. See README.md."""

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
