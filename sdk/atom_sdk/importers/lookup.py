r"""Which file of a tree an annotation means: tools write the name, or any part of some path.

Annotations name files as the machine of their author had them: `/data/upload/1/a.png`,
`C:\imgs\a.png`, `..\..\a.png`, `upload%2F1%2Fa.png`. A name means the file that shares the
longest end of its path; where several do, the name is ambiguous and refused.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from atom_sdk.importers.names import NameRefusedError, split_in
from atom_sdk.importers.report import Report
from atom_sdk.words import counted

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
        # One path, or a list of those that have the same last part without its suffix.
        self._by_stem: dict[str, str | list[str]] = {}
        self._by_end: dict[str, dict[str, list[str]]] = {}
        self._counts: Counter[str] = Counter()
        for path in paths:
            self._add(_stem(path.rpartition("/")[2]), path)

    def find(self, name: str, near: str = "", *, counts: bool = True) -> str | None:
        """Return the picture that `name` means; of several the one whose folders say `near`.

        `tell` notes it where `counts`. Raises NameRefusedError for a name that may mean several
        files.
        """
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
        match = self._longest_end(name_parts(name), near, is_stem=True)
        return match[0] if match else None

    def tell(self, report: Report) -> None:
        """Note how many pictures were found by a part of their name only."""
        if count := self._counts[_FOREIGN]:
            named = counted(count, "picture")
            report.note(f"{named} found by the end of a path whose folders are not in the source")
        if count := self._counts[_UNPREFIXED]:
            named = counted(count, "picture")
            report.note(f"{named} found without the eight digits before a name")

    def _add(self, stem: str, path: str) -> None:
        others = self._by_stem.setdefault(stem, path)
        if isinstance(others, list):
            others.append(path)
        elif others is not path:
            self._by_stem[stem] = [others, path]

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
        last = end.rpartition("/")[2]
        last = last if is_stem else _stem(last)
        paths = self._by_stem.get(last, [])
        paths = [paths] if isinstance(paths, str) else paths
        if len(paths) > _MOST_COMPARED:
            if last not in self._by_end:
                self._by_end[last] = _by_ends(paths)
            paths = self._by_end[last].get(end, [])
        keys = map(_stem, paths) if is_stem else paths
        ends = f"/{end}"
        return [path for path, key in zip(paths, keys, strict=True) if f"/{key}".endswith(ends)]


def _by_ends(paths: list[str]) -> dict[str, list[str]]:
    """The first paths of each end, with the suffix and without: for names that come often."""
    by_end: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        for key in (path, _stem(path)):
            end = key
            while end:
                if len(by_end[end]) < _MOST_COMPARED or end == key:
                    by_end[end].append(path)
                end = end.partition("/")[2]
    return by_end


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
