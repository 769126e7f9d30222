"""Measures a registered detector on one split of a dataset."""

from __future__ import annotations

import json
import sys
from typing import Any

from artifacts import load_detector  # type: ignore[import-not-found]
from data import (  # type: ignore[import-not-found]
    NoObjectsError,
    NothingReadableError,
    annotated,
    with_classes,
)
from detecting import detect  # type: ignore[import-not-found]
from drawing import write_mistakes  # type: ignore[import-not-found]
from evaluation import evaluate  # type: ignore[import-not-found]
from loading import PictureTable  # type: ignore[import-not-found]
from predictions import write_predictions  # type: ignore[import-not-found]

from atom_sdk import run
from atom_sdk.amounts import counted


def main() -> None:
    """Read the model and the split, write `evaluation.json`. Raises RunFailure."""
    split = str(run.params.get("split") or "test")
    detector = load_detector(run.input_dir())
    samples = run.dataset("dataset", split=split)
    labels = [*detector.labels, *new_classes(samples, detector.labels)]
    part = with_classes(samples, labels)
    if not len(part):
        raise NoObjectsError(samples, 0)
    table = PictureTable(part, detector.size)
    results = list(detect(detector.network, table))
    if not results:
        raise NothingReadableError(len(part))
    # The threshold is the model's own: one that is chosen here would be too good.
    evaluation = evaluate(results, labels, split, detector.threshold)
    record = evaluation.record()
    record["skipped"] = sorted(table.unreadable.values())
    output = run.output_dir()
    (output / "evaluation.json").write_text(json.dumps(record, indent=2))
    (output / "curves.json").write_text(json.dumps(evaluation.curves()))
    write_predictions(evaluation, part)
    write_mistakes(evaluation, part, output)
    run.log(record["metrics"], step=0)
    run.progress(1.0, f"mAP {record['metrics'].get('map', 0.0):.3f}")
    say(record)


def new_classes(samples: Any, known: list[str]) -> list[str]:
    """Return the classes of the split's objects that the model does not know; none without any."""
    try:
        _, classes = annotated(samples)
    except NoObjectsError:
        return []
    return [name for name in classes if name not in set(known)]


def say(record: dict[str, Any]) -> None:
    """Print the result for people."""
    metrics, pictures = record["metrics"], counted(record["pictures"], "picture")
    if "map" in metrics:
        print(f"mAP {metrics['map']:.3f}, at an overlap of 0.5 {metrics['map_50']:.3f}, ", end="")
    print(f"on {pictures} of '{record['split']}'.")
    for one in record["per_class"]:
        if one["n"]:
            print(
                f"  {one['label']}: AP {one['ap']:.3f}, recall {one['recall']:.2%}, precision "
                f"{one['precision']:.2%} of {counted(one['n'], 'object')}"
            )
    kinds = ", ".join(f"{name} {number}" for name, number in record["kinds"].items() if number)
    print(f"Scores of {record['threshold']:.2f} and more: {kinds or 'nothing'}.")
    if record["skipped"]:
        print(f"{counted(len(record['skipped']), 'picture')} could not be read and left out.")


if __name__ == "__main__":
    sys.exit(run.main(main))
