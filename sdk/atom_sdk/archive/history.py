"""The history of a dataset as one document: moves of branches, tags, and whose files are there.

Versions are not listed: each is a commit that some move made, and everything else about it is in
the commit and its root. Format: README.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from atom_sdk.archive.errors import ArchiveCorruptError, ArchiveHistoryDiffersError
from atom_sdk.errors import ManifestError
from atom_sdk.manifests.canonical import decode_json, encode_canonical

HISTORY_FORMAT = "atom-archive-history/1"
MAX_MOVES = 1_000_000
MAIN = "main"
_KINDS = ("begin", "move", "end")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class ArchivedMove:
    """One move of a branch; `old` and `new` are commits in hex, "" for none.

    The counts are null where an older Atom did not note them.
    """

    branch: str
    seq: int
    kind: str
    old: str
    new: str
    number: int | None
    author: str
    at: str
    added: int | None
    removed: int | None
    changed: int | None

    @property
    def says(self) -> tuple[int, str, str, str, int | None]:
        """The fields in which two histories must agree."""
        return self.seq, self.kind, self.old, self.new, self.number


@dataclass(frozen=True, slots=True)
class ArchivedTag:
    """A name of a commit (hex)."""

    name: str
    commit: str
    created_at: str


@dataclass(frozen=True, slots=True)
class History:
    """A dataset's facts and its whole history; `kept` are the commits whose files are there.

    `layouts` are the roots (hex), by commit, of those whose files lie in other packs than the
    commit's own root names: the same content, and the packs of the other root may be gone.
    """

    name: str
    description: str
    project: str
    retention: str
    retention_limit: int | None
    moves: tuple[ArchivedMove, ...]
    tags: tuple[ArchivedTag, ...]
    kept: frozenset[str]
    layouts: Mapping[str, str] = field(default_factory=dict)

    @property
    def commits(self) -> tuple[str, ...]:
        """Every commit that a move made, each once."""
        return tuple(dict.fromkeys(move.new for move in self.moves if move.kind == "move"))

    @property
    def branches(self) -> frozenset[str]:
        """The branches that versions were made on, deleted ones too."""
        return frozenset(move.branch for move in self.moves if move.kind == "move")

    def with_files_of(self, commits: Iterable[str]) -> History:
        """Return the same history with the files of these commits alone."""
        kept = frozenset(commits)
        layouts = {commit: root for commit, root in self.layouts.items() if commit in kept}
        return replace(self, kept=kept, layouts=layouts)

    def logs(self) -> dict[str, list[ArchivedMove]]:
        """Return the moves by branch name; that an empty branch begins is no move."""
        logs: defaultdict[str, list[ArchivedMove]] = defaultdict(list)
        for move in self.moves:
            if move.kind != "begin" or move.new:
                logs[move.branch].append(move)
        return dict(logs)


def encode_history(history: History) -> bytes:
    """Canonical JSON of a history: the same history has the same bytes."""
    layouts = {"layouts": dict(history.layouts)} if history.layouts else {}
    return encode_canonical(
        {
            "format": HISTORY_FORMAT,
            "dataset": {
                "name": history.name,
                "description": history.description,
                "project": history.project,
                "retention": history.retention,
                "retention_limit": history.retention_limit,
            },
            "moves": [asdict(move) for move in _in_order(history.moves)],
            "tags": [asdict(tag) for tag in sorted(history.tags, key=lambda tag: tag.name)],
            "kept": sorted(history.kept),
            **layouts,
        }
    )


def decode_history(data: bytes, key: str = "history") -> History:
    """Read a history and check that it can be one. Raises ArchiveCorruptError."""
    try:
        value = decode_json(data, key, HISTORY_FORMAT)
        return parse_history(value)
    except ManifestError as error:
        raise ArchiveCorruptError(str(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ArchiveCorruptError(f"{key} is no history: {error}.") from error


def parse_history(value: Mapping[str, Any]) -> History:
    """Return the history of a JSON object. Raises KeyError, TypeError or ValueError."""
    dataset = value["dataset"]
    if len(value["moves"]) > MAX_MOVES:
        raise ValueError(f"it has more than {MAX_MOVES} moves")
    history = History(
        name=_named(dataset["name"]),
        description=_text(dataset["description"], 10_000),
        project=_text(dataset["project"], 100),
        retention=_text(dataset["retention"], 10),
        retention_limit=_number(dataset["retention_limit"]),
        moves=tuple(_in_order(_move(move) for move in value["moves"])),
        tags=tuple(_tag(tag) for tag in value["tags"]),
        kept=frozenset(_digest(commit) for commit in value["kept"]),
        layouts=_layouts(dict(value.get("layouts", {}))),
    )
    _check(history)
    return history


def lacks(mine: History, theirs: History) -> bool:
    """Return whether `theirs` has to be given something to have all of `mine`.

    Raises ArchiveHistoryDiffersError if neither of two logs of one branch continues the other.
    """
    there = theirs.logs()
    missing = False
    for name, log in mine.logs().items():
        if not continues(log, there.get(name, [])):
            raise ArchiveHistoryDiffersError(
                f"{theirs.name} exists, and its branch {name} has another history."
            )
        missing |= len(log) > len(there.get(name, []))
    tags = {tag.name: tag.commit for tag in theirs.tags}
    for tag in mine.tags:
        if tags.setdefault(tag.name, tag.commit) != tag.commit:
            raise ArchiveHistoryDiffersError(f"{theirs.name} exists, with another tag {tag.name}.")
        missing |= tag not in theirs.tags and tag.name not in {each.name for each in theirs.tags}
    return missing


def continues(log: Sequence[ArchivedMove], other: Sequence[ArchivedMove]) -> bool:
    """Return whether one of two logs begins with the other."""
    return all(mine.says == theirs.says for mine, theirs in zip(log, other, strict=False))


def _in_order(moves: Iterable[ArchivedMove]) -> list[ArchivedMove]:
    return sorted(moves, key=lambda move: (move.branch, move.seq))


def _check(history: History) -> None:
    """Raise ValueError unless the moves follow each other and everything named exists."""
    commits = set(history.commits)
    for name, log in _by_branch(history.moves).items():
        _check_log(name, log)
    strangers = {move.new for move in history.moves if move.kind == "begin" and move.new} - commits
    strangers |= {tag.commit for tag in history.tags} - commits
    strangers |= history.kept - commits
    if strangers:
        raise ValueError(f"no move made the commit {min(strangers)}")
    if len({tag.name for tag in history.tags}) != len(history.tags):
        raise ValueError("a tag is listed twice")
    if history.layouts.keys() - history.kept:
        raise ValueError("a version without its files has a layout")


def _by_branch(moves: Iterable[ArchivedMove]) -> dict[str, list[ArchivedMove]]:
    logs: defaultdict[str, list[ArchivedMove]] = defaultdict(list)
    for move in moves:
        logs[move.branch].append(move)
    return dict(logs)


def _check_log(name: str, log: Sequence[ArchivedMove]) -> None:
    head, is_live, number = "", name == MAIN, 0
    for place, move in enumerate(log, log[0].seq):
        fits = move.seq == place and log[0].seq in (0, 1)
        if move.kind == "begin":
            fits &= not move.old and (not is_live or place == 0 or place == log[0].seq)
            head, is_live = move.new, True
        elif move.kind == "move":
            # The first entries of older installations say nothing of the beginning.
            fits &= (is_live or place == log[0].seq) and move.old == head and bool(move.new)
            head, is_live = move.new, True
        else:
            fits &= is_live and not move.new and name != MAIN
            head, is_live = "", False
        if name == MAIN and move.kind == "move":
            number += 1
            fits &= move.number == number
        elif move.number is not None:
            fits = False
        if not fits:
            raise ValueError(f"move {move.seq} of {name} does not follow the one before")


def _move(value: Mapping[str, Any]) -> ArchivedMove:
    kind = value["kind"]
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is no kind of move")
    seq = _number(value["seq"])
    if seq is None:
        raise ValueError("a move has no number in its log")
    return ArchivedMove(
        branch=_named(value["branch"]),
        seq=seq,
        kind=kind,
        old=_digest(value["old"], or_none=True),
        new=_digest(value["new"], or_none=True),
        number=_number(value["number"]),
        author=_text(value["author"], 1000),
        at=_moment(value["at"]),
        added=_number(value["added"]),
        removed=_number(value["removed"]),
        changed=_number(value["changed"]),
    )


def _tag(value: Mapping[str, Any]) -> ArchivedTag:
    name, commit = _named(value["name"]), _digest(value["commit"])
    return ArchivedTag(name, commit, _moment(value["created_at"]))


def _layouts(value: Mapping[str, Any]) -> dict[str, str]:
    return {_digest(commit): _digest(root) for commit, root in value.items()}


def _named(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is no name")
    return value


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most or "\0" in value:
        raise ValueError("a text is missing or too long")
    return value


def _digest(value: Any, *, or_none: bool = False) -> str:
    if or_none and value == "":
        return ""
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise ValueError("a commit or a layout is not named by a digest")
    return value


def _number(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise ValueError(f"{value!r} is no number")
    return value


def _moment(value: Any) -> str:
    if not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is None:
        raise ValueError(f"{value!r} is no time with a zone")
    return value
