"""Symbolic links of an archive: kept as links, or followed to the archive's own files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from atom_sdk.errors import LinkTargetError
from atom_sdk.importers.items import Blob
from atom_sdk.importers.limits import Budget
from atom_sdk.importers.names import NameRefusedError, is_litter, normalised
from atom_sdk.importers.report import Report
from atom_sdk.manifests.links import follow_link
from atom_sdk.packs.paths import encode_target


class ArchiveLinks:
    """Names and targets as the archive writes them, in its order."""

    def __init__(self) -> None:
        self._links: list[tuple[str, str]] = []

    def add(self, name: str, target: str) -> None:
        """Note a link."""
        self._links.append((name, target))

    def kept(self, files: Mapping[str, Blob], report: Report) -> dict[str, str]:
        """Return the targets by path; what a version cannot hold is left out and named."""
        kept: dict[str, str] = {}
        for name, target in self._links:
            try:
                path = normalised(name)
                encode_target(path, target)
            except NameRefusedError as refused:
                report.skip(name, str(refused))
            except LinkTargetError:
                report.skip(name, "it is a link whose target a dataset cannot hold")
            else:
                if is_litter(path):
                    report.ignore_litter()
                elif path in files or path in kept:
                    report.skip(path, "its path comes twice; the first is kept")
                else:
                    kept[path] = target
        return kept

    def follow(self, files: dict[str, Blob], budget: Budget, report: Report) -> None:
        """Give each link the bytes of what it leads to, a link to a folder all that is in it.

        Raises ArchiveTooLargeError.
        """
        links = self.kept(files, report)
        below = _Below(files, links, budget)
        found: dict[str, Blob] = {}
        for path in links:
            before = len(found)
            for name, blob in below.walk(path, path, ()):
                budget.take_bytes(blob.size_bytes)
                found[name] = blob
            if len(found) == before:
                report.skip(path, "its link leads to no file of the archive")
        for name, blob in found.items():
            files.setdefault(name, blob)


class _Below:
    """The files at and below a path of the archive, with links followed."""

    def __init__(self, files: Mapping[str, Blob], links: Mapping[str, str], budget: Budget) -> None:
        self._budget = budget
        self._files = files
        self._links = links
        self._children: dict[str, set[str]] = {}
        for path in (*files, *links):
            name = path
            while "/" in name:
                above = name.rpartition("/")[0]
                self._children.setdefault(above, set()).add(name)
                name = above
            self._children.setdefault("", set()).add(name)

    def walk(self, shown: str, path: str, passed: tuple[str, ...]) -> Iterator[tuple[str, Blob]]:
        """Yield files as they are shown below `shown`; `passed` are the folders above."""
        # Links to folders with links to folders can show a few names without end.
        self._budget.take_member(0)
        if path in self._links:
            lead = follow_link(path, self._links.get)
            if lead.path is None:
                return
            path = lead.path
        if path in self._files:
            yield shown, self._files[path]
            return
        is_circle = any(f"{above}/".startswith(f"{path}/") for above in passed) or not path
        if is_circle:
            return
        for child in sorted(self._children.get(path, ())):
            name = child.rpartition("/")[2]
            yield from self.walk(f"{shown}/{name}", child, (*passed, path))
