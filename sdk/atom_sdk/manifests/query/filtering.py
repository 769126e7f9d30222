"""The entries of a version that match a query, a range at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.joined import LABEL_LAYERS, SPLIT_LAYER, LayerJoin, iter_ranges
from atom_sdk.manifests.listing import prefix_end
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query.evaluation import matches
from atom_sdk.manifests.query.object_facts import read_object_facts
from atom_sdk.manifests.query.ranges import may_match
from atom_sdk.manifests.query.tree import Query
from atom_sdk.manifests.roots.roots import RangeRef, Root


def matching(
    root: Root,
    store: ObjectStore,
    query: Query | None = None,
    prefix: str = "",
    label_layers: tuple[str, ...] = LABEL_LAYERS,
    split_layer: str = SPLIT_LAYER,
) -> Iterator[pa.Table]:
    """Yield tables of the matching entries with `label` and `split`, in path order.

    One table per range that has a match. Ranges whose paths cannot match are not read, so memory
    is bounded by a few ranges and the layers. Raises LayerKindError.
    """

    def wanted(part: RangeRef) -> bool:
        end = prefix_end(prefix)
        inside = part.max >= prefix and (end is None or part.min < end)
        return inside and (query is None or may_match(query, part.min, part.max))

    facts = read_object_facts(root, store, query)
    join = LayerJoin(root, store, label_layers, split_layer, facts)
    for entries in iter_ranges(root, store, wanted):
        rows = join.join(_below(entries, prefix))
        if query is not None:
            rows = rows.filter(matches(query, rows))
        if len(rows):
            yield rows


def _below(entries: pa.Table, prefix: str) -> pa.Table:
    return entries.filter(pc.starts_with(entries["path"], prefix)) if prefix else entries
