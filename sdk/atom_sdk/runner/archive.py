"""Unpacks a code snapshot without letting it write anywhere else."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath

LARGEST_BYTES = 4 * 1024**3
MOST_FILES = 200_000


class ArchiveError(Exception):
    """The archive is corrupt or wants to write outside; the message is a sentence for people."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a tar, plain or compressed, into a folder. Raises ArchiveError."""
    files = total_bytes = 0
    try:
        with tarfile.open(str(archive), "r:*") as tar:
            for member in tar:
                files, total_bytes = files + 1, total_bytes + member.size
                if files > MOST_FILES or total_bytes > LARGEST_BYTES:
                    raise ArchiveError("The code snapshot is too large to unpack.")
                _unpack_member(tar, member, folder)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ArchiveError(f"The code snapshot cannot be unpacked: {error}") from error


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    target = _target(folder, member.name)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    if member.issym():
        _link(member, target, folder)
        return
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise ArchiveError(f"{member.name!r} in the code snapshot is not a file, folder or link.")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove(target)
    with content, open(str(target), "wb") as out:
        shutil.copyfileobj(content, out)
    # Only the executable bit counts; setuid and others do not survive.
    target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _target(folder: Path, name: str) -> Path:
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    if name.startswith("/") or ".." in parts:
        raise ArchiveError(f"{name!r} in the code snapshot would leave the working folder.")
    target = folder.joinpath(*parts)
    # A link that was unpacked earlier may lead the parent away.
    if not _is_within(target.parent, folder):
        raise ArchiveError(f"{name!r} in the code snapshot goes through a link to outside.")
    return target


def _link(member: tarfile.TarInfo, target: Path, folder: Path) -> None:
    aimed = target.parent / member.linkname
    if os.path.isabs(member.linkname) or not _is_within(aimed, folder):
        raise ArchiveError(f"The link {member.name!r} in the code snapshot points outside.")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove(target)
    target.symlink_to(member.linkname)


def _remove(target: Path) -> None:
    if target.is_symlink() or target.is_file():
        target.unlink()


def _is_within(path: Path, folder: Path) -> bool:
    resolved, root = os.path.realpath(str(path)), os.path.realpath(str(folder))
    return resolved == root or resolved.startswith(root + os.sep)
