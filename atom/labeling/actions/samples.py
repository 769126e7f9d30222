"""Streams the entries that a label task is about out of a version's manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from atom.core.storage import PrefixStore, project_store
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.reads import open_version
from atom.datasets.models import Version
from atom.datasets.packs.media_pins import media_pin
from atom.datasets.pyramids.actions.making import undrawable_digests
from atom.labeling.actions.items import Sample
from atom.labeling.engines import layers, objects, selection
from atom.labeling.engines.objects import PreLabels
from atom.labeling.engines.selection import ExcludedCounts
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.manifests import read_layer, read_range, read_root
from atom_sdk.manifests.layers.layers import read_values
from atom_sdk.manifests.query import Query, may_match
from atom_sdk.manifests.roots.roots import RangeRef


@dataclass
class ImageSelection:
    """The images of a version below `prefix`, in path order, holding one range at a time.

    `labelled` False: those without a row in any layer of the kind `kind`; None: all. `paths` limits
    them to these paths, `where` to those that match. With an `ontology`, samples carry the objects
    that the version has. `left_out` and `count` cover the images that were read so far.
    """

    version: Version
    prefix: str = ""
    labelled: bool | None = False
    paths: frozenset[str] = frozenset()
    where: Query | None = None
    kind: str = layers.KIND
    ontology: Ontology | None = None
    left_out: ExcludedCounts = field(default_factory=ExcludedCounts, init=False)
    count: int = field(default=0, init=False)

    def samples(self) -> Iterator[Sample]:
        """Yield the images."""
        known = self._pre_labels()
        for table in self._tables():
            begun = known.documents(table) if known else {}
            for row in selection.rows(table):
                yield _sample(row, begun.get(str(row["path"])))

    def counted(self, most: int | None = None) -> ImageSelection:
        """Go through it without making samples: all of it, or until there are more than `most`."""
        for _ in self._tables():
            if most is not None and self.count > most:
                break
        return self

    def _tables(self) -> Iterator[pa.Table]:
        store = project_store(self.version.dataset.project)
        root = read_root(bytes.fromhex(self.version.readable_root), store)
        undrawable = undrawable_digests(self.version.dataset.project_id)
        asked = [] if self.labelled is None else root.layers
        column = "label" if self.kind == layers.KIND else "content"
        known = [read_values(layer, column, store) for layer in asked if layer.kind == self.kind]
        for part in root.ranges:
            if selection.may_hold(part, self.prefix) and selection.may_list(part, self.paths):
                entries = selection.listed(self._filtered(part, store), self.paths)
                matching = selection.matching(entries, known, self.prefix, self.labelled)
                images, left_out = selection.images(matching)
                self.left_out += left_out
                images, left_out = selection.drawable(images, undrawable)
                self.left_out += left_out
                self.count += len(images)
                yield images

    def _pre_labels(self) -> PreLabels | None:
        if self.ontology is None:
            return None
        store = project_store(self.version.dataset.project)
        layer = read_root(bytes.fromhex(self.version.readable_root), store).layer(objects.NAME)
        if layer is None or layer.kind != objects.KIND:
            return None
        return PreLabels(read_layer(layer, store), self.ontology)

    def _filtered(self, part: RangeRef, store: PrefixStore) -> pa.Table:
        entries = read_range(part, store)
        if self.where is None:
            return entries
        if not may_match(self.where, part.min, part.max):
            return entries.slice(0, 0)
        # As the grid asks it, so that the task is about what was seen there.
        numbers = open_version(self.version).matching(part, EntryFilter(where=self.where))
        return entries.take(numbers)


def _place(row: dict[str, Any]) -> dict[str, Any]:
    if row["pack"] is None:
        return {"key": row["key"], "pin": media_pin(row)}
    return {"pack": row["pack"].hex(), "offset": row["offset"]}


def _sample(row: dict[str, Any], begun: dict[str, Any] | None) -> Sample:
    size = None if begun is None else (begun["width"], begun["height"])
    return Sample(
        path=row["path"],
        digest=row["digest"].hex(),
        place=_place(row),
        size_bytes=row["size"],
        media_type=row["media_type"],
        picture_size=size,
        document=begun,
    )
