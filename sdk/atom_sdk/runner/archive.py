"""Packs folders, and unpacks them without letting them write anywhere else."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

# zlib's level 1 is several times as fast as 6, and hardly larger for libraries.
_FAST = 1


class ArchiveError(Exception):
    """The archive is corrupt or wants to write outside; the message is a sentence for people."""


@dataclass(frozen=True)
class Rules:
    """Limits of an archive; `name` is the archive's in sentences."""

    name: str = "the code snapshot"
    largest_bytes: int = 4 * 1024**3
    most_files: int = 200_000
    # An environment links to the interpreter of its image.
    links_anywhere: bool = False
    # Compiled modules are only valid for sources of the same time.
    keeps_times: bool = False


CODE = Rules()
ENVIRONMENT = Rules("the environment", 64 * 1024**3, 2_000_000, True, True)


def pack(folder: Path, archive: Path) -> int:
    """Pack a folder's content into a compressed tar; return the bytes of its files. OSError."""
    size_bytes = 0
    with open(str(archive), "wb") as raw, gzip.GzipFile("", "wb", _FAST, raw) as packed:
        stream = cast("IO[bytes]", packed)
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for path in sorted(folder.rglob("*")):
                size_bytes += _add(tar, path, path.relative_to(folder).as_posix())
    return size_bytes


def _add(tar: tarfile.TarFile, path: Path, name: str) -> int:
    """Add a file, folder or link; return the bytes of a file's content."""
    info = tar.gettarinfo(str(path), name)
    if info.islnk():  # a second name of a file: each name has its own content
        info.type, info.size = tarfile.REGTYPE, path.stat().st_size
    if info.isreg():
        with path.open("rb") as content:
            tar.addfile(info, content)
        return info.size
    if info.isdir() or info.issym():
        tar.addfile(info)
    return 0


def unpack(archive: Path, folder: Path, rules: Rules = CODE) -> None:
    """Unpack a tar, plain or compressed, into a folder. Raises ArchiveError."""
    files = total_bytes = 0
    try:
        with tarfile.open(str(archive), "r:*") as tar:
            for member in tar:
                files, total_bytes = files + 1, total_bytes + member.size
                if files > rules.most_files or total_bytes > rules.largest_bytes:
                    raise ArchiveError(f"{_capital(rules)} is too large to unpack.")
                _unpack_member(tar, member, folder, rules)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ArchiveError(f"{_capital(rules)} cannot be unpacked: {error}") from error


def _capital(rules: Rules) -> str:
    return rules.name[0].upper() + rules.name[1:]


def _unpack_member(
    tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, rules: Rules
) -> None:
    target = _target(folder, member.name, rules)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    if member.issym():
        _link(member, target, folder, rules)
        return
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise ArchiveError(f"{member.name!r} in {rules.name} is not a file, folder or link.")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove(target)
    with content, open(str(target), "wb") as out:
        shutil.copyfileobj(content, out)
    # Only the executable bit counts; setuid and others do not survive.
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
    if rules.keeps_times:
        os.utime(str(target), (member.mtime, member.mtime))


def _target(folder: Path, name: str, rules: Rules) -> Path:
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    if name.startswith("/") or ".." in parts:
        raise ArchiveError(f"{name!r} in {rules.name} would leave its folder.")
    target = folder.joinpath(*parts)
    # A link that was unpacked earlier may lead the parent away.
    if not _is_within(target.parent, folder):
        raise ArchiveError(f"{name!r} in {rules.name} goes through a link to outside.")
    return target


def _link(member: tarfile.TarInfo, target: Path, folder: Path, rules: Rules) -> None:
    aimed = target.parent / member.linkname
    is_inside = not os.path.isabs(member.linkname) and _is_within(aimed, folder)
    if not (rules.links_anywhere or is_inside):
        raise ArchiveError(f"The link {member.name!r} in {rules.name} points outside.")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove(target)
    target.symlink_to(member.linkname)


def _remove(target: Path) -> None:
    if target.is_symlink() or target.is_file():
        target.unlink()


def _is_within(path: Path, folder: Path) -> bool:
    resolved, root = os.path.realpath(str(path)), os.path.realpath(str(folder))
    return resolved == root or resolved.startswith(root + os.sep)
