"""Changes of a run's code since its commit, and differences between the code of two runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atom.jobs.code.engines.code_diff import MAX_FILES, FileDiff, diff_files, split_patch
from atom.jobs.code.pipelines.code_files import UnreadableError, read_files
from atom.jobs.errors import InvalidComparison
from atom.jobs.models import CodeChanges, CodeSnapshot, Run
from atom_sdk.sentences import Sentence

# Why there is no list of changes.
NO_CODE, NO_GIT, CLEAN, UNTOLD, SAME, UNREADABLE = (
    "no_code", "no_git", "clean", "untold", "same", "unreadable",
)  # fmt: skip
REASONS = ("", NO_CODE, NO_GIT, CLEAN, UNTOLD, SAME, UNREADABLE)
# Hunks of all files together, for one page.
_MOST_CHARS = 1 << 20


@dataclass(frozen=True, slots=True)
class CodeDiff:
    """Files that differ; without any, `reason` says why. `truncated` if there are more."""

    files: list[FileDiff] = field(default_factory=list)
    truncated: bool = False
    reason: str = ""
    commit: str = ""


def changes_of(run: Run) -> CodeDiff:
    """Return what the run's code has that its commit has not."""
    if run.code is None:
        return CodeDiff(reason=NO_CODE)
    commit = _commit_of(run.code)
    if not commit:
        return CodeDiff(reason=NO_GIT)
    changes = CodeChanges.objects.filter(snapshot=run.code).first()
    if changes is None:
        # A commit that the server fetched has no such mark.
        dirty = bool((run.code.git or {}).get("dirty"))
        return CodeDiff(reason=UNTOLD if dirty else CLEAN, commit=commit)
    return _bounded(split_patch(changes.patch), commit, changes.truncated, CLEAN)


def between(old: Run, new: Run) -> CodeDiff:
    """Return what differs from the code of one run to that of another."""
    if old.code is None or new.code is None or not (old.code.ready and new.code.ready):
        return CodeDiff(reason=NO_CODE)
    if old.code.digest == new.code.digest:
        return CodeDiff(reason=SAME)
    try:
        found = diff_files(read_files(old.code.key), read_files(new.code.key))
    except UnreadableError:
        return CodeDiff(reason=UNREADABLE)
    return _bounded(found, "", False, SAME)


def two_of(names: list[str]) -> list[str]:
    """Return the names if they are two. Raises InvalidComparison."""
    if len(set(names)) != 2:
        raise InvalidComparison(
            errors={
                "runs": [Sentence("jobs.name_two_runs", "Name the two runs whose code to compare.")]
            }
        )
    return names


def _bounded(files: list[FileDiff], commit: str, truncated: bool, otherwise: str) -> CodeDiff:
    kept: list[FileDiff] = []
    chars = 0
    for file in files[:MAX_FILES]:
        chars += len(file.hunks)
        if chars > _MOST_CHARS:
            break
        kept.append(file)
    cut = truncated or len(kept) < len(files)
    return CodeDiff(kept, cut, "" if kept or cut else otherwise, commit)


def _commit_of(snapshot: CodeSnapshot) -> str:
    told: Any = (snapshot.git or {}).get("commit")
    return told[:64] if isinstance(told, str) else ""
