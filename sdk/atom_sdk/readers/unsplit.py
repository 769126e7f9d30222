"""Files in no split of a version that has splits: they are read as "train", and said to be."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from atom_sdk.amounts import counted
from atom_sdk.readers.view import ViewIndex

_NAMED = 3


class UnsplitFilesWarning(UserWarning):
    """Files of a version with splits are in none of them, and are trained on."""


def unsplit_rows(index: ViewIndex) -> NDArray[np.int64]:
    """Return the rows without a split, shape (rows,); none where the version has no splits."""
    if not index.has_splits:
        return np.empty(0, np.int64)
    return np.flatnonzero(index.split_codes < 0).astype(np.int64)


def warn_of_unsplit(index: ViewIndex, name: str) -> None:
    """Warn, once for each dataset, if files that are read as "train" are in no split."""
    rows = unsplit_rows(index)
    if not len(rows):
        return
    paths = ", ".join(repr(index.path_of(int(row))) for row in rows[:_NAMED])
    more = ", …" if len(rows) > _NAMED else ""
    verb = "is" if len(rows) == 1 else "are"
    warnings.warn(
        f"{name}: {counted(len(rows), 'file')} in no split {verb} read as 'train' ({paths}{more}). "
        "If they belong to another split, the training learns from them. See all with the query "
        '"split is null".',
        UnsplitFilesWarning,
        stacklevel=2,
    )
