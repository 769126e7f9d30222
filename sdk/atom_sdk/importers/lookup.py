r"""Which file of a tree an annotation means: tools write the name, or any part of some path.

Annotations name files as the machine of their author had them: `/data/upload/1/a.png`,
`C:\imgs\a.png`, `..\..\a.png`, `upload%2F1%2Fa.png`. A name means the file that shares the
longest end of its path; where several do, the name is ambiguous and refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from atom_sdk.amounts import counted
from atom_sdk.importers.names import NameRefusedError, split_in
from atom_sdk.importers.report import Report

_HASH_PREFIX = re.compile(r"[0-9a-f]{8}-(?=.)")
# Several files of one name are common, hundreds are not: only few are compared with each other.
_MOST_COMPARED = 64
_ROOT = re.compile(r"^(.*/)?(JPEGImages|images)/")
_FOREIGN, _UNPREFIXED = "foreign", "unprefixed"


def name_parts(name: str) -> list[str]:
    """Return the parts of a foreign name that can lie below a folder, outermost first.

    Quotes, drives, leading slashes, `.` and everything up to the last `..` are left out.
    """
    text = name.strip().strip("\"'").strip().replace("\\", "/")
    text = re.sub(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/]*/|^[a-zA-Z]:", "", text)
    parts = [part for part in text.split("/") if part not in ("", ".")]
    while ".." in parts:
        parts = parts[parts.index("..") + 1 :]
    return parts


class Pictures:
    """The pictures of a tree, found by the ends of their paths, with their suffix or without."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are those in the tree."""
        self._by_stem: _Index = {}
        # By an end that very many paths have: an index of their ends that are longer by one part.
        self._longer: dict[str, _Index] = {}
        self._counts: Counter[str] = Counter()
        for path in paths:
            _put(self._by_stem, _stem(path.rpartition("/")[2]), path)

    def find(self, name: str, near: str = "", *, counts: bool = True) -> str | None:
        """Return the picture that `name` means; of several the one whose folders say `near`.

        With `counts`, `add_to` notes the match. Raises NameRefusedError for a name that may mean
        several files.
        """
        if (path := self._as_written(name, near, is_stem=False)) is not None:
            return path
        for text, kind in _readings(name):
            parts = name_parts(text)
            if (match := self._longest_end(parts, near, is_stem=False)) is not None:
                path, dropped = match
                if counts:
                    self._counts[kind or (_FOREIGN if dropped else "")] += 1
                return path
        return None

    def find_stem(self, name: str, near: str = "") -> str | None:
        """Return the picture whose path without its suffix ends as `name` does.

        Raises NameRefusedError for a name that may mean several files.
        """
        path = self._as_written(name, near, is_stem=True)
        match = None if path else self._longest_end(name_parts(name), near, is_stem=True)
        return match[0] if match else path

    def _as_written(self, name: str, near: str, *, is_stem: bool) -> str | None:
        """The picture whose path has what `name_parts` takes for foreign, such as a backslash."""
        if "\\" not in name and name.strip(" \"'") == name:
            return None
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        try:
            match = self._longest_end(parts, near, is_stem=is_stem)
        except NameRefusedError:
            return None
        if match is None:
            return None
        there = {*match[0].split("/"), _stem(match[0].rpartition("/")[2])}
        return match[0] if {part for part in parts if name_parts(part) != [part]} <= there else None

    def add_to(self, report: Report) -> None:
        """Note how many pictures were found by a part of their name only."""
        if count := self._counts[_FOREIGN]:
            named = counted(count, "picture")
            report.note(f"{named} found by the end of a path whose folders are not in the source")
        if count := self._counts[_UNPREFIXED]:
            named = counted(count, "picture")
            report.note(f"{named} found without the eight digits before a name")

    def _longest_end(self, parts: list[str], near: str, *, is_stem: bool) -> tuple[str, int] | None:
        """The path that shares the longest end, and how many parts of the name are dropped."""
        for dropped in range(len(parts)):
            end = "/".join(parts[dropped:])
            paths = self._with_end(end, is_stem=is_stem)
            if len(paths) > 1:
                paths = _narrowed(paths, end, near)
            if len(paths) > 1:
                raise NameRefusedError("several files have the name that the annotation gives")
            if paths and dropped and _contradicts("/".join(parts), paths[0]):
                return None
            if paths:
                return paths[0], dropped
        return None

    def _with_end(self, end: str, *, is_stem: bool) -> list[str]:
        parts = (end if is_stem else _stem(end)).split("/")
        paths = self._with_stem(parts)
        keys = map(_stem, paths) if is_stem else paths
        ends = f"/{end}"
        return [path for path, key in zip(paths, keys, strict=True) if f"/{key}".endswith(ends)]

    def _with_stem(self, parts: list[str]) -> list[str]:
        """Paths that may end in `parts`, without their suffixes; of very many the first ones."""
        key, depth = parts[-1], 1
        paths = _get(self._by_stem, key)
        while len(paths) > _MOST_COMPARED:
            depth += 1
            if key not in self._longer:
                self._longer[key] = _index(paths, depth)
            if depth > len(parts):
                # A path of no more parts has the same key as before: it is the exact one.
                return list(dict.fromkeys([*_get(self._longer[key], key), *paths[:_MOST_COMPARED]]))
            paths = _get(self._longer[key], "/".join(parts[-depth:]))
            key = "/".join(parts[-depth:])
        return paths


# One path, or a list of several: most keys have one.
_Index = dict[str, str | list[str]]


def _put(index: _Index, key: str, path: str) -> None:
    others = index.setdefault(key, path)
    if isinstance(others, list):
        others.append(path)
    elif others is not path:
        index[key] = [others, path]


def _get(index: _Index, key: str) -> list[str]:
    paths = index.get(key, [])
    return [paths] if isinstance(paths, str) else paths


def _index(paths: list[str], depth: int) -> _Index:
    """Paths by their last `depth` parts, without the suffix."""
    index: _Index = {}
    for path in paths:
        _put(index, "/".join(_stem(path).split("/")[-depth:]), path)
    return index


def _narrowed(paths: list[str], end: str, near: str) -> list[str]:
    if near:
        paths = [path for path in paths if near in path.split("/")[:-1]] or paths
    for keys in (map(str, paths), map(_below_root, paths)):
        exact = [path for path, key in zip(paths, keys, strict=True) if end in (key, _stem(key))]
        if len(exact) == 1:
            return exact
    return paths


def _below_root(path: str) -> str:
    """The path below the folder of all pictures, where there is one of the usual name."""
    return _ROOT.sub("", path)


def _contradicts(name: str, path: str) -> bool:
    """Whether a name speaks of another split: `train/a.png` does not mean `val/a.png`."""
    splits = {split_in(name), split_in(path)} - {None}
    return len(splits) > 1


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """The name as it stands, then unquoted, then without Label Studio's eight digits."""
    yield name, ""
    plain = unquote(name)
    if plain != name:
        yield plain, _FOREIGN
    last = (name_parts(plain) or [""])[-1]
    if _HASH_PREFIX.match(last):
        yield _HASH_PREFIX.sub("", last, count=1), _UNPREFIXED


def _stem(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"
