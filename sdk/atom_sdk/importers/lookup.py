"""Which file of a tree an annotation means: tools write the name, or any part of the path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from atom_sdk.importers.names import NameRefusedError, normalised


class Pictures:
    """The pictures of a tree, found by the ends of their paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are those in the tree."""
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(path)

    def find(self, name: str, near: str = "") -> str | None:
        """Return the path that ends in `name`; of several the one whose folders say `near`.

        Raises NameRefusedError for a name that leaves its folder, or that may mean several files.
        """
        wanted = normalised(name.replace("\\", "/"))
        found = [
            path
            for path in self._by_name.get(wanted.rpartition("/")[2], ())
            if path == wanted or path.endswith(f"/{wanted}")
        ]
        if len(found) > 1 and near:
            found = [path for path in found if near in path.split("/")[:-1]] or found
        if len(found) > 1 and wanted in found:
            found = [wanted]
        if len(found) > 1:
            raise NameRefusedError("several files have the name that the annotation gives")
        return found[0] if found else None
