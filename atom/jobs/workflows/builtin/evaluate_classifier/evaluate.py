"""Measures a registered classifier on one split of a dataset."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from artifacts import load_classifier  # type: ignore[import-not-found]
from data import NoLabelsError, NothingReadableError  # type: ignore[import-not-found]
from evaluation import describe, predict  # type: ignore[import-not-found]
from loading import ImageTable  # type: ignore[import-not-found]
from numpy.typing import NDArray
from predictions import write_predictions  # type: ignore[import-not-found]

from atom_sdk import run
from atom_sdk.amounts import counted


def main() -> None:
    """Read the model and the split, write `evaluation.json`. Raises RunFailure."""
    split = str(run.params.get("split") or "test")
    classifier = load_classifier(run.input_dir())
    samples = run.dataset("dataset", split=split)
    numbers, targets, labels = targets_of(samples, classifier.labels)
    if not len(numbers):
        raise NoLabelsError(samples)
    table = ImageTable(samples, classifier.form)
    predictions = predict(classifier, table, numbers, targets)
    if not len(predictions.numbers):
        raise NothingReadableError(len(numbers))
    record = describe(predictions.matrix(len(labels)), labels, split)
    write_predictions(predictions, table, labels, split)
    record["skipped"] = sorted(table.unreadable.values())
    (run.output_dir() / "evaluation.json").write_text(json.dumps(record, indent=2))
    run.log({"accuracy": record["accuracy"], "loss": predictions.loss}, step=0)
    run.progress(1.0, f"accuracy {record['accuracy']:.2%}")
    say(record)


def targets_of(
    samples: Any, known: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """Return (numbers, targets, labels) of the labelled images; labels new to it come last."""
    labels = known + [name for name in samples.classes if name not in set(known)]
    codes = np.asarray(samples.label_codes, np.int64)
    numbers = np.flatnonzero(codes >= 0).astype(np.int64)
    places = np.array([labels.index(name) for name in samples.classes], np.int64)
    targets = places[codes[numbers]] if len(numbers) else np.empty(0, np.int64)
    # A label that no image of this split has and the model does not know says nothing.
    used = len(known) if not len(targets) else max(len(known), int(targets.max()) + 1)
    return numbers, targets, labels[:used]


def say(record: dict[str, Any]) -> None:
    """Print the result for people."""
    images = counted(record["n"], "image")
    print(f"Accuracy {record['accuracy']:.2%} on {images} of '{record['split']}'.")
    for one in record["per_class"]:
        print(f"  {one['label']}: recall {one['recall']:.2%}, precision {one['precision']:.2%}")
    if record["skipped"]:
        print(f"{counted(len(record['skipped']), 'image')} could not be read and left out.")


if __name__ == "__main__":
    sys.exit(run.main(main))
