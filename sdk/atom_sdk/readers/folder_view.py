"""A view as a folder shows it: files, and links as symbolic links.

A view has a row for a link to a file, because its readers know no links. A folder shows it once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.manifests.links import Lead, leads_of
from atom_sdk.readers.view import ViewIndex


class FolderView:
    """Rows that are files, and the targets of links by path, in path order.

    `rows` has the shape (files,), as have `sizes`, `offsets` and `pack_ids`. `left_out` are links
    that lead out of the tree, none with `unsafe_links`. A link to a file is shown as that file if
    the view lacks what is on the way to it, as parts of a version may.
    """

    def __init__(self, index: ViewIndex, *, unsafe_links: bool = False) -> None:
        """Without links nothing is computed or copied."""
        self.index = index
        self.unsafe_links = unsafe_links
        inside, leaving = index.links
        links = {**inside, **leaving} if unsafe_links else inside
        self.left_out = {} if unsafe_links else dict(leaving)
        paths = index.path_array()
        if links:
            is_link = _is_in(paths, links)
            leads = leads_of(links)
            as_files = _lost(paths.filter(is_link), paths.filter(pc.invert(is_link)), leads)
            if not unsafe_links:
                # In a part of a version, a link that stays inside may lack another on its way.
                led_out = {path for path, lead in leads.items() if lead.leaves} - as_files
                self.left_out |= {path: links[path] for path in led_out}
                as_files |= led_out
            self.links = {path: links[path] for path in sorted(links.keys() - as_files)}
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


def _lost(rows: pa.Array, files: pa.Array, leads: dict[str, Lead]) -> set[str]:
    """Among the links to files, `rows`, those that lead to none of the files that are shown."""
    paths = [path.decode() for path in rows.to_pylist()]
    arrives = pc.is_in(_binary([leads[path].path or "" for path in paths]), value_set=files)
    return {path for path, there in zip(paths, arrives.to_pylist(), strict=True) if not there}


def _is_in(paths: pa.Array, names: dict[str, str]) -> pa.Array:
    return pc.is_in(paths, value_set=_binary(names))


def _binary(texts: list[str] | dict[str, str]) -> pa.Array:
    return pa.array([text.encode() for text in texts], pa.large_binary())
