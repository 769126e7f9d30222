"""Links as the files that they lead to: what a reader sees that knows no links.

Such a file has the path of the link, and everything else of the file: its bytes, label, split and
attributes. A link that leads to no file is not shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import LINK_COLUMN
from atom_sdk.manifests.joined import LayerJoin, iter_ranges
from atom_sdk.manifests.links import leads_of, read_links
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import RangeRef, Root


class LinkedFiles:
    """The files that the links of a version lead to, with their labels and splits."""

    def __init__(self, root: Root, store: ObjectStore, join: LayerJoin) -> None:
        """Read the links, then the entries that they lead to; without links nothing is read."""
        links = read_links(root, store)
        self._leads = leads_of(links)
        ends = {lead.path for lead in self._leads.values() if lead.path}
        wanted = pa.array(sorted(ends), pa.string())
        pieces = [piece for piece in _joined_files(root, store, join, wanted) if len(piece)]
        self._files = pa.concat_tables(pieces).combine_chunks() if pieces else None

    def leaves(self, path: str) -> bool:
        """Whether the link at a path leads out of the version's tree."""
        return self._leads[path].leaves

    def shown(self, rows: pa.Table) -> pa.Table:
        """Joined rows of one range with each link as the file that it leads to, in path order."""
        is_link = rows[LINK_COLUMN].is_valid()
        if not pc.any(is_link).as_py():
            return rows
        files = rows.filter(pc.invert(is_link))
        paths = rows["path"].filter(is_link).to_pylist()
        if self._files is None:
            return files
        ends = pa.array([self._leads[path].path for path in paths], pa.string())
        at = pc.index_in(ends, value_set=self._files["path"].combine_chunks())
        found = at.is_valid()
        as_files = self._files.take(at.drop_null())
        names = pa.array(paths, pa.string()).filter(found)
        as_files = as_files.set_column(0, rows.schema.field("path"), names)
        return pa.concat_tables([files, as_files]).sort_by("path").combine_chunks()


def _joined_files(
    root: Root, store: ObjectStore, join: LayerJoin, wanted: pa.Array
) -> Iterator[pa.Table]:
    paths: list[str] = wanted.to_pylist()

    def has_end(part: RangeRef) -> bool:
        at = bisect_left(paths, part.min)
        return at < len(paths) and paths[at] <= part.max

    for entries in iter_ranges(root, store, has_end):
        is_end = pc.is_in(entries["path"], value_set=wanted)
        if pc.any(is_end).as_py():
            joined = join.join(entries)
            yield joined.filter(pc.and_(is_end, joined[LINK_COLUMN].is_null()))
