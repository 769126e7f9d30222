"""Streams the entries that a label task is about out of a version's manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from atom.core.storage import project_store
from atom.datasets.media_pins import media_pin
from atom.datasets.models import Version
from atom.labeling.actions.items import Sample
from atom.labeling.engines import layers, selection
from atom.labeling.engines.selection import LeftOut
from atom_sdk.manifests import read_layer, read_range, read_root


@dataclass
class ImageSelection:
    """The images of a version below `prefix`, in path order, holding one range at a time.

    `labelled` False: those without a label in any classification layer; None: all. Of `paths`,
    if there are any, only these. `left_out` and `count` are of what has been gone through so far.
    """

    version: Version
    prefix: str = ""
    labelled: bool | None = False
    paths: frozenset[str] = frozenset()
    left_out: LeftOut = field(default_factory=LeftOut, init=False)
    count: int = field(default=0, init=False)

    def samples(self) -> Iterator[Sample]:
        """Yield the images."""
        for table in self._tables():
            yield from (_sample(row) for row in selection.rows(table))

    def counted(self) -> ImageSelection:
        """Go through all of it without making samples."""
        for _ in self._tables():
            pass
        return self

    def _tables(self) -> Iterator[pa.Table]:
        store = project_store(self.version.dataset.project)
        root = read_root(bytes.fromhex(self.version.readable_root), store)
        known = [read_layer(layer, store) for layer in root.layers if layer.kind == layers.KIND]
        for part in root.ranges:
            if selection.may_hold(part, self.prefix) and selection.may_list(part, self.paths):
                entries = selection.listed(read_range(part, store), self.paths)
                matching = selection.matching(entries, known, self.prefix, self.labelled)
                images, left_out = selection.images(matching)
                self.left_out += left_out
                self.count += len(images)
                yield images


def _place(row: dict[str, Any]) -> dict[str, Any]:
    if row["pack"] is None:
        return {"key": row["key"], "pin": media_pin(row)}
    return {"pack": row["pack"].hex(), "offset": row["offset"]}


def _sample(row: dict[str, Any]) -> Sample:
    return Sample(
        path=row["path"],
        digest=row["digest"].hex(),
        place=_place(row),
        size_bytes=row["size"],
        media_type=row["media_type"],
    )
