"""Counts of the part of a version that a run would read: labels, classes, splits, media.

Versions of up to COUNTED_FILES files are counted exactly, range by range. For larger ones we read
the root alone, which holds the number of rows of each layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.packs.engines.images import marked_unreadable, raster_images
from atom.datasets.versions.engines.version_plan import REST, SPLIT_LAYER
from atom_sdk.manifests.layers.class_folders import folder_shape
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.query import Query, matches

COUNTED_FILES = 200_000
SAMPLED = 16
_SAMPLE_COLUMNS = ("path", "digest", "pack", "offset", "size")


@dataclass(frozen=True)
class PictureEntry:
    """Where the bytes of one picture lie: of a pack (hex), from `offset` on."""

    path: str
    digest: str
    pack: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class DataCounts:
    """Files of a selection; `splits` counts the whole version, files without a split apart.

    Not exact: `labels` and `splits` are empty, and `labelled` is the most that it can be.
    """

    version_files: int
    files: int
    labelled: int
    is_exact: bool
    has_splits: bool
    labels: dict[str, int] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    unsplit: int = 0
    media: dict[str, int] = field(default_factory=dict)
    unreadable: int = 0
    unreadable_paths: tuple[str, ...] = ()
    class_folders: tuple[str, ...] = ()
    packs: frozenset[str] = frozenset()
    # Pictures spread over the selection, to be opened.
    sample: tuple[PictureEntry, ...] = ()
    # Links are not counted as files.
    links: int = 0
    # Selected files of the media that was asked for, None for any media; `labels` are theirs.
    of_media: int | None = None
    # The same in all splits.
    version_of_media: int | None = None
    # Labels of each selected split; what has no split belongs to "train".
    labels_by_split: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def usable(self) -> int:
        """Return how many files the run can use."""
        return self.files if self.of_media is None else self.of_media


def count_data(
    browser: VersionBrowser,
    splits: Sequence[str] | None = None,
    where: Query | None = None,
    media: str = "",
) -> DataCounts:
    """Return the counts of what is in one of the `splits` and matches; None selects all splits.

    Labels are those of files of this `media`, such as "image"; of all files where none is named.
    """
    if browser.root.count > COUNTED_FILES:
        return _from_root(browser, splits)
    counter = _Counter(media)
    for table in _tables(browser, where):
        counter.take(table, selected(table, splits))
    return counter.counts(browser)


def selected_digests(
    browser: VersionBrowser, splits: Sequence[str] | None = None, where: Query | None = None
) -> pa.Array | None:
    """Return the digests of what is selected; None for a version that is too large to count."""
    if browser.root.count > COUNTED_FILES:
        return None
    digests = [pa.array([], pa.binary(32))]
    for table in _tables(browser, where):
        digests.extend(selected(table, splits)["digest"].cast(pa.binary(32)).chunks)
    return pa.concat_arrays(digests)


def selected(table: pa.Table, splits: Sequence[str] | None) -> pa.Table:
    """Return the rows in one of the splits; what has no split belongs to "train"."""
    if splits is None:
        return table
    split = pc.fill_null(table["split"], REST)
    return table.filter(pc.is_in(split, value_set=pa.array(list(splits), pa.string())))


def of_media(table: pa.Table, media: str) -> pa.Table:
    """Return the rows whose files can be of this media; drawings in text form are no images."""
    if not media:
        return table
    if media == "image":
        return table.filter(raster_images(table))
    return table.filter(pc.fill_null(pc.starts_with(table["media_type"], f"{media}/"), False))


def _tables(browser: VersionBrowser, where: Query | None) -> Iterator[pa.Table]:
    for part in browser.root.ranges:
        table = browser.joined(without_links(browser.entries(part)), where=where)
        yield table if where is None else table.filter(matches(where, table))


def _from_root(browser: VersionBrowser, splits: Sequence[str] | None) -> DataCounts:
    root = browser.root
    labelled = sum(ref.rows for ref in root.layers if ref.kind == "classification")
    has_splits = any(ref.name == SPLIT_LAYER and ref.rows for ref in root.layers)
    # Without splits every file belongs to "train".
    is_empty = splits is not None and not has_splits and REST not in splits
    return DataCounts(
        version_files=root.files,
        files=0 if is_empty else root.files,
        labelled=0 if is_empty else min(labelled, root.files),
        is_exact=False,
        has_splits=has_splits,
    )


class _Counter:
    """Sums of one table after the other."""

    def __init__(self, media: str) -> None:
        self.asked_media = media
        self.version_files = self.files = self.unreadable = self.unsplit = 0
        self.of_media = self.version_of_media = 0
        self.labels_by_split: dict[str, Counter[str]] = defaultdict(Counter)
        self.labels, self.splits, self.media = Counter[str](), Counter[str](), Counter[str]()
        self.paths: list[str] = []
        self.unreadable_paths: list[str] = []
        self.packs: set[str] = set()
        self.pictures: list[pa.Table] = []

    def take(self, table: pa.Table, chosen: pa.Table) -> None:
        """Count a range's rows that match, and of these the chosen ones."""
        self.version_files += len(table)
        self.unsplit += table["split"].null_count
        _add(self.splits, table["split"])
        self.files += len(chosen)
        usable = of_media(chosen, self.asked_media)
        self.of_media += len(usable)
        self.version_of_media += len(of_media(table, self.asked_media))
        _add(self.labels, usable["label"])
        self._add_by_split(usable)
        family = pc.list_element(pc.split_pattern(chosen["media_type"].drop_null(), "/"), 0)
        _add(self.media, family)
        marked = marked_unreadable(chosen)
        self.unreadable += pc.sum(marked).as_py() or 0
        self.unreadable_paths += chosen["path"].filter(marked).slice(0, 3).to_pylist()
        self.paths += chosen["path"].to_pylist()
        self.packs |= {pack.hex() for pack in chosen["pack"].unique().drop_null().to_pylist()}
        readable = pc.and_(raster_images(chosen), pc.invert(pc.fill_null(marked, False)))
        in_pack = pc.and_(readable, chosen["pack"].is_valid())
        self.pictures.append(chosen.filter(in_pack).select(list(_SAMPLE_COLUMNS)))

    def _add_by_split(self, table: pa.Table) -> None:
        split = pc.fill_null(table["split"], REST)
        for name in pc.unique(split).to_pylist():
            _add(self.labels_by_split[name], table["label"].filter(pc.equal(split, name)))

    def counts(self, browser: VersionBrowser) -> DataCounts:
        """Return what was counted."""
        return DataCounts(
            version_files=self.version_files,
            files=self.files,
            labelled=self.labels.total(),
            is_exact=True,
            has_splits=bool(self.splits),
            labels=dict(sorted(self.labels.items())),
            splits=dict(sorted(self.splits.items())),
            unsplit=self.unsplit,
            media=dict(self.media),
            unreadable=self.unreadable,
            unreadable_paths=tuple(self.unreadable_paths[:3]),
            class_folders=folder_shape(self.paths).classes,
            packs=frozenset(self.packs),
            sample=self._sample(),
            links=browser.root.links,
            of_media=self.of_media if self.asked_media else None,
            version_of_media=self.version_of_media if self.asked_media else None,
            labels_by_split={name: dict(each) for name, each in self.labels_by_split.items()},
        )

    def _sample(self) -> tuple[PictureEntry, ...]:
        if not self.pictures:
            return ()
        pictures = pa.concat_tables(self.pictures)
        number = min(SAMPLED, len(pictures))
        places = [at * len(pictures) // number for at in range(number)]
        # An empty list alone has no type that `take` knows.
        rows = pictures.take(pa.array(places, pa.int64())).to_pylist()
        return tuple(
            PictureEntry(
                row["path"], row["digest"].hex(), row["pack"].hex(), row["offset"], row["size"]
            )
            for row in rows
        )


def _add(counter: Counter[str], column: pa.ChunkedArray) -> None:
    for row in pc.value_counts(column.drop_null()).to_pylist():
        counter[row["values"]] += row["counts"]
