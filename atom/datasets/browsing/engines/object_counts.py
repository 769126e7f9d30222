"""Counts of what is drawn on the pictures that a run would read.

Layers of up to COUNTED_PICTURES rows are counted exactly; of larger ones we know the rows alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.data_counts import COUNTED_FILES, of_media, selected
from atom.datasets.versions.engines.version_plan import REST
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query import Query, matches
from atom_sdk.manifests.view_annotations import read_annotations, with_annotations

COUNTED_PICTURES = 50_000


@dataclass(frozen=True)
class ObjectCounts:
    """Pictures that somebody has looked at, and their objects that are not to be ignored.

    Not exact: `pictures` is the most that it can be, the others are empty.
    """

    pictures: int = 0
    objects: int = 0
    is_exact: bool = True
    classes: dict[str, int] = field(default_factory=dict)
    # Objects of each split; what has no split belongs to "train".
    by_split: dict[str, int] = field(default_factory=dict)


def count_objects(
    browser: VersionBrowser,
    store: ObjectStore,
    splits: Sequence[str] | None = None,
    where: Query | None = None,
) -> ObjectCounts:
    """Return the counts of pictures in one of the `splits` that match; None selects all splits."""
    root = browser.root
    rows = sum(one.rows for one in root.layers if (one.name, one.kind) == _LAYER)
    if rows > COUNTED_PICTURES or root.count > COUNTED_FILES:
        return ObjectCounts(pictures=rows, is_exact=False)
    layer = read_annotations(root, store) if rows else None
    if layer is None:
        return ObjectCounts()
    pictures, classes, by_split = 0, Counter[str](), Counter[str]()
    for part in root.ranges:
        table = browser.joined(without_links(browser.entries(part)))
        table = table if where is None else table.filter(matches(where, table))
        table = of_media(selected(table, splits), "image")
        annotated = with_annotations(table.select(["path", "digest", "split"]), layer)
        annotated = annotated.filter(annotated["annotations"].is_valid())
        pictures += len(annotated)
        for split in pc.unique(pc.fill_null(annotated["split"], REST)).to_pylist():
            counted = _classes_of(annotated, split)
            classes += counted
            by_split[split] += counted.total()
    return ObjectCounts(
        pictures=pictures,
        objects=classes.total(),
        classes=dict(sorted(classes.items())),
        by_split=dict(sorted(by_split.items())),
    )


_LAYER = (OBJECTS_LAYER, OBJECTS_KIND)


def _classes_of(annotated: pa.Table, split: str) -> Counter[str]:
    """Return the number of objects of each class on the pictures of a split."""
    mine = annotated.filter(pc.equal(pc.fill_null(annotated["split"], REST), split))
    lists = pc.struct_field(mine["annotations"].combine_chunks(), "objects")
    objects = lists.flatten()
    # The bounds of the picture's points and lines hold no area: a detector learns no box of them.
    has_box = pc.and_(
        pc.greater(pc.struct_field(objects, "width"), 0.0),
        pc.greater(pc.struct_field(objects, "height"), 0.0),
    )
    counts = pc.and_(has_box, pc.invert(pc.struct_field(objects, "ignore")))
    labels = pc.struct_field(objects, "label").filter(counts)
    return Counter({row["values"]: row["counts"] for row in pc.value_counts(labels).to_pylist()})
