"""Which entries to show, and which rows of a table those are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import LINK_COLUMN
from atom_sdk.manifests.query import Query, asks_about, matches, may_match
from atom_sdk.manifests.roots.roots import RangeRef


@dataclass(frozen=True)
class EntryFilter:
    """Which entries to show; None does not filter. `labelled` is whether they have a label."""

    label: str | None = None
    split: str | None = None
    labelled: bool | None = None
    where: Query | None = None

    def may_match(self, part: RangeRef) -> bool:
        """Return False only if the paths of a range rule every match out."""
        return self.where is None or may_match(self.where, part.min, part.max)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The identity of a filter.

        A query counts by its text, since `1` equals `TRUE` as trees.
        """
        where = "" if self.where is None else str(self.where.where)
        return self.label, self.split, self.labelled, where

    @property
    def passes_all(self) -> bool:
        """Whether nothing is filtered."""
        return self == EntryFilter()

    def needs(self, column: str) -> bool:
        """Whether it has to know the `label` or the `split` of an entry."""
        given = {"label": (self.label, self.labelled), "split": (self.split,)}[column]
        asked = self.where is not None and asks_about(self.where, column)
        return asked or any(value is not None for value in given)

    def numbers_of(self, table: pa.Table) -> pa.Array:
        """Return the numbers of the rows that pass, ascending; see `needs` for its columns."""
        masks = []
        if self.label is not None:
            masks.append(pc.equal(table["label"], self.label))
        if self.split is not None:
            masks.append(pc.equal(table["split"], self.split))
        if self.labelled is not None:
            has_label = table["label"].is_valid()
            masks.append(has_label if self.labelled else pc.invert(has_label))
            # A link has no label of its own, and lacks none.
            masks.append(table[LINK_COLUMN].is_null())
        if self.where is not None:
            masks.append(matches(self.where, table))
        if not masks:
            return pa.array(range(len(table)), pa.uint64())
        return pc.indices_nonzero(reduce(pc.and_kleene, masks))
