"""Whether a built-in workflow can evaluate a model, by its files' names.

`evaluate-classifier` and `evaluate-detector` look into them too: they also refuse a description of
another format.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

# As the workflow `image-classification` writes them, beside each other.
DESCRIPTION, WEIGHTS = "model.json", "weights.pt"
# As `object-detection` writes them.
DETECTOR, DETECTOR_WEIGHTS = "detector.json", "detector.pt"


class NotEvaluable(StrEnum):
    """What is missing."""

    NO_DESCRIPTION = "no_description"
    NO_WEIGHTS = "no_weights"


def why_not_evaluable(paths: Iterable[str]) -> NotEvaluable | None:
    """Return what a model of these files lacks; None if it can be evaluated."""
    present = set(paths)
    for description, weights in ((DESCRIPTION, WEIGHTS), (DETECTOR, DETECTOR_WEIGHTS)):
        described = sorted(path for path in present if path.split("/")[-1] == description)
        if described:
            folder = described[0].removesuffix(description)
            return None if folder + weights in present else NotEvaluable.NO_WEIGHTS
    return NotEvaluable.NO_DESCRIPTION
