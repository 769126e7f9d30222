"""The evaluation that a run writes to `evaluation.json`.

    {"split": "test", "n": 1000, "accuracy": 0.971,
     "labels": ["0", "1"], "matrix": [[496, 4], [25, 475]], "metrics": {"loss": 0.09}}

`matrix[i][j]` counts samples of label i that the model called label j.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_BYTES = 32 << 20
MAX_LABELS = 2000
_ACCURACY_TOLERANCE = 1e-3


class MalformedEvaluation(ValueError):
    """The document is not of the form above; the message says where."""


@dataclass(frozen=True)
class EvaluationResult:
    """One evaluation; accuracy in 0..1, confusion matrix of shape (labels, labels)."""

    split: str
    n: int
    accuracy: float
    labels: list[str]
    matrix: list[list[int]]
    metrics: dict[str, float]


def parse_evaluation(data: bytes) -> EvaluationResult:
    """Return the evaluation. Raises MalformedEvaluation."""
    try:
        document = json.loads(data)
    except ValueError as exc:
        raise MalformedEvaluation("It is not JSON.") from exc
    if not isinstance(document, Mapping):
        raise MalformedEvaluation("It is not a JSON object.")
    labels = [str(label) for label in _list(document, "labels")]
    result = EvaluationResult(
        split=str(document.get("split") or "test")[:60],
        n=_count(document.get("n"), "n"),
        accuracy=_fraction(document.get("accuracy")),
        labels=labels,
        matrix=_matrix(_list(document, "matrix"), len(labels)),
        metrics=_metrics(document.get("metrics")),
    )
    _check_sums(result)
    return result


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    if not isinstance(value, list) or not 0 < len(value) <= MAX_LABELS:
        raise MalformedEvaluation(f"{name} is not a list of 1 to {MAX_LABELS} values.")
    return value


def _count(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MalformedEvaluation(f"{name} is not a whole number from 0.")
    return value


def _fraction(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise MalformedEvaluation("accuracy is not a number from 0 to 1.")
    return float(value)


def _matrix(rows: list[Any], size: int) -> list[list[int]]:
    square = len(rows) == size and all(isinstance(r, list) and len(r) == size for r in rows)
    if not square:
        raise MalformedEvaluation("matrix does not have a row and a column per label.")
    return [[_count(cell, "a cell of matrix") for cell in row] for row in rows]


def _metrics(value: Any) -> dict[str, float]:
    given = value if isinstance(value, Mapping) else {}
    return {
        str(key): float(number)
        for key, number in given.items()
        if isinstance(number, int | float)
        and not isinstance(number, bool)
        and math.isfinite(number)
    }


def _check_sums(result: EvaluationResult) -> None:
    total = sum(sum(row) for row in result.matrix)
    if total != result.n:
        raise MalformedEvaluation(f"matrix counts {total} samples, n says {result.n}.")
    right = sum(result.matrix[i][i] for i in range(len(result.matrix)))
    if total and abs(right / total - result.accuracy) > _ACCURACY_TOLERANCE:
        raise MalformedEvaluation("accuracy is not what matrix says.")
