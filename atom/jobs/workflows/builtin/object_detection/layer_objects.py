"""Objects of pictures as arrays, from the column `annotations` of a view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from augmentation import Objects  # type: ignore[import-not-found]


def read_objects(samples: Any) -> tuple[list[int], list[Objects], list[str]]:
    """Return numbers of the annotated samples, their objects, and the names of the classes.

    A box is the smallest that holds the object, whatever its shape. Objects without one, such as
    parts of a film, are left out.
    """
    column = samples.dataset.index.annotations
    if column is None:
        return [], [], []
    rows = column.take(pa.array(samples.rows, pa.int64()))
    numbers = np.flatnonzero(rows.is_valid().to_numpy(zero_copy_only=False))
    lists = rows.field("objects").take(pa.array(numbers, pa.int64()))
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    ends = np.cumsum(lengths)
    objects = lists.flatten()
    encoded = objects.field("label").dictionary_encode()
    names = sorted(encoded.dictionary.to_pylist())
    number = {name: code for code, name in enumerate(names)}
    place = np.array([number[name] for name in encoded.dictionary.to_pylist()], np.int64)
    codes = place[encoded.indices.to_numpy()].astype(np.int64)
    left, top, width, height = (
        objects.field(name).to_numpy() for name in ("x", "y", "width", "height")
    )
    boxes = np.stack([left, top, left + width, top + height], 1)
    ignored = objects.field("ignore").to_numpy(zero_copy_only=False)
    has_box = (width > 0) & (height > 0)
    found = []
    for start, end in zip(ends - lengths, ends, strict=True):
        chosen = np.flatnonzero(has_box[start:end]) + start
        found.append(Objects(boxes[chosen], codes[chosen], ignored[chosen]))
    return numbers.tolist(), found, names
