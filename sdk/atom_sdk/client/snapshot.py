"""A snapshot of the working tree: what `atom run` sends as a run's code.

In a git checkout the tracked and untracked-but-not-ignored files are taken, elsewhere every
file but the usual clutter. The archive is deterministic, so the same code has the same digest
and is sent once.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from atom_sdk.client.errors import ClientError
from atom_sdk.client.http import Http, send_object

MAX_BYTES = 100 << 20
_CLUTTER = frozenset(
    {
        ".git",
        "__pycache__",
        ".venv",
        "venv",
        "node_modules",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".ipynb_checkpoints",
    }
)


class SnapshotTooLargeError(ClientError):
    """The working tree holds more than a snapshot may."""

    code = "snapshot_too_large"
    hint = "Put data into a dataset (atom data push), and build outputs into .gitignore."


@dataclass(frozen=True)
class Snapshot:
    """A tar.gz of some code, its BLAKE3 and where it came from."""

    archive: bytes
    digest: str
    files_count: int
    git: dict[str, Any] | None


def take_snapshot(folder: Path) -> Snapshot:
    """Return the snapshot of a folder. Raises SnapshotTooLargeError."""
    git = _git_state(folder)
    paths = _git_files(folder) if git else _walk(folder)
    total = sum((folder / path).stat().st_size for path in paths)
    if total > MAX_BYTES:
        raise SnapshotTooLargeError(f"{folder} holds {total >> 20} MiB of code; at most 100 fit.")
    archive = _archive(folder, paths)
    return Snapshot(archive, blake3(archive).hexdigest(), len(paths), git)


def send_snapshot(http: Http, project: str, snapshot: Snapshot) -> str:
    """Send a snapshot unless the server has it, and return its id."""
    body = {
        "digest": snapshot.digest,
        "size_bytes": len(snapshot.archive),
        "files_count": snapshot.files_count,
        "git": snapshot.git,
    }
    answer = http.post(f"projects/{project}/code-snapshots/", body)
    if answer["state"] == "upload":
        send_object(http, "PUT", answer["put_url"], content=snapshot.archive)
        http.post(f"code-snapshots/{answer['id']}/complete/")
    return str(answer["id"])


def _archive(folder: Path, paths: list[str]) -> bytes:
    raw = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in paths:
            info = tar.gettarinfo(str(folder / path), arcname=path)
            info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
            with (folder / path).open("rb") as file:
                tar.addfile(info, file)
    return raw.getvalue()


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(  # fixed program, arguments of our own
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _git_state(folder: Path) -> dict[str, Any] | None:
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD") or b""
    dirty = _git(folder, "status", "--porcelain", "--", ".") or b""
    return {
        "commit": commit.decode().strip(),
        "branch": branch.decode().strip(),
        "dirty": bool(dirty),
    }


def _git_files(folder: Path) -> list[str]:
    listed = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard") or b""
    paths = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    return sorted(path for path in paths if _regular(folder / path))


def _walk(folder: Path) -> list[str]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _CLUTTER)
        base = Path(root)
        found += [str((base / name).relative_to(folder)) for name in files if _regular(base / name)]
    return sorted(found)


def _regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
