"""Whether the built-in workflow `evaluate-classifier` can read a model, by its files' names.

The workflow itself looks into them too: it also refuses a description of another format.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

# As the workflow `image-classification` writes them, beside each other.
DESCRIPTION, WEIGHTS = "model.json", "weights.pt"


class NotEvaluable(StrEnum):
    """What is missing."""

    NO_DESCRIPTION = "no_description"
    NO_WEIGHTS = "no_weights"


def why_not_evaluable(paths: Iterable[str]) -> NotEvaluable | None:
    """Return what a model of these files lacks; None if it can be evaluated."""
    present = set(paths)
    descriptions = sorted(path for path in present if path.split("/")[-1] == DESCRIPTION)
    if not descriptions:
        return NotEvaluable.NO_DESCRIPTION
    folder = descriptions[0].removesuffix(DESCRIPTION)
    return None if folder + WEIGHTS in present else NotEvaluable.NO_WEIGHTS
