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
from typing import IO, NamedTuple

from atom_sdk.importers.archive_links import ArchiveLinks
from atom_sdk.importers.errors import ArchiveDamagedError
from atom_sdk.importers.items import Blob, file_blob
from atom_sdk.importers.limits import ArchiveLimits, Budget
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import member_damaged
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree, gather
from atom_sdk.importers.verified_stream import checked
from atom_sdk.importers.zip_names import member_names
from atom_sdk.packs.paths import MAX_TARGET_BYTES
from atom_sdk.sentences import Sentence

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


def zip_tree(
    path: Path,
    limits: ArchiveLimits,
    report: Report,
    text: TextOptions,
    *,
    follow_links: bool = False,
) -> Tree:
    """Members of a zip file. Raises ArchiveDamagedError, ArchiveTooLargeError, ZipEncodingError."""
    with ExitStack() as stack:
        archive = open_zip(path, path.name, stack)
        found = zip_files(archive, file_blob(path), path.name, limits, report, text)
        links: dict[str, str] = {}
        if follow_links:
            found.links.follow(found.files, found.budget, report)
        else:
            links = found.links.kept(found.files, report)
        return Tree(path.name, found.files, stack.pop_all(), text, links)


def open_zip(source: Path | IO[bytes], name: str, stack: ExitStack) -> zipfile.ZipFile:
    """Open a zip file until the stack ends. Raises ArchiveDamagedError."""
    try:
        return stack.enter_context(zipfile.ZipFile(source))
    except DAMAGES as error:
        reason = Sentence(
            "formats.not_zip",
            "{name} cannot be read as a zip file: {reason}.",
            name=name,
            reason=str(error),
        )
        raise ArchiveDamagedError(reason) from error


def zip_files(
    archive: zipfile.ZipFile,
    blob: Blob,
    name: str,
    limits: ArchiveLimits,
    report: Report,
    text: TextOptions,
) -> ZipMembers:
    """Return the members by path; `blob` is the archive itself.

    Raises ArchiveTooLargeError, ZipEncodingError.
    """
    names = member_names(archive.infolist(), name, text.zip_encoding, report)
    budget = Budget(name, blob.size_bytes, limits)
    links = ArchiveLinks()
    members = _members(archive, names, budget, blob.mtime_ns, report, links)
    return ZipMembers(gather(members, report), links, budget)


class ZipMembers(NamedTuple):
    """The files and links of an archive, and how much it may still unpack."""

    files: dict[str, Blob]
    links: ArchiveLinks
    budget: Budget


def _members(
    archive: zipfile.ZipFile,
    names: list[str],
    budget: Budget,
    mtime_ns: int,
    report: Report,
    links: ArchiveLinks,
) -> Iterator[tuple[str, Blob]]:
    for info, name in zip(archive.infolist(), names, strict=True):
        budget.take_member(info.file_size)
        if name.endswith("/"):
            continue
        if (reason := _refusal(info)) is not None:
            report.skip(name, reason)
            continue
        if stat.S_ISLNK(info.external_attr >> 16):
            _add_link(archive, info, name, links, report)
            continue
        opener = partial(_open, archive, info, name)
        yield name, Blob(info.file_size, opener, mtime_ns)


def _add_link(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, links: ArchiveLinks, report: Report
) -> None:
    """Note a link: its bytes are its target. Raises ArchiveDamagedError."""
    if info.file_size > MAX_TARGET_BYTES:
        report.skip(name, "it is a link whose target a dataset cannot hold")
        return
    with _open(archive, info, name) as stream:
        links.add(name, stream.read().decode("utf-8", "surrogateescape"))


def _refusal(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFLNK):
        return "it is a special file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "it is compressed by a method that is not known here"
    return None


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> IO[bytes]:
    try:
        return checked(archive.open(info), name, info.file_size, DAMAGES)
    except DAMAGES as error:
        raise ArchiveDamagedError(member_damaged(name, error)) from error
