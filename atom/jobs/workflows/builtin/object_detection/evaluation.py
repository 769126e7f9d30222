"""Measures a detector: average precision as COCO's, precision and recall, kinds of mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from average_precision import (  # type: ignore[import-not-found]
    RECALLS,
    PictureResult,
    PrecisionTable,
    measure_precision,
)
from boxes import Floats  # type: ignore[import-not-found]
from mistakes import Finding, Kind, findings_of  # type: ignore[import-not-found]
from numpy.typing import NDArray

# Detections below this are not looked at when a threshold is chosen.
LEAST_THRESHOLD = 0.05
NOTHING = "nothing"
_OVERLAP = 0.5


@dataclass(frozen=True)
class Judged:
    """A picture by its place in the part, with its findings from the threshold on."""

    place: int
    result: PictureResult
    findings: list[Finding]

    @property
    def mistakes(self) -> list[Finding]:
        """Return the findings that are not right."""
        return [one for one in self.findings if one.kind is not Kind.RIGHT]


@dataclass(frozen=True)
class Evaluation:
    """All that is known of a detector on the pictures of one split."""

    labels: list[str]
    split: str
    table: PrecisionTable
    threshold: float
    pictures: list[Judged]

    def record(self) -> dict[str, Any]:
        """Return what pages show, in the form that the model registry keeps.

        The matrix has the classes and, last, nothing: row is the object, column the detection.
        """
        matrix = self._matrix()
        kinds = Counter(one.kind for picture in self.pictures for one in picture.findings)
        return {
            "split": self.split,
            "n": int(matrix.sum()),
            "pictures": len(self.pictures),
            "accuracy": float(np.trace(matrix) / max(1, matrix.sum())),
            "labels": [*self.labels, self.nothing],
            "matrix": matrix.tolist(),
            "metrics": self.metrics(),
            "threshold": self.threshold,
            "kinds": {kind.value: kinds[kind] for kind in Kind},
            "per_class": [self._class_record(matrix, code) for code in range(len(self.labels))],
        }

    @property
    def nothing(self) -> str:
        """Return the name for no object and no detection; no class has it."""
        name = NOTHING
        while name in self.labels:
            name += "_"
        return name

    def metrics(self) -> dict[str, float]:
        """Return COCO's numbers without those of which there is no object."""
        return {name: value for name, value in self.table.summary().items() if value >= 0}

    def curves(self) -> dict[str, Any]:
        """Return the precision at each recall for an overlap of 0.5, class by class."""
        precision = self.table.precision[0, :, :, 0, -1]
        scores = self.table.scores[0, :, :, 0, -1]
        return {
            "overlap": _OVERLAP,
            "recall": RECALLS.round(2).tolist(),
            "classes": [
                {"label": label, "precision": precision[:, code].tolist(),
                 "score": scores[:, code].tolist()}
                for code, label in enumerate(self.labels)
                if precision[0, code] > -1
            ],
        }  # fmt: skip

    def _matrix(self) -> NDArray[np.int64]:
        nothing = len(self.labels)
        matrix = np.zeros((nothing + 1, nothing + 1), np.int64)
        for picture in self.pictures:
            for one in picture.findings:
                true, detected = codes_of(picture.result, one, nothing)
                matrix[true, detected] += 1
        return matrix

    def _class_record(self, matrix: NDArray[np.int64], code: int) -> dict[str, Any]:
        right = int(matrix[code, code])
        objects, detections = self._objects(code), int(matrix[:, code].sum())
        precision, recall = right / max(1, detections), right / max(1, objects)
        total = precision + recall
        average, at_half = (
            self.table.mean_precision(overlap, code=code) for overlap in (None, _OVERLAP)
        )
        return {
            "label": self.labels[code],
            "n": objects,
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / total if total else 0.0,
            "ap": average if objects else None,
            "ap_50": at_half if objects else None,
        }

    def _objects(self, code: int) -> int:
        counts = (one.result.true_codes[~one.result.true_ignored] for one in self.pictures)
        return sum(int((codes == code).sum()) for codes in counts)


def codes_of(result: PictureResult, finding: Finding, nothing: int) -> tuple[int, int]:
    """Return the classes of a finding's object and detection.

    A detection that does not match its object says that something is where nothing is.
    """
    if finding.kind is Kind.MISSED:
        return int(result.true_codes[finding.true]), nothing
    detected = int(result.codes[finding.detection])
    if finding.kind in (Kind.RIGHT, Kind.WRONG_CLASS):
        return int(result.true_codes[finding.true]), detected
    return nothing, detected


def evaluate(
    results: Sequence[tuple[int, PictureResult]],
    labels: list[str],
    split: str,
    threshold: float | None = None,
) -> Evaluation:
    """Return the evaluation at a threshold of scores, at the best one if it is left out."""
    table = measure_precision([result for _, result in results], len(labels))
    if threshold is None:
        threshold = best_threshold([result for _, result in results])
    pictures = [Judged(place, one, findings_of(one, threshold)) for place, one in results]
    return Evaluation(labels, split, table, threshold, pictures)


def best_threshold(results: Sequence[PictureResult]) -> float:
    """Return the score from which on precision and recall together are the best (F1)."""
    scores: list[float] = []
    is_right: list[bool] = []
    objects = sum(int((~one.true_ignored).sum()) for one in results)
    for result in results:
        for one in findings_of(result, LEAST_THRESHOLD):
            if one.detection >= 0:
                scores.append(float(result.scores[one.detection]))
                is_right.append(one.kind is Kind.RIGHT)
    if not any(is_right):
        return 0.5
    order = np.argsort(-np.array(scores), kind="stable")
    right: Floats = np.cumsum(np.array(is_right)[order], dtype=np.float64)
    f1 = 2 * right / (np.arange(1, len(right) + 1) + objects)
    # Rounded down: the best detection itself stays in.
    return float(np.floor(np.array(scores)[order][int(np.argmax(f1))] * 1e4) / 1e4)
