"""Which entries to show, and which rows of a table those are."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.query import Query, matches, may_match
from atom_sdk.manifests.roots import RangeRef


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

    def rows_of(self, table: pa.Table) -> pa.Table:
        """Return the rows that pass; the table has `label` and `split`."""
        if self.label is not None:
            table = table.filter(pc.equal(table["label"], self.label))
        if self.split is not None:
            table = table.filter(pc.equal(table["split"], self.split))
        if self.labelled is not None:
            has_label = table["label"].is_valid()
            table = table.filter(has_label if self.labelled else pc.invert(has_label))
        return table if self.where is None else table.filter(matches(self.where, table))
