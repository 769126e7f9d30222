"""Hard links of a tar archive: further names of a file whose bytes another member has."""

from __future__ import annotations

from atom_sdk.importers.items import Blob
from atom_sdk.importers.limits import Budget
from atom_sdk.importers.names import NameRefusedError, is_litter, normalised
from atom_sdk.importers.report import Report


class HardLinks:
    """Names and their targets, both as the archive writes them, in the order of the archive."""

    def __init__(self) -> None:
        self._links: list[tuple[str, str]] = []
        self._refused: set[str] = set()

    def add(self, name: str, target: str) -> None:
        """Note a link. Its target may be a link as well, or a later member."""
        self._links.append((name, target))

    def add_refused(self, name: str) -> None:
        """Note a member that is no file: a link to it is left out with it."""
        self._refused.add(name)

    def add_to(self, files: dict[str, Blob], budget: Budget, report: Report) -> None:
        """Give each name the bytes of its target. Raises ArchiveTooLargeError."""
        targets = self._targets(files, report)
        ends = _ends({path: end for path, (_, end) in targets.items()}, files)
        for path, (name, end) in targets.items():
            blob = ends[path]
            if blob is None:
                report.skip(name, self._reason(end))
            else:
                budget.take_bytes(blob.size_bytes)
                files[path] = blob

    def _targets(self, files: dict[str, Blob], report: Report) -> dict[str, tuple[str, str]]:
        """The name and the path of the target, by the path of the link."""
        targets: dict[str, tuple[str, str]] = {}
        for name, target in self._links:
            try:
                path = normalised(name)
                end = normalised(target)
            except NameRefusedError as refused:
                report.skip(name, str(refused))
                continue
            if is_litter(path):
                report.ignore_litter()
            elif path in targets or path in files:
                report.skip(path, "its path comes twice; the first is kept")
            else:
                targets[path] = (name, end)
        return targets

    def _reason(self, target: str) -> str:
        if target in self._refused:
            return "it is a hard link to a link or a special file"
        return "it is a hard link to a file that the archive does not have"


def _ends(targets: dict[str, str], files: dict[str, Blob]) -> dict[str, Blob | None]:
    """The bytes at the end of each chain of links, None for a circle or an end without a file."""
    ends: dict[str, Blob | None] = {}
    for first in targets:
        path, passed = first, dict[str, None]()
        while path in targets and path not in ends and path not in passed:
            passed[path] = None
            path = targets[path]
        ends.update(dict.fromkeys(passed, ends[path] if path in ends else files.get(path)))
    return ends
