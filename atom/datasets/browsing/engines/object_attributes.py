"""Files in whose attributes an earlier import wrote objects."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

# Both are written together, in this order of keys; a file of counts alone has the first.
_MARKS = ('"box_unit":', '"object_counts":')


def described_objects(entries: pa.Table) -> pa.ChunkedArray:
    """Return for each entry whether its attributes hold objects that can be moved to the layer."""
    first, second = (pc.match_substring(entries["attributes"], mark) for mark in _MARKS)
    return pc.fill_null(pc.and_(first, second), False)
