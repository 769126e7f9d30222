"""Files that stand where a folder is: no file system could hold both.

Object stores may, so a version that a scan made can have such paths; nothing else adds one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import RangeRef, Root
from atom_sdk.manifests.rows.sorted_paths import positions, rows_of_paths


def path_conflict(
    root: Root, put: Iterable[pa.Array], store: ObjectStore, before: Root | None = None
) -> str | None:
    """Return a path that is a file and a folder in `root` because of files that were put.

    `put` are their paths in order, piece by piece; those that `before` had too may be what they
    were. Only ranges that may hold such a path are read, and of these only the paths.
    """
    for paths in put:
        found = _Search(paths).first_in(root, store)
        if found is not None and before is not None:
            found = _Search(_without(paths, before, store)).first_in(root, store)
        if found is not None:
            return found
    return None


class _Search:
    """The paths that conflict with some files: files at their folders, and files below them."""

    def __init__(self, paths: pa.Array) -> None:
        self._folders = pa.array(sorted(folders_of(paths.to_pylist())), pa.string())
        # In the order of what lies below: "a-b" is before "a/b".
        self._inside = pc.binary_join_element_wise(paths, "/", "").sort()

    def first_in(self, root: Root, store: ObjectStore) -> str | None:
        """Return the first path of `root` that is a file and a folder."""
        ranges = root.ranges
        lasts = pa.array([part.max for part in ranges], pa.string())
        folders_from = positions(
            self._folders, pa.array([part.min for part in ranges], pa.string()), "left"
        )
        folders_to = positions(self._folders, lasts, "right")
        # The first file that is not before "a/" lies in the first range that ends after it.
        inside_to = positions(self._inside, lasts, "right")
        inside_from = np.concatenate([[0], inside_to[:-1]])
        touched = (folders_from < folders_to) | (inside_from < inside_to)
        for number in np.flatnonzero(touched).tolist():
            folders = self._folders[folders_from[number] : folders_to[number]]
            inside = self._inside[inside_from[number] : inside_to[number]]
            if found := _clash(ranges[number], folders, inside, store):
                return found
        return None


def _clash(part: RangeRef, folders: pa.Array, inside: pa.Array, store: ObjectStore) -> str | None:
    files = _paths(part, store)
    if len(at := np.flatnonzero(rows_of_paths(files, folders) >= 0)):
        return str(folders[at[0]])
    folder = pc.utf8_slice_codeunits(inside, 0, -1)
    # "0" follows "/" in the order of bytes: what is between the two lies in the folder.
    after = pc.binary_join_element_wise(folder, "0", "")
    begins, ends = positions(files, inside, "left"), positions(files, after, "left")
    return str(folder[at[0]]) if len(at := np.flatnonzero(begins < ends)) else None


def _without(paths: pa.Array, before: Root, store: ObjectStore) -> pa.Array:
    """Return which of the paths `before` did not have."""
    known = np.zeros(len(paths), np.bool_)
    for part in before.ranges:
        bounds = pa.array([part.min, part.max], pa.string())
        start = positions(paths, bounds[:1], "left")[0]
        end = positions(paths, bounds[1:], "right")[0]
        if start < end:
            known[start:end] = rows_of_paths(_paths(part, store), paths[start:end]) >= 0
    return paths.filter(pa.array(~known))


def _paths(part: RangeRef, store: ObjectStore) -> pa.Array:
    return read_range(part, store, ["path"])["path"].combine_chunks()


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return the folders that the paths lie in, at every depth."""
    nearest = {path.rpartition("/")[0] for path in paths}
    return {
        folder[:end]
        for folder in nearest
        for end in (*(at for at, char in enumerate(folder) if char == "/"), len(folder))
        if end
    }
