"""One prediction per image, as a file of the run: what pages of mistakes read.

The server reads exactly this: see atom/jobs/predictions/engines/predictions.py.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from evaluation import Predictions  # type: ignore[import-not-found]
from loading import ImageTable  # type: ignore[import-not-found]

from atom_sdk import run

FILE = "predictions.json"
FORMAT = "atom-predictions/1"
MAX_KEPT = 500_000


def write_predictions(
    predictions: Predictions, table: ImageTable, labels: list[str], split: str
) -> None:
    """Write the predictions beside the run's other files."""
    document = describe_predictions(predictions, table, labels, split)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    (run.output_dir() / FILE).write_text(text, "utf-8")


def describe_predictions(
    predictions: Predictions, table: ImageTable, labels: list[str], split: str
) -> dict[str, Any]:
    """Return columns of equal length, in path order; of too many, right ones are left out."""
    chosen = np.arange(len(predictions.numbers))
    if len(chosen) > MAX_KEPT:
        is_right = predictions.targets == predictions.predicted
        # Mistakes first, then the least sure.
        chosen = np.sort(np.lexsort((predictions.confidence, is_right))[:MAX_KEPT])
    return {
        "format": FORMAT,
        "split": split,
        "labels": labels,
        "total": len(predictions.numbers),
        "path": [table.path(int(number)) for number in predictions.numbers[chosen]],
        "true": predictions.targets[chosen].tolist(),
        "predicted": predictions.predicted[chosen].tolist(),
        "confidence": [round(float(one), 4) for one in predictions.confidence[chosen]],
    }
