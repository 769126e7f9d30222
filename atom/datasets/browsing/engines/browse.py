"""Looking into a version: filtered pages, single entries, counts. Reads only what it must."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import (
    FolderPage,
    PageRequest,
    ScanStopped,
    first_at_or_after,
    read_page,
    slice_of_prefix,
)
from atom.datasets.browsing.engines.object_attributes import described_objects
from atom.datasets.browsing.engines.query_scan import SCAN_ROWS, EntryCount, Scan
from atom.datasets.packs.engines.images import marked_unreadable
from atom.datasets.versions.engines.version_plan import SPLIT_LAYER
from atom.datasets.versions.engines.version_stats import VersionStats
from atom.datasets.versions.engines.versions import label_layers
from atom_sdk.manifests.joined import join_facts, join_labels
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER
from atom_sdk.manifests.links import Lead, follow_link, without_links
from atom_sdk.manifests.listing import prefix_end
from atom_sdk.manifests.query import Query, asks_about
from atom_sdk.manifests.roots.groups import range_position, ranges_from
from atom_sdk.manifests.roots.roots import LayerRef, RangeRef, Root

Row = dict[str, Any]
_NAMED_PATHS = 3
_OBJECTS = (OBJECTS_LAYER, OBJECTS_KIND)


class TableSource(Protocol):
    """Gives decoded, cached tables of one project."""

    def range(self, part: RangeRef) -> pa.Table:
        """Return the entries of a range."""

    def links(self, root: Root) -> Mapping[str, str]:
        """Return the target of each link of a version by its path."""

    def scanned(self, part: RangeRef) -> pa.Table:
        """Return the entries of one of many ranges, each of which is looked at once."""

    def values(self, ref: LayerRef, column: str) -> pa.Table:
        """Return `path`, `digest` and one column of a layer."""

    def object_rows(self, ref: LayerRef, paths: Sequence[str]) -> pa.Table:
        """Return the rows of a layer of objects at paths, which are in order."""

    def object_facts(self, root: Root, query: Query) -> pa.Table | None:
        """Return what a query asks of a version's objects, by path and digest."""

    def object_labels(self, ref: LayerRef) -> dict[str, int]:
        """Return how many objects of each label a layer has."""

    def numbers(self, key: Hashable, find: Callable[[], pa.Array]) -> pa.Array:
        """Return what `find` gives, which follows from the key alone."""

    def stats(self, key: Hashable, count: Callable[[], VersionStats]) -> VersionStats:
        """Return what `count` gives, which follows from the key alone."""


EndKind = Literal["file", "folder", "nothing", "circle", "outside"]


class LinkEnd(NamedTuple):
    """The end of a link; `file` is the row of a file there, without its label and split."""

    kind: EndKind
    file: Row | None = None


