"""The predictions that a run writes to `predictions.json`: one per file, as columns.

    {"format": "atom-predictions/1", "split": "test", "labels": ["5", "8"], "total": 2,
     "path": ["5/1.png", "8/2.png"], "true": [0, 1], "predicted": [0, 0],
     "confidence": [0.98, 0.61]}

`total` may be more than the rows: of very many, right ones are left out. A detector adds columns
that say where: `kind`, `box`, `truth_box` and `size`. Boxes are [x, y, width, height] and sizes
[width, height], in pixels of the upright picture. `truth_box` and `size` may be null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from atom.core.foreign_json import read_json
from atom_sdk.runner.evidence import storable

FORMAT: Final = "atom-predictions/1"
MAX_BYTES: Final = 64 << 20
MAX_LABELS: Final = 2000
_MAX_KIND: Final = 40
_MAX_PIXEL: Final = 1e9
# The `box` of such a row is that of the object: nothing was detected there.
_MISSED: Final = "missed"


class MalformedPredictions(ValueError):
    """The document is not of the form above; the message says where."""


@dataclass(frozen=True)
class Places:
    """Where a detector's rows are, in pixels; NaN where a row does not have it.

    `sizes` are (rows, 2): width and height of the upright picture. `detected` and `true` are boxes,
    (rows, 4): x, y, width and height of the detection and of the object.
    """

    kinds: list[str]
    sizes: NDArray[np.float64]
    detected: NDArray[np.float64]
    true: NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """Columns of one length, in the file's order; `true` and `predicted` count in `labels`."""

    split: str
    labels: list[str]
    total: int
    paths: list[str]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float64]
    # None unless a detector wrote it, with the sizes of its pictures.
    places: Places | None = None

    @property
    def size_bytes(self) -> int:
        """Return about how much memory this takes."""
        row = 24 if self.places is None else 24 + 10 * 8 + 8
        return row * len(self.paths) + sum(60 + len(path) for path in self.paths)


@dataclass(frozen=True)
class PredictionFilter:
    """Which predictions; None does not filter. Confidences are inclusive, 0..1."""

    true: str | None = None
    predicted: str | None = None
    wrong: bool | None = None
    least: float = 0.0
    most: float = 1.0
    # The least sure first; otherwise the surest.
    ascending: bool = False


def parse_predictions(data: bytes) -> Predictions:
    """Return the predictions of a file. Raises MalformedPredictions."""
    try:
        document = read_json(data)
    except ValueError as error:
        raise MalformedPredictions("It is not JSON.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MalformedPredictions(f"It is not of the format {FORMAT}.")
    labels = _texts(document, "labels")
    paths = _texts(document, "path")
    if len(labels) > MAX_LABELS:
        raise MalformedPredictions(f"There are more than {MAX_LABELS} labels.")
    total = document.get("total", len(paths))
    return Predictions(
        split=str(storable(str(document.get("split") or "")))[:60],
        labels=labels,
        total=total if type(total) is int and total >= len(paths) else len(paths),
        paths=paths,
        true=_codes(document, "true", len(paths), len(labels)),
        predicted=_codes(document, "predicted", len(paths), len(labels)),
        confidence=_shares(document, len(paths)),
        places=_places(document, len(paths)) if "size" in document else None,
    )


def chosen(predictions: Predictions, wanted: PredictionFilter) -> NDArray[np.int64]:
    """Return the numbers of the rows that pass, ordered by confidence, then as in the file."""
    mask = np.ones(len(predictions.paths), bool)
    for name, codes in (
        (wanted.true, predictions.true),
        (wanted.predicted, predictions.predicted),
    ):
        if name is not None:
            mask &= codes == _code(predictions.labels, name)
    if wanted.wrong is not None:
        mask &= (predictions.true != predictions.predicted) == wanted.wrong
    confidence = predictions.confidence
    mask &= (confidence >= wanted.least) & (confidence <= wanted.most)
    rows = np.flatnonzero(mask).astype(np.int64)
    keys = confidence[rows] if wanted.ascending else -confidence[rows]
    ordered: NDArray[np.int64] = rows[np.argsort(keys, kind="stable")]
    return ordered


def _code(labels: Sequence[str], name: str) -> int:
    return labels.index(name) if name in labels else -1


def _texts(document: dict[str, Any], name: str) -> list[str]:
    values = document.get(name)
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise MalformedPredictions(f"{name} is not a list of texts.")
    return [str(storable(one)) for one in values]


def _codes(document: dict[str, Any], name: str, rows: int, labels: int) -> NDArray[np.int64]:
    values = document.get(name)
    if not isinstance(values, list) or len(values) != rows:
        raise MalformedPredictions(f"{name} does not have a value for each path.")
    if not all(type(one) is int and 0 <= one < labels for one in values):
        raise MalformedPredictions(f"{name} does not count in labels.")
    return np.array(values, np.int64)


def _places(document: dict[str, Any], rows: int) -> Places:
    kinds = [kind[:_MAX_KIND] for kind in _texts(document, "kind")]
    if len(kinds) != rows:
        raise MalformedPredictions("kind does not have a value for each path.")
    detected = _pixels(document, "box", rows, 4)
    detected[[kind == _MISSED for kind in kinds]] = np.nan
    # Kinds are few: rows share their texts.
    shared = {kind: kind for kind in kinds}
    return Places(
        kinds=[shared[kind] for kind in kinds],
        sizes=_pixels(document, "size", rows, 2),
        detected=detected,
        true=_pixels(document, "truth_box", rows, 4),
    )


def _pixels(document: dict[str, Any], name: str, rows: int, sides: int) -> NDArray[np.float64]:
    """Return lists of so many numbers as (rows, sides); null is NaN."""
    values = document.get(name)
    if not isinstance(values, list) or len(values) != rows:
        raise MalformedPredictions(f"{name} does not have a value for each path.")
    if not all(value is None or _is_pixels(value, sides) for value in values):
        raise MalformedPredictions(f"{name} is neither {sides} numbers of pixels nor null.")
    nothing = [np.nan] * sides
    return np.array([value or nothing for value in values], np.float64).reshape(rows, sides)


def _is_pixels(value: Any, sides: int) -> bool:
    if not isinstance(value, list) or len(value) != sides:
        return False
    # The last two are a width and a height.
    return all(type(one) in (int, float) and abs(one) < _MAX_PIXEL for one in value) and (
        min(value[-2:]) >= 0
    )


def _shares(document: dict[str, Any], rows: int) -> NDArray[np.float64]:
    values = document.get("confidence")
    if not isinstance(values, list) or len(values) != rows:
        raise MalformedPredictions("confidence does not have a value for each path.")
    if not all(type(one) in (int, float) and 0 <= one <= 1 for one in values):
        raise MalformedPredictions("confidence is not from 0 to 1.")
    return np.array(values, np.float64)
