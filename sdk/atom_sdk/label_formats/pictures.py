"""Which picture a name means, and how large that picture is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError, normalised
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.picture_sizes import Size, size_of
from atom_sdk.label_formats.report import LabelReport


class Places(Protocol):
    """The pictures that annotations may be about."""

    def resolve(self, name: str, near: str = "") -> str | None:
        """Return the path that a name means. Raises NameRefusedError."""

    def resolve_stem(self, name: str) -> str | None:
        """Return the picture whose path without its suffix ends so. Raises NameRefusedError."""

    def size(self, path: str) -> Size | None:
        """Return width and height of a picture as people see it, None where unknown."""

    def paths(self) -> Iterable[str]:
        """Return all paths, nothing where they are unknown."""


class NamesAsWritten:
    """Takes each name as a path: for a source whose pictures are not here."""

    def resolve(self, name: str, near: str = "") -> str | None:
        """Return the path that a name is. Raises NameRefusedError."""
        return normalised(name.replace("\\", "/"))

    def resolve_stem(self, name: str) -> str | None:
        """Return nothing: the suffix of a picture is unknown."""
        return None

    def size(self, path: str) -> Size | None:
        """Return nothing: there are no pictures."""
        return None

    def paths(self) -> Iterable[str]:
        """Return nothing: there are no pictures."""
        return ()


class KnownPictures:
    """Finds pictures by the longest end of a name, as `atom data import` does."""

    def __init__(self, paths: Iterable[str], size: Callable[[str], Size | None]) -> None:
        self._paths = list(paths)
        self._pictures = Pictures(self._paths)
        self._size = size

    def resolve(self, name: str, near: str = "") -> str | None:
        """Return the picture that a name means, None without one. Raises NameRefusedError."""
        return self._pictures.find(name, near, counts=False)

    def resolve_stem(self, name: str) -> str | None:
        """Return the picture whose path without its suffix ends so. Raises NameRefusedError."""
        return self._pictures.find_stem(name)

    def size(self, path: str) -> Size | None:
        """Return width and height of a picture."""
        return self._size(path)

    def paths(self) -> Iterable[str]:
        """Return all paths."""
        return self._paths


def pictures_of(tree: Tree) -> Places:
    """Return the pictures of a source; without any, each name is taken as it is written."""
    paths = list(tree.images())
    if not paths:
        return NamesAsWritten()

    def size(path: str) -> Size | None:
        with tree.files[path].open() as stream:
            return size_of(stream)

    return KnownPictures(paths, size)


def resolve(
    places: Places, name: str, report: LabelReport, subject: str, near: str = ""
) -> str | None:
    """Return the path that a name means; without one, the reason is counted."""
    return _counted(lambda: places.resolve(name, near), report, subject)


def resolve_stem(places: Places, stem: str, report: LabelReport, subject: str) -> str | None:
    """Return the path that a name without its suffix means; without one, the reason is counted."""
    return _counted(lambda: places.resolve_stem(stem), report, subject)


def _counted(find: Callable[[], str | None], report: LabelReport, subject: str) -> str | None:
    try:
        path = find()
    except NameRefusedError as refused:
        is_ambiguous = "several files" in str(refused)
        report.count("picture_ambiguous" if is_ambiguous else "name_refused", subject)
        return None
    if path is None:
        report.count("picture_missing", subject)
    return path
