"""Differences of code, file by file: from a patch that git wrote, or between two sets of files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_FILES: Final = 300
MAX_FILE_CHARS: Final = 100_000
# Comparing takes the product of both in the worst case.
MAX_LINES: Final = 3000
_HEADER = re.compile(r'^diff --git (?:"?a/(.*?)"?) (?:"?b/(.*?)"?)$')

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
STATUSES: Final = (ADDED, REMOVED, CHANGED)


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file: the hunks of a unified diff, or why there are none (`omitted`)."""

    path: str
    status: str
    hunks: str
    added: int = 0
    removed: int = 0
    # "binary" or "large"
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of a snapshot; `text` is None where it is binary or too large."""

    sha256: str
    size_bytes: int
    text: str | None


def split_patch(patch: str) -> list[FileDiff]:
    """Return the files of a patch as git writes it; what cannot be read is left out."""
    found = []
    for piece in f"\n{patch}".split("\ndiff --git ")[1:]:
        header, _, rest = piece.partition("\n")
        named = _HEADER.match(f"diff --git {header}")
        if named is not None:
            found.append(_of_patch(named.group(2), rest))
    return found


def _of_patch(path: str, rest: str) -> FileDiff:
    at = rest.find("@@ ")
    head, hunks = (rest, "") if at < 0 else (rest[:at], rest[at:])
    status = CHANGED
    if "new file mode" in head:
        status = ADDED
    elif "deleted file mode" in head:
        status = REMOVED
    return _counted(path, status, hunks, "binary" if "Binary files " in head else "")


def _counted(path: str, status: str, hunks: str, omitted: str = "") -> FileDiff:
    lines = hunks.split("\n")
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    if len(hunks) > MAX_FILE_CHARS:
        hunks, omitted = "", "large"
    return FileDiff(path, status, hunks, added, removed, omitted)


def diff_files(old: Mapping[str, CodeFile], new: Mapping[str, CodeFile]) -> list[FileDiff]:
    """Return the files that differ, by path."""
    paths = sorted(old.keys() | new.keys())
    return [
        _file_diff(path, old.get(path), new.get(path))
        for path in paths
        if _digest(old.get(path)) != _digest(new.get(path))
    ]


def _digest(file: CodeFile | None) -> str:
    return "" if file is None else file.sha256


def _file_diff(path: str, old: CodeFile | None, new: CodeFile | None) -> FileDiff:
    status = ADDED if old is None else REMOVED if new is None else CHANGED
    before = "" if old is None else old.text
    after = "" if new is None else new.text
    if before is None or after is None:
        return FileDiff(path, status, "", omitted="binary")
    first, second = before.splitlines(), after.splitlines()
    if max(len(first), len(second)) > MAX_LINES:
        return FileDiff(path, status, "", omitted="large")
    lines = list(difflib.unified_diff(first, second, lineterm="", n=3))[2:]
    return _counted(path, status, "\n".join(lines))
