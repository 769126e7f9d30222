"""The files of a commit as a code snapshot: a tar.gz whose bytes depend on them alone."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from pathlib import Path
from typing import Any

from dulwich.object_store import iter_tree_contents
from dulwich.objects import S_ISGITLINK, Blob, ObjectID
from dulwich.repo import Repo

# As much as a snapshot of a working tree may have.
MAX_BYTES = 100 << 20
MAX_FILES = 100_000
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_NAMED = 20


class TooLargeError(Exception):
    """The commit holds more than a snapshot may."""


def write_archive(repo: Repo, tree: ObjectID, path: Path) -> dict[str, Any]:
    """Write the files of a tree; return their number and what is missing. TooLargeError."""
    lfs: list[str] = []
    modules: list[str] = []
    files = total_bytes = 0
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for entry in iter_tree_contents(repo.object_store, tree):
            name = entry.path.decode("utf-8", "surrogateescape")
            if S_ISGITLINK(entry.mode):
                modules.append(name)
                continue
            blob = repo[entry.sha]
            content = blob.data if isinstance(blob, Blob) else b""
            files, total_bytes = files + 1, total_bytes + len(content)
            if files > MAX_FILES or total_bytes > MAX_BYTES:
                raise TooLargeError(
                    f"The commit holds more than {MAX_BYTES >> 20} MiB or {MAX_FILES:,} files."
                )
            if content.startswith(_LFS_POINTER):
                lfs.append(name)
            _add(archive, name, entry.mode, content)
    return {
        "files_count": files,
        "lfs": [_shown(name) for name in lfs[:_NAMED]],
        "submodules": [_shown(name) for name in modules[:_NAMED]],
    }


def _add(archive: tarfile.TarFile, name: str, mode: int, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    if stat.S_ISLNK(mode):
        member.type = tarfile.SYMTYPE
        member.linkname = content.decode("utf-8", "surrogateescape")
        archive.addfile(member)
        return
    member.size = len(content)
    member.mode = 0o755 if mode & 0o100 else 0o644
    archive.addfile(member, io.BytesIO(content))


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:200]
