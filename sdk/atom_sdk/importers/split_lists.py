"""Lists of a split: `train.txt` with a name a line. Which pictures they mean, and which they miss.

A name is a path, an end of one, or a name without its suffix; tools write paths of their own
machines. A picture that several lists name goes to the one that is held out: test, val, train.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError
from atom_sdk.importers.report import Report

_HELD_OUT_FIRST = ("test", "val", "train")
# Lists of one class say with a number whether the picture has it.
_FLAG = re.compile(r"\s+-?[01]$")


class SplitLists:
    """The split of each picture that a list names."""

    def __init__(self, pictures: Pictures, report: Report) -> None:
        """`pictures` are those that a name may mean."""
        self._pictures = pictures
        self._report = report
        self._by_path: dict[str, str] = {}
        self._by_folder: dict[str, str] = {}
        self._count = 0

    def split(self, path: str, folder_split: str | None) -> str | None:
        """Return the split of a picture; one that no list names has that of its folder, if any.

        A picture that stays without a split though there are lists is reported.
        """
        split = self._by_path.get(path) or self._of_folder(path) or folder_split
        if split is None and self._count:
            self._report.name_unlisted(path)
        return split

    def add(self, list_path: str, split: str, text: str, near: str = "") -> None:
        """Add one list; of several files of a name it means the one whose folders say `near`.

        Names that no picture has, and pictures of two splits, are reported.
        """
        for path in self._named(list_path, text, near):
            self._assign(path, split, list_path)

    def add_rest(self, list_path: str, split: str, text: str, near: str = "") -> None:
        """Add a list of which only the pictures count that no other list names: `trainval.txt`."""
        for path in self._named(list_path, text, near):
            self._by_path.setdefault(path, split)

    def add_folder(self, folder: str, split: str) -> None:
        """Add a folder whose pictures, also those of folders in it, are of one split."""
        self._count += 1
        self._by_folder[folder] = split

    def _of_folder(self, path: str) -> str | None:
        while self._by_folder and path:
            path = path.rpartition("/")[0]
            if path in self._by_folder:
                return self._by_folder[path]
        return None

    def _assign(self, path: str, split: str, list_path: str) -> None:
        other = self._by_path.get(path, split)
        chosen = min(other, split, key=_HELD_OUT_FIRST.index)
        if other != split:
            reason = f"lists put it into {other} and into {split}; {chosen} counts"
            self._report.skip(f"{list_path}: {path}", reason)
        self._by_path[path] = chosen

    def _named(self, list_path: str, text: str, near: str) -> Iterator[str]:
        """Yield the pictures of a list, and report the names of none."""
        self._count += 1
        for line in _names(text):
            try:
                path = self._picture(line, near)
            except NameRefusedError as refused:
                self._report.skip(f"{list_path}: {line}", str(refused))
                continue
            if path is None:
                self._report.name_missing(list_path, line)
            else:
                yield path

    def _picture(self, line: str, near: str) -> str | None:
        for name in dict.fromkeys((line, _FLAG.sub("", line))):
            path = self._pictures.find(name, near, counts=False)
            path = path or self._pictures.find_stem(name, near)
            if path is not None:
                return path
        return None


def _names(text: str) -> Iterator[str]:
    """Names of a list, each once."""
    lines = (line.strip() for line in text.splitlines())
    return iter(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
