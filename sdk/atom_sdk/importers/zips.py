"""Zip archives: members are read where they lie, in any order."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from atom_sdk.importers.checked import checked
from atom_sdk.importers.errors import ArchiveDamagedError
from atom_sdk.importers.items import Blob, file_blob
from atom_sdk.importers.limits import ArchiveLimits, Budget
from atom_sdk.importers.report import Report
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree, gather
from atom_sdk.importers.zip_names import member_names

_ENCRYPTED = 1
_METHODS = frozenset(
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
)


def zip_tree(path: Path, limits: ArchiveLimits, report: Report, text: TextOptions) -> Tree:
    """Members of a zip file. Raises ArchiveDamagedError, ArchiveTooLargeError, ZipEncodingError."""
    with ExitStack() as stack:
        archive = open_zip(path, path.name, stack)
        files = zip_files(archive, file_blob(path), path.name, limits, report, text)
        return Tree(path.name, files, stack.pop_all(), text)


def open_zip(source: Path | IO[bytes], name: str, stack: ExitStack) -> zipfile.ZipFile:
    """Open a zip file until the stack ends. Raises ArchiveDamagedError."""
    try:
        return stack.enter_context(zipfile.ZipFile(source))
    except DAMAGES as error:
        raise ArchiveDamagedError(f"{name} cannot be read as a zip file: {error}.") from error


def zip_files(
    archive: zipfile.ZipFile,
    blob: Blob,
    name: str,
    limits: ArchiveLimits,
    report: Report,
    text: TextOptions,
) -> dict[str, Blob]:
    """Return the members by path; `blob` is the archive itself.

    Raises ArchiveTooLargeError, ZipEncodingError.
    """
    names = member_names(archive.infolist(), name, text.zip_encoding, report)
    budget = Budget(name, blob.size_bytes, limits)
    return gather(_members(archive, names, budget, blob.mtime_ns, report), report)


def _members(
    archive: zipfile.ZipFile, names: list[str], budget: Budget, mtime_ns: int, report: Report
) -> Iterator[tuple[str, Blob]]:
    for info, name in zip(archive.infolist(), names, strict=True):
        budget.take_member(info.file_size)
        if name.endswith("/"):
            continue
        if (reason := _refusal(info)) is not None:
            report.skip(name, reason)
            continue
        opener = partial(_open, archive, info, name)
        yield name, Blob(info.file_size, opener, mtime_ns)


def _refusal(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is a link or a special file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "it is compressed by a method that is not known here"
    return None


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> IO[bytes]:
    try:
        return checked(archive.open(info), name, info.file_size, DAMAGES)
    except DAMAGES as error:
        raise ArchiveDamagedError(f"The member {name!r} is damaged: {error}.") from error
