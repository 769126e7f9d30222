"""The evaluation that a run writes to `evaluation.json`.

    {"split": "test", "n": 1000, "accuracy": 0.971,
     "labels": ["0", "1"], "matrix": [[496, 4], [25, 475]], "metrics": {"loss": 0.09}}

`matrix[i][j]` counts samples of label i that the model called label j.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atom.core.foreign_json import read_json
from atom_sdk.runner.evidence import storable
from atom_sdk.sentences import Sentence

MAX_BYTES = 32 << 20
MAX_LABELS = 2000
# The largest that its column holds.
_MAX_COUNT = 2**31 - 1
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
        document = read_json(data)
    except ValueError as exc:
        raise MalformedEvaluation(Sentence("models.not_json", "It is not JSON.")) from exc
    if not isinstance(document, Mapping):
        raise MalformedEvaluation(Sentence("models.not_a_json_object", "It is not a JSON object."))
    labels = [_label(label) for label in _list(document, "labels")]
    result = EvaluationResult(
        split=_label(document.get("split") or "test")[:60],
        n=_count(document.get("n"), "n"),
        accuracy=_fraction(document.get("accuracy")),
        labels=labels,
        matrix=_matrix(_list(document, "matrix"), len(labels)),
        metrics=finite_metrics(document.get("metrics")),
    )
    _check_sums(result)
    return result


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    if not isinstance(value, list) or not 0 < len(value) <= MAX_LABELS:
        raise MalformedEvaluation(
            Sentence(
                "models.not_a_list",
                "{name} is not a list of 1 to {max_labels} values.",
                name=name,
                max_labels=MAX_LABELS,
            )
        )
    return value


def _label(value: Any) -> str:
    if isinstance(value, list | dict):
        raise MalformedEvaluation(
            Sentence("models.label_invalid", "split or a label is neither a text nor a number.")
        )
    text: str = storable(str(value))
    return text


def _count(value: Any, name: str) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT
    if not is_count:
        raise MalformedEvaluation(
            Sentence(
                "models.not_a_count",
                "{name} is not a whole number from 0 to {max_count}.",
                name=name,
                max_count=_MAX_COUNT,
            )
        )
    count: int = value
    return count


def _fraction(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise MalformedEvaluation(
            Sentence("models.accuracy_out_of_range", "accuracy is not a number from 0 to 1.")
        )
    return float(value)


def _matrix(rows: list[Any], size: int) -> list[list[int]]:
    square = len(rows) == size and all(isinstance(r, list) and len(r) == size for r in rows)
    if not square:
        raise MalformedEvaluation(
            Sentence(
                "models.matrix_not_square", "matrix does not have a row and a column per label."
            )
        )
    return [[_count(cell, "a cell of matrix") for cell in row] for row in rows]


def finite_metrics(value: Any) -> dict[str, float]:
    """Return what of a run's metrics are numbers; words, NaN and what no float holds are left."""
    given = value if isinstance(value, Mapping) else {}
    numbers = ((storable(str(key)), _as_float(one)) for key, one in given.items())
    return {key: number for key, number in numbers if number is not None}


def _as_float(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _check_sums(result: EvaluationResult) -> None:
    total = sum(sum(row) for row in result.matrix)
    if total != result.n:
        raise MalformedEvaluation(
            Sentence(
                "models.matrix_contradicts_n",
                "matrix counts {total} samples, n says {n}.",
                total=total,
                n=result.n,
            )
        )
    right = sum(result.matrix[i][i] for i in range(len(result.matrix)))
    if total and abs(right / total - result.accuracy) > _ACCURACY_TOLERANCE:
        raise MalformedEvaluation(
            Sentence("models.accuracy_contradicts_matrix", "accuracy contradicts matrix.")
        )
