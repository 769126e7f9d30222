"""Which files of a tree the rows of a table name: by path, by the last part, by the stem.

Tables are moved and written on other machines, so a name may be absolute, of Windows, relative to
another folder, or without its ending. A name counts where it means one file alone, and a file that
one row names by its path is never taken for the shorter name of another row.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from atom_sdk.importers.names import NameRefusedError, normalised, split_of
from atom_sdk.importers.trees import Tree, is_image

MISSING = "there is no file of its path"
AMBIGUOUS = "several files have its name"


@dataclass
class NamedFiles:
    """Paths by the name that a table gives; `reasons` are of the names without a file."""

    paths: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    by_last_part: int = 0


class RowFiles:
    """Finds the files of one tree."""

    def __init__(self, tree: Tree, tables: Iterable[str]) -> None:
        """`tables` are files that no row can mean by its name without an ending."""
        self._tree = tree
        self._tables = frozenset(tables)

    def find_all(self, names: Iterable[str], table: str) -> NamedFiles:
        """Return the files of all names in a table, which lies at `table`."""
        named = NamedFiles()
        others = []
        for name in dict.fromkeys(names):
            if (path := self._by_path(name, table)) is not None:
                named.paths[name] = path
            else:
                others.append(name)
        claimed = set(named.paths.values())
        for name in others:
            found = [path for path in self._by_part(name, table) if path not in claimed]
            if len(found) == 1:
                named.paths[name] = found[0]
                named.by_last_part += 1
            else:
                named.reasons[name] = AMBIGUOUS if found else MISSING
        return named

    def _by_path(self, name: str, table: str) -> str | None:
        """The file at a path relative to the table's folder, or to the top."""
        plain = _plain(name)
        if not plain or plain.startswith("/"):
            return None
        folder = table.rpartition("/")[0]
        for path in (posixpath.normpath(posixpath.join(folder, plain)), posixpath.normpath(plain)):
            # A name that no dataset can hold may be one that no disk can look for.
            with suppress(NameRefusedError):
                if normalised(path) == path and path in self._tree.files:
                    return path
        return None

    def _by_part(self, name: str, table: str) -> list[str]:
        """The files that share the most parts with a name, counted from its end."""
        parts = _plain(name).split("/")
        candidates = self._by_name.get(parts[-1]) or self._by_stem.get(parts[-1]) or []
        if len(candidates) < 2:
            return candidates
        shared = {path: _shared_parts(path, parts) for path in candidates}
        most = max(shared.values())
        best = [path for path in candidates if shared[path] == most]
        return self._near(best, table) if len(best) > 1 else best

    def _near(self, paths: list[str], table: str) -> list[str]:
        """Prefer files in folders of the table's split: `train_images` for train.csv."""
        split = split_of(table.rpartition("/")[2].partition(".")[0])
        near = [path for path in paths if split is not None and _is_in(path, split)]
        return near or paths

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        names: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._tree.walked():
            names[path.rpartition("/")[2]].append(path)
        return names

    @cached_property
    def _by_stem(self) -> Mapping[str, list[str]]:
        stems: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._tree.walked():
            if path not in self._tables:
                name = path.rpartition("/")[2]
                stems[name.rpartition(".")[0] or name].append(path)
        # A picture and its text have one stem: the row means the picture.
        return {stem: list(filter(is_image, paths)) or paths for stem, paths in stems.items()}


def _plain(name: str) -> str:
    """A name as a path of the tree: without quotes, with `/` for backslashes."""
    text = name.strip().strip("\"'").replace("\\", "/").removeprefix("file://")
    return f"/{text[3:]}" if text[1:3] == ":/" else text


def _shared_parts(path: str, parts: list[str]) -> int:
    count = 0
    for mine, other in zip(reversed(path.split("/")[:-1]), reversed(parts[:-1]), strict=False):
        if mine != other:
            break
        count += 1
    return count


def _is_in(path: str, split: str) -> bool:
    words = (word for part in path.split("/")[:-1] for word in part.replace("-", "_").split("_"))
    return any(split_of(word) == split for word in words)
