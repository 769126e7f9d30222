"""A view as a folder shows it: files, and links as symbolic links.

A view has a row for a link to a file, because its readers know no links. A folder shows it once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.manifests.links import follow_link
from atom_sdk.readers.view import ViewIndex


class FolderView:
    """Rows that are files, and the targets of links by path, in path order.

    `rows` has the shape (files,), as have `sizes`, `offsets` and `pack_ids`. `left_out` are links
    that lead out of the tree, none with `unsafe_links`. A link whose file is selected by its path
    only, without the file's own path, is a file: as a link it would lead nowhere.
    """

    def __init__(self, index: ViewIndex, *, unsafe_links: bool = False) -> None:
        """Without links nothing is computed or copied."""
        self.index = index
        self.unsafe_links = unsafe_links
        inside, leaving = index.links
        self.left_out = {} if unsafe_links else leaving
        links = {**inside, **leaving} if unsafe_links else dict(inside)
        paths = index.path_array()
        if links:
            mask = _is_in(paths, links)
            self.links = _sorted(_whole(paths.filter(mask), paths.filter(pc.invert(mask)), links))
            is_file = pc.invert(_is_in(paths, self.links))
            self._files = paths.filter(is_file)
            self.rows = np.flatnonzero(is_file.to_numpy(zero_copy_only=False))
            self.sizes: NDArray[np.int64] = index.sizes[self.rows]
            self.offsets: NDArray[np.int64] = index.offsets[self.rows]
            self.pack_ids: NDArray[np.int32] = index.pack_ids[self.rows]
        else:
            self.links = {}
            self._files = paths
            self.rows = np.arange(len(index))
            self.sizes, self.offsets, self.pack_ids = index.sizes, index.offsets, index.pack_ids

    def __len__(self) -> int:
        """Number of files."""
        return len(self.rows)

    def path_array(self) -> pa.Array:
        """Paths of the files, then those of the links; large_binary, shape (files + links,)."""
        if not self.links:
            return self._files
        return pa.concat_arrays([self._files, _binary(self.links)])

    def path_of(self, file: int) -> str:
        """Path of a file, by its place in `rows`."""
        return self.index.path_of(int(self.rows[file]))


def _whole(rows: pa.Array, files: pa.Array, links: dict[str, str]) -> dict[str, str]:
    """Links without those to files that are not shown; `rows` are the paths of links to files."""
    paths = [path.decode() for path in rows.to_pylist()]
    ends = [follow_link(path, links.get).path or "" for path in paths]
    arrives = pc.is_in(_binary(ends), value_set=files).to_pylist()
    lost = {path for path, there in zip(paths, arrives, strict=True) if not there}
    return {path: target for path, target in links.items() if path not in lost}


def _sorted(links: dict[str, str]) -> dict[str, str]:
    return dict(sorted(links.items()))


def _is_in(paths: pa.Array, names: dict[str, str]) -> pa.Array:
    return pc.is_in(paths, value_set=_binary(names))


def _binary(texts: list[str] | dict[str, str]) -> pa.Array:
    return pa.array([text.encode() for text in texts], pa.large_binary())
