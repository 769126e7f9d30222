"""One row for each object and each detection, as a file of the run: what pages of mistakes read.

The server reads exactly this: see atom/jobs/predictions/engines/predictions.py. Here a picture has
several rows; `kind`, `box`, `truth_box` and `size` say more of each. Boxes are
[x, y, width, height] and sizes [width, height], in pixels of the upright picture.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from boxes import Floats  # type: ignore[import-not-found]
from data import Part  # type: ignore[import-not-found]
from evaluation import Evaluation, Judged, codes_of  # type: ignore[import-not-found]
from mistakes import Finding, Kind  # type: ignore[import-not-found]

from atom_sdk import run

FILE = "predictions.json"
FORMAT = "atom-predictions/1"
# Rows of long paths stay below the size that the server reads.
MAX_KEPT = 200_000


def write_predictions(evaluation: Evaluation, part: Part) -> None:
    """Write the predictions beside the run's other files."""
    document = describe_predictions(evaluation, part)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    (run.output_dir() / FILE).write_text(text, "utf-8")


def describe_predictions(evaluation: Evaluation, part: Part) -> dict[str, Any]:
    """Return columns of equal length, picture by picture; of too many, right ones are left out."""
    rows = [(one, found) for one in evaluation.pictures for found in one.findings]
    total = len(rows)
    if total > MAX_KEPT:
        # Mistakes first; sorting is stable, so each group keeps its order.
        rows = sorted(rows, key=lambda row: row[1].kind is Kind.RIGHT)[:MAX_KEPT]
    nothing = len(evaluation.labels)
    codes = [codes_of(one.result, found, nothing) for one, found in rows]
    return {
        "format": FORMAT,
        "split": evaluation.split,
        "labels": [*evaluation.labels, evaluation.nothing],
        "total": total,
        "path": [part.path(one.place) for one, _ in rows],
        "true": [true for true, _ in codes],
        "predicted": [predicted for _, predicted in codes],
        "confidence": [_confidence(one, found) for one, found in rows],
        "kind": [found.kind.value for _, found in rows],
        "box": [_box(one, found) for one, found in rows],
        "truth_box": [_truth_box(one, found) for one, found in rows],
        "size": [one.result.size for one, _ in rows],
    }


def _confidence(picture: Judged, finding: Finding) -> float:
    if finding.detection < 0:
        return 0.0
    return round(float(np.clip(picture.result.scores[finding.detection], 0, 1)), 4)


def _box(picture: Judged, finding: Finding) -> list[float]:
    """Return the detection's box; that of the object where nothing was detected."""
    result = picture.result
    # A picture without objects has no box of its own to fall back to.
    is_detected = finding.detection >= 0
    box = result.boxes[finding.detection] if is_detected else result.true_boxes[finding.true]
    return _sides(box)


def _truth_box(picture: Judged, finding: Finding) -> list[float] | None:
    """Return the box of the object that the finding is about; None where nothing is there."""
    return _sides(picture.result.true_boxes[finding.true]) if finding.true >= 0 else None


def _sides(box: Floats) -> list[float]:
    left, top, right, bottom = (float(one) for one in box)
    return [round(one, 2) for one in (left, top, right - left, bottom - top)]
