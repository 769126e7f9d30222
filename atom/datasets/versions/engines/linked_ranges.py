"""Ranges as a reader sees them that knows no links: each link as the file that it leads to.

A link to a folder, one that leads nowhere, out of the version or in a circle is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import LINK_COLUMN
from atom_sdk.manifests.groups import range_position
from atom_sdk.manifests.links import follow_link, without_links
from atom_sdk.manifests.roots import RangeRef, Root


def shown_files(
    root: Root,
    entries: pa.Table,
    links: Mapping[str, str],
    read: Callable[[RangeRef], pa.Table],
) -> pa.Table:
    """Return the entries of a range with its links as files, in path order.

    `links` are the targets of all links of the root, `read` gives the entries of a range.
    """
    paths = entries["path"].filter(entries[LINK_COLUMN].is_valid()).to_pylist()
    leads = ((path, follow_link(path, links.get).path) for path in paths)
    ends = {path: end for path, end in leads if end}
    pieces = [without_links(entries)]
    by_range: dict[int, list[str]] = {}
    for path, end in ends.items():
        by_range.setdefault(range_position(root.ranges, end), []).append(path)
    for number, here in by_range.items():
        table = read(root.ranges[number])
        wanted = pa.array([ends[path] for path in here], pa.string())
        at = pc.index_in(wanted, value_set=table["path"].combine_chunks())
        files = table.take(at.drop_null())
        names = pa.array(here, pa.string()).filter(at.is_valid())
        files = files.set_column(0, entries.schema.field("path"), names)
        pieces.append(without_links(files))
    return pa.concat_tables(pieces).sort_by("path").combine_chunks()
