"""Changes of a working tree since its commit, as a unified diff of bounded size."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

MAX_BYTES = 512 << 10
_MAX_NEW_FILE_BYTES = 64 << 10
_DIFF = (
    "-c", "core.quotePath=false", "diff", "HEAD",
    "--no-color", "--no-ext-diff", "--no-textconv", "--relative", "--src-prefix=a/",
    "--dst-prefix=b/", "--", ".",
)  # fmt: skip


def run_git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints about a folder, None if it refuses or is not there."""
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


def working_changes(folder: Path, sent: Collection[str]) -> dict[str, Any]:
    """Return the patch from HEAD to the files in `sent`, those that git does not track included.

    Binary files are named only. A patch that is too large is cut at the end of a file's part.
    """
    changed = run_git(folder, *_DIFF) or b""
    listed = run_git(folder, "ls-files", "-z", "--others", "--exclude-standard") or b""
    parts = [part for part in _split(changed) if part]
    names = sorted(name.decode(errors="replace") for name in listed.split(b"\0") if name)
    parts += [_new_file(folder, name) for name in names if name in sent]
    kept: list[bytes] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > MAX_BYTES:
            break
        kept.append(part)
    # PostgreSQL's text has no NUL.
    patch = b"".join(kept).decode(errors="replace").replace("\0", "\ufffd")
    return {"patch": patch, "truncated": len(kept) < len(parts)}


def _split(patch: bytes) -> list[bytes]:
    """Return the parts of a patch, one for each file."""
    pieces = (b"\n" + patch).split(b"\ndiff --git ")
    return [b"diff --git " + piece.rstrip(b"\n") + b"\n" for piece in pieces[1:]]


def _new_file(folder: Path, name: str) -> bytes:
    """Return a file that git does not track yet as git shows one that was added."""
    is_link = (folder / name).is_symlink()
    mode = "120000" if is_link else "100644"
    head = f"diff --git a/{name} b/{name}\nnew file mode {mode}\n".encode()
    try:
        # Git takes the target for the bytes of a link.
        data = os.readlink(os.fsencode(folder / name)) if is_link else (folder / name).read_bytes()
    except OSError:
        return b""
    if not data:
        return head
    if b"\0" in data or len(data) > _MAX_NEW_FILE_BYTES:
        return head + f"Binary files /dev/null and b/{name} differ\n".encode()
    lines = data.splitlines()
    body = b"".join(b"+" + line + b"\n" for line in lines)
    end = b"" if data.endswith(b"\n") else b"\\ No newline at end of file\n"
    named = f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n".encode()
    return head + named + body + end