class VersionBrowser:
    """Read access to one version. Cheap to make; tables are cached by the source."""

    def __init__(self, root: Root, source: TableSource) -> None:
        """Nothing is read until something is asked."""
        self.root = root
        self._source = source
        self._label_layers = label_layers(root.layers)
        self._split_layer = next((ref for ref in root.layers if ref.name == SPLIT_LAYER), None)
        self._objects_layer = next(
            (ref for ref in root.layers if (ref.name, ref.kind) == _OBJECTS), None
        )
        split = [self._split_layer] if self._split_layer else []
        # The order counts: a stronger label layer comes first.
        drawn = [self._objects_layer] if self._objects_layer else []
        known = (*self._label_layers, *split, *drawn)
        self._layers_key = tuple((ref.kind, ref.content) for ref in known)

    def page(self, request: PageRequest, wanted: EntryFilter) -> FolderPage:
        """Return one page of entries as rows with `label` and `split`."""
        return read_page(_FilteredEntries(self, wanted), request)

    def find(self, path: str) -> Row | None:
        """Return the entry at a path, or None."""
        ranges = self.root.ranges
        index = self.range_from(path)
        if index == len(ranges):
            return None
        entries = self._source.range(ranges[index])
        row = first_at_or_after(_whole(entries["path"]), path)
        one = entries.slice(row, 1)
        if not len(one) or one["path"][0].as_py() != path:
            return None
        return self.led(_row(self.joined(one), 0))

    def led(self, row: Row) -> Row:
        """Return a row with `lead` and `end`: where a link leads and what is there, else None."""
        if row["link"] is None:
            return row | {"lead": None, "end": None}
        lead = follow_link(row["path"], self._source.links(self.root).get)
        return row | {"lead": lead, "end": self._end(lead)}

    def _end(self, lead: Lead) -> LinkEnd:
        if lead.path is None:
            return LinkEnd("outside" if lead.leaves else "circle")
        if not lead.path:
            return LinkEnd("folder")
        # A link at the end would have been followed further.
        if (file := self._first_from(lead.path)) and file["path"] == lead.path:
            return LinkEnd("file", file)
        below = self._first_from(f"{lead.path}/")
        is_folder = below is not None and below["path"].startswith(f"{lead.path}/")
        return LinkEnd("folder" if is_folder else "nothing")

    def _first_from(self, position: str) -> Row | None:
        """Return the entry at a path or, if there is none, the next one, without its label."""
        index = self.range_from(position)
        if index == len(self.root.ranges):
            return None
        entries = self._source.scanned(self.root.ranges[index])
        at = first_at_or_after(_whole(entries["path"]), position)
        found: list[Row] = entries.slice(at, 1).to_pylist()
        return found[0] if found else None

    def count(self, prefix: str, wanted: EntryFilter) -> EntryCount:
        """Return how many entries below the prefix pass; under a query perhaps only a part."""
        if wanted.where is not None:
            return self._scan(prefix, wanted).count()
        return EntryCount(self._total(prefix, wanted))

    def _scan(self, prefix: str, wanted: EntryFilter) -> Scan:
        matching = partial(self.matching, wanted=wanted)
        return Scan(self._ranges_below(prefix), matching, self._paths, prefix, wanted)

    def _total(self, prefix: str, wanted: EntryFilter) -> int:
        """Count from layers where possible."""
        found = self._matches(prefix, wanted)
        if found is not None:
            return len(found)
        return self._count(prefix) - len(self._left_out(prefix, wanted))

    def path_at(self, prefix: str, wanted: EntryFilter, position: int) -> str | None:
        """Return the path of the entry number `position` (from 0) below the prefix that passes.

        None past the end, under a query also past what is counted. Without a query, ranges before
        it are counted, not read.
        """
        if wanted.where is not None:
            return self._scan(prefix, wanted).path_at(position)
        found = self._matches(prefix, wanted)
        if found is not None:
            return str(found[position]) if position < len(found) else None
        left_out = self._left_out(prefix, wanted)
        for part in self._ranges_below(prefix):
            skipped = _within(left_out, part)
            count = self._count_in(part, prefix) - len(skipped)
            if position < count:
                paths = _whole(_below(self._source.range(part), prefix)["path"])
                kept = paths.filter(pc.invert(pc.is_in(paths, value_set=skipped)))
                return str(kept[position])
            position -= count
        return None

    def stats(self) -> VersionStats:
        """Return counts of everything."""
        return self._source.stats((self.root.content, self._layers_key), self._counted)

    def _counted(self) -> VersionStats:
        labels: Counter[str] = Counter()
        splits: Counter[str] = Counter()
        media_types: Counter[str] = Counter()
        unreadable = described = 0
        named: list[str] = []
        unsplit: list[str] = []
        for part in self.root.ranges:
            table = self.joined(self._source.scanned(part))
            for counter, name in (
                (labels, "label"),
                (splits, "split"),
                (media_types, "media_type"),
            ):
                for row in pc.value_counts(table[name].drop_null()).to_pylist():
                    counter[row["values"]] += row["counts"]
            described += pc.sum(described_objects(table)).as_py() or 0
            marked = marked_unreadable(table)
            unreadable += pc.sum(marked).as_py() or 0
            if len(named) < _NAMED_PATHS:
                named += table["path"].filter(marked).slice(0, _NAMED_PATHS).to_pylist()
            if self._split_layer is not None and len(unsplit) < _NAMED_PATHS:
                without = without_links(table.filter(table["split"].is_null()))["path"]
                unsplit += without.slice(0, _NAMED_PATHS).to_pylist()
        unlabelled = self.root.files - labels.total()
        return VersionStats(
            files=self.root.files,
            links=self.root.links,
            labels=dict(sorted(labels.items())),
            splits=dict(sorted(splits.items())),
            media_types=dict(sorted(media_types.items())),
            unlabelled=unlabelled,
            unreadable=unreadable,
            unreadable_paths=named[:_NAMED_PATHS],
            unsplit=self.root.files - splits.total() if self._split_layer is not None else 0,
            unsplit_paths=unsplit[:_NAMED_PATHS],
            described=described,
            annotated=self._objects_layer.rows if self._objects_layer else 0,
            object_labels=self._source.object_labels(self._objects_layer)
            if self._objects_layer
            else {},
        )

    def entries(self, part: RangeRef) -> pa.Table:
        """Return the entries of a range."""
        return self._source.range(part)

    def matching(self, part: RangeRef, wanted: EntryFilter) -> pa.Array:
        """Return the numbers of the rows of a range that pass, ascending."""

        def find() -> pa.Array:
            entries = self._source.scanned(part)
            needed = {column for column in ("label", "split") if wanted.needs(column)}
            return wanted.numbers_of(self.joined(entries, needed, wanted.where))

        # Both follow from contents: neither a delta nor another pack changes the rows.
        return self._source.numbers((part.content, self._layers_key, wanted.key), find)

    def _paths(self, part: RangeRef) -> pa.Array:
        return _whole(self._source.range(part)["path"])

    def joined(
        self,
        entries: pa.Table,
        columns: Collection[str] = ("label", "split"),
        where: Query | None = None,
    ) -> pa.Table:
        """Return entries, in path order, with their `label` and `split`, null where not asked.

        With a query also with what it asks of objects.
        """
        refs = self._label_layers if "label" in columns else []
        labels = [self._source.values(ref, "label") for ref in refs]
        split = self._split_layer if "split" in columns else None
        rows = join_labels(entries, labels, split and self._source.values(split, "value"))
        if where is None or not asks_about(where, "objects"):
            return rows
        return join_facts(rows, self._source.object_facts(self.root, where))

    def labels_at(self, paths: Sequence[str]) -> dict[str, str | None]:
        """Return the labels of those of the paths, which are in order, that are files."""
        found: dict[str, str | None] = {}
        for part in self.root.ranges:
            here = paths[bisect_left(paths, part.min) : bisect_right(paths, part.max)]
            if here:
                entries = self._source.scanned(part)
                listed = pc.is_in(entries["path"], value_set=pa.array(here, pa.string()))
                joined = self.joined(entries.filter(listed), {"label"})
                found |= zip(joined["path"].to_pylist(), joined["label"].to_pylist(), strict=True)
        return found

    def drawn(self, rows: Sequence[Row]) -> dict[str, Row]:
        """Return the row of the layer of objects of each entry that has one, by path.

        The entries are in path order. Objects that were drawn on other bytes count for nothing.
        """
        ref = self._objects_layer
        if ref is None or not rows:
            return {}
        digests = {row["path"]: row["digest"] for row in rows}
        picked = self._source.object_rows(ref, list(digests)).to_pylist()
        return {row["path"]: row for row in picked if row["digest"] == digests[row["path"]]}

    def range_from(self, position: str) -> int:
        """Return the index of the first range that may hold `position` or something after it."""
        ranges = self.root.ranges
        index = range_position(ranges, position)
        return index + 1 if index < len(ranges) and ranges[index].max < position else index

    def candidates(self, wanted: EntryFilter) -> pa.Array | None:
        """Return the sorted paths among which all matches are, or None when all may match."""
        if wanted.split is not None:
            return self._split_paths(wanted.split, "")
        if wanted.label is not None or wanted.labelled:
            return self._labelled_paths(wanted.label, "")
        return None

    def _matches(self, prefix: str, wanted: EntryFilter) -> pa.Array | None:
        """Return the sorted paths that pass, or None when they are all but `_left_out`."""
        if wanted.label is not None and wanted.labelled is False:
            return pa.array([], pa.string())
        if wanted.split is None:
            if wanted.label is None and not wanted.labelled:
                return None
            return self._labelled_paths(wanted.label, prefix)
        in_split = self._split_paths(wanted.split, prefix)
        if wanted.label is None and wanted.labelled is None:
            return in_split
        labelled = pc.is_in(in_split, value_set=self._labelled_paths(wanted.label, prefix))
        return in_split.filter(pc.invert(labelled) if wanted.labelled is False else labelled)

    def _left_out(self, prefix: str, wanted: EntryFilter) -> pa.Array:
        if wanted.labelled is False:
            labelled = self._labelled_paths(None, prefix)
            links = [path for path in self._source.links(self.root) if path.startswith(prefix)]
            return pa.concat_arrays([labelled, pa.array(links, pa.string())]).sort()
        return pa.array([], pa.string())

    def _labelled_paths(self, label: str | None, prefix: str) -> pa.Array:
        """Sorted paths with a label (with this label, if given); a stronger layer wins."""
        found: list[pa.Array] = []
        seen = pa.array([], pa.string())
        for ref in self._label_layers:
            table = _below(self._source.values(ref, "label"), prefix)
            if len(seen):
                table = table.filter(pc.invert(pc.is_in(table["path"], value_set=seen)))
            if ref is not self._label_layers[-1]:
                seen = pa.concat_arrays([seen, _whole(table["path"])])
            kept = table if label is None else table.filter(pc.equal(table["label"], label))
            found.append(_whole(kept["path"]))
        if len(found) == 1:
            return found[0]
        return pa.concat_arrays([pa.array([], pa.string()), *found]).sort()

    def _split_paths(self, split: str, prefix: str) -> pa.Array:
        if self._split_layer is None:
            return pa.array([], pa.string())
        table = _below(self._source.values(self._split_layer, "value"), prefix)
        return table.filter(pc.equal(table["value"], split))["path"].combine_chunks()

    def _count(self, prefix: str) -> int:
        """Entries below a prefix; reads at most its first and its last range."""
        return sum(self._count_in(part, prefix) for part in self._ranges_below(prefix))

    def _ranges_below(self, prefix: str) -> Iterator[RangeRef]:
        end = prefix_end(prefix)
        for part in ranges_from(self.root.ranges, prefix):
            if end is not None and part.min >= end:
                return
            yield part

    def _count_in(self, part: RangeRef, prefix: str) -> int:
        if part.min.startswith(prefix) and part.max.startswith(prefix):
            return part.count
        return len(_below(self._source.range(part), prefix))


