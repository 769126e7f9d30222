"""A snapshot of the working tree: what `atom run` sends as a run's code.

In a git checkout the tracked and untracked-but-not-ignored files are taken, elsewhere every
file but the usual clutter. The archive is deterministic, so the same code has the same digest
and is sent once. A symbolic link is sent as a link if it stays inside of the folder.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from blake3 import blake3

from atom_sdk.amounts import size_text
from atom_sdk.client.code.git_diff import run_git, working_changes
from atom_sdk.client.errors import ClientError
from atom_sdk.client.transport.http import Http, send_object

MAX_BYTES = 100 << 20
_NAMED = 5
_NEARLY_ALL = 0.8
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
    # The changes since that commit; None without one.
    changes: dict[str, Any] | None = None
    # Symbolic links that would lead out of the folder of the run, or nowhere.
    links_left_out: tuple[str, ...] = ()


def take_snapshot(folder: Path) -> Snapshot:
    """Return the snapshot of a folder. Raises SnapshotTooLargeError."""
    git = _git_state(folder)
    paths, left_out = _without_leaving(folder, _git_files(folder) if git else _walk(folder))
    sizes = {path: (folder / path).lstat().st_size for path in paths}
    total = sum(sizes.values())
    if total > MAX_BYTES:
        largest = ", ".join(f"{name} ({size_text(size)})" for name, size in _largest(sizes))
        raise SnapshotTooLargeError(
            f"{folder} holds {size_text(total)} of code; at most {size_text(MAX_BYTES)} fit. "
            f"The largest: {largest}."
        )
    archive = _archive(folder, paths)
    changes = working_changes(folder, paths) if git and git["dirty"] else None
    digest = blake3(archive).hexdigest()
    return Snapshot(archive, digest, len(paths), git, changes, left_out)


def send_snapshot(http: Http, project: str, snapshot: Snapshot) -> str:
    """Send a snapshot unless the server has it, and return its id."""
    body = {
        "digest": snapshot.digest,
        "size_bytes": len(snapshot.archive),
        "files_count": snapshot.files_count,
        "git": snapshot.git,
        "changes": snapshot.changes,
    }
    answer = http.post(f"projects/{project}/code-snapshots/", body)
    if answer["state"] == "upload":
        send_object(http, "PUT", answer["put_url"], content=snapshot.archive)
        http.post(f"code-snapshots/{answer['id']}/complete/")
    return str(answer["id"])


def _largest(sizes: dict[str, int]) -> list[tuple[str, int]]:
    """Return the largest folders and files with their bytes, largest first.

    Where one thing in a folder makes up nearly all of it, that is named instead.
    """
    within: dict[str, dict[str, int]] = {}
    for path, size in sizes.items():
        parts = path.split("/")
        for depth in range(len(parts)):
            folder = within.setdefault("/".join(parts[:depth]), {})
            child = "/".join(parts[: depth + 1]) + ("/" if depth < len(parts) - 1 else "")
            folder[child] = folder.get(child, 0) + size
    named = [_narrowed(one, within) for one in within.get("", {}).items()]
    return sorted(named, key=lambda one: (-one[1], one[0]))[:_NAMED]


def _narrowed(one: tuple[str, int], within: dict[str, dict[str, int]]) -> tuple[str, int]:
    name, size = one
    while name.endswith("/"):
        child, child_bytes = max(within[name[:-1]].items(), key=lambda each: each[1])
        if child_bytes < _NEARLY_ALL * size:
            break
        name, size = child, child_bytes
    return name, size


def _archive(folder: Path, paths: list[str]) -> bytes:
    raw = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in paths:
            info = tar.gettarinfo(str(folder / path), arcname=path)
            info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
            if info.issym():
                # Kernels differ in the mode of links.
                info.mode = 0o777
                tar.addfile(info)
                continue
            with (folder / path).open("rb") as file:
                tar.addfile(info, file)
    return raw.getvalue()


def _git_state(folder: Path) -> dict[str, Any] | None:
    commit = run_git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    branch = run_git(folder, "rev-parse", "--abbrev-ref", "HEAD") or b""
    dirty = run_git(folder, "status", "--porcelain", "--", ".") or b""
    return {
        "commit": commit.decode().strip(),
        "branch": branch.decode().strip(),
        "dirty": bool(dirty),
    }


def _git_files(folder: Path) -> list[str]:
    listed = run_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard") or b""
    paths = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    return sorted(path for path in paths if _can_be_sent(folder / path))


def _walk(folder: Path) -> list[str]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _CLUTTER)
        base = Path(root)
        # A symbolic link to a folder is listed as a file, and not entered.
        names = [*files, *(name for name in folders if (base / name).is_symlink())]
        sent = [base / name for name in names if _can_be_sent(base / name)]
        found += [str(path.relative_to(folder)) for path in sent]
    return sorted(found)


def _can_be_sent(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _without_leaving(folder: Path, paths: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Leave out the links that the runner refuses, and what git still knows below a link."""
    links = {path: os.readlink(folder / path) for path in paths if (folder / path).is_symlink()}
    left_out = tuple(path for path in links if not _stays_inside(path, links))
    inside = links.keys() - left_out
    above = (set(map(str, PurePosixPath(path).parents)) for path in paths)
    kept = [path for path, over in zip(paths, above, strict=True) if not over & inside]
    return [path for path in kept if path not in left_out], left_out


def _stays_inside(path: str, links: dict[str, str]) -> bool:
    """Whether a link stays inside whichever of the others were unpacked before it."""
    # Loaded when used: the command line starts sooner without Arrow.
    from atom_sdk.manifests.links import follow_link

    parts = [part for part in links[path].split("/") if part not in {"", "."}]
    names = [*itertools.dropwhile(lambda part: part == "..", parts)]
    return ".." not in names and follow_link(path, links.get).path is not None
