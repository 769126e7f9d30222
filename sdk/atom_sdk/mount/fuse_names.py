"""Names of the folders of a view, looked up by the folder's path."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from atom_sdk.mount.erofs.tree import build_tree
from atom_sdk.readers.folder_view import FolderView


class FolderNames:
    """Folders by their path without slashes at the ends; the top is ""."""

    def __init__(self, view: FolderView) -> None:
        """Raises NameConflictError, ImageLimitError."""
        tree = build_tree(view.path_array())
        self._names: pa.Array = tree.names
        self._bounds = np.searchsorted(tree.owners, np.arange(tree.folders + 1)).tolist()
        self._links = np.bincount(-1 - tree.targets[tree.targets < 0]).tolist()
        self._numbers = {"": 0}
        self._number(tree.owners.tolist(), tree.targets.tolist())

    def links(self, folder: str) -> int | None:
        """How many names lead to a folder, or None if there is no such folder."""
        number = self._numbers.get(folder)
        return None if number is None else int(self._links[number])

    def names(self, folder: str) -> list[str]:
        """Names in a folder, with "." and "..". Raises KeyError."""
        number = self._numbers[folder]
        return [name.decode() for name in self._slice(number).to_pylist()]

    def _slice(self, number: int) -> pa.Array:
        start, end = self._bounds[number : number + 2]
        return self._names.slice(start, end - start)

    def _number(self, owners: list[int], targets: list[int]) -> None:
        paths = {0: ""}
        # Folders are numbered from above, so a folder's own path is known before its content.
        rows = [row for row, target in enumerate(targets) if target < 0]
        for row in sorted(rows, key=lambda row: -1 - targets[row]):
            number, name = -1 - targets[row], self._names[row].as_py().decode()
            if name in {".", ".."}:
                continue
            above = paths[owners[row]]
            paths[number] = f"{above}/{name}" if above else name
            self._numbers[paths[number]] = number