class _FilteredEntries:
    """Seeks the next entry that passes a filter; one range is kept at a time."""

    def __init__(self, browser: VersionBrowser, wanted: EntryFilter) -> None:
        self._browser = browser
        self._wanted = wanted
        self._candidates = browser.candidates(wanted)
        self._index = -1
        self._paths = pa.array([], pa.string())
        self._entries: pa.Table = pa.table({})
        self._joined: pa.Table | None = None
        self._row = 0
        # Layers find a match by seeking. A query must read rows until one matches.
        self._rows_left = float("inf") if wanted.where is None else SCAN_ROWS

    def seek(self, position: str) -> str | None:
        start = self._skip(position)
        if start is None:
            return None
        ranges = self._browser.root.ranges
        for index in range(self._browser.range_from(start), len(ranges)):
            if not self._wanted.may_match(ranges[index]):
                continue
            if self._rows_left <= 0 and index != self._index:
                raise ScanStopped(max(start, ranges[index].min))
            self._load(index)
            self._row = first_at_or_after(self._paths, start)
            if self._row < len(self._paths):
                return str(self._paths[self._row])
        return None

    def row(self) -> Row:
        """Return the row that was found last; a folder that is skipped needs none."""
        if self._joined is None:
            self._joined = self._browser.joined(self._entries)
        return self._browser.led(_row(self._joined, self._row))

    def _skip(self, position: str) -> str | None:
        """Jump to the next path that can match at all."""
        if self._candidates is None:
            return position
        row = first_at_or_after(self._candidates, position)
        return self._candidates[row].as_py() if row < len(self._candidates) else None

    def _load(self, index: int) -> None:
        if index == self._index:
            return
        part = self._browser.root.ranges[index]
        self._rows_left -= part.count
        self._index, self._joined = index, None
        if self._wanted.passes_all:
            self._entries = self._browser.entries(part)
        elif len(numbers := self._browser.matching(part, self._wanted)):
            self._entries = self._browser.entries(part).take(numbers)
        else:
            self._paths = pa.array([], pa.string())
            return
        self._paths = _whole(self._entries["path"])


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; one that is whole already is not copied."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _row(table: pa.Table, index: int) -> Row:
    row: Row = table.slice(index, 1).to_pylist()[0]
    row["attributes"] = json.loads(row["attributes"]) if row["attributes"] else {}
    return row


def _within(paths: pa.Array, part: RangeRef) -> pa.Array:
    start, end = first_at_or_after(paths, part.min), first_at_or_after(paths, part.max + "\0")
    return paths.slice(start, end - start)


def _below(table: pa.Table, prefix: str) -> pa.Table:
    if not prefix:
        return table
    start, end = slice_of_prefix(_whole(table["path"]), prefix)
    return table.slice(start, end - start)
