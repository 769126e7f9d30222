"""Trains a small detector on the objects of a dataset's pictures."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import torch
from artifacts import ONNX  # type: ignore[import-not-found]
from data import (  # type: ignore[import-not-found]
    Part,
    annotated,
    carve_validation,
    with_classes,
)
from detecting import detect  # type: ignore[import-not-found]
from drawing import write_mistakes  # type: ignore[import-not-found]
from evaluation import Evaluation, evaluate  # type: ignore[import-not-found]
from export import CHECKED_PICTURES, export  # type: ignore[import-not-found]
from predictions import write_predictions  # type: ignore[import-not-found]
from targets import STRIDES  # type: ignore[import-not-found]
from trainer import Settings, Trainer  # type: ignore[import-not-found]

from atom_sdk import run
from atom_sdk.amounts import counted


def main() -> None:
    """Train from the start or the last checkpoint, measure, hand over the model.

    Raises RunFailure for data that nothing can be learned from, and for a GPU that is too small.
    """
    settings = read_settings()
    try:
        train_model(settings)
    except torch.cuda.OutOfMemoryError as error:
        raise run.RunFailure(
            "gpu_out_of_memory",
            "The GPU ran out of memory.",
            batch_size=settings.batch_size,
            image_size=settings.image_size,
        ) from error


def train_model(settings: Settings) -> None:
    """Train, measure and hand over. Raises RunFailure."""
    torch.manual_seed(settings.seed)
    everything, classes = annotated(run.dataset("dataset", split="train"))
    training, validation = split_off_validation(everything, classes, settings)
    trainer = Trainer(settings, training, validation, classes)
    say_data(trainer, len(everything.samples) - len(everything))
    trainer.train()
    evaluation = measure(trainer)
    unreadable = len(trainer.table.unreadable) + len(trainer.validation.unreadable)
    print(f"{counted(unreadable, 'picture')} could not be read.", flush=True)
    hand_over(trainer, evaluation)


def read_settings() -> Settings:
    """Return the parameters, with the workflow's defaults outside a run."""
    asked = run.params
    size, coarsest = int(asked.get("image_size", 192)), STRIDES[-1]
    return Settings(
        epochs=asked.get("epochs", 30),
        batch_size=asked.get("batch_size", 8),
        learning_rate=asked.get("learning_rate", 0.004),
        # The grids halve the square five times.
        image_size=max(coarsest, round(size / coarsest) * coarsest),
        hidden=asked.get("hidden", "small"),
        mirror=asked.get("mirror", True),
        seed=asked.get("seed", 7),
    )


def split_off_validation(
    everything: Part, classes: list[str], settings: Settings
) -> tuple[Part, Part]:
    """Return (training, validation): the dataset's own split if it has one, else a tenth."""
    own = with_classes(run.dataset("dataset", split="val"), classes)
    if len(own):
        return everything, own
    training, validation = carve_validation(everything, settings.seed)
    return training, validation


def say_data(trainer: Trainer, not_looked_at: int) -> None:
    """Print what is trained on."""
    training, validation = trainer.training, trainer.validation.part
    objects = sum(int((~one.ignored).sum()) for one in training.objects)
    print(
        f"{counted(len(training), 'picture')} with {counted(objects, 'object')} to train on, "
        f"{len(validation)} to validate on, "
        f"{counted(len(trainer.detector.labels), 'class', 'classes')}, on {trainer.device}.",
        flush=True,
    )
    if not_looked_at:
        print(f"{counted(not_looked_at, 'picture')} without annotations left out.", flush=True)


def measure(trainer: Trainer) -> Evaluation | None:
    """Measure the trained network on the validation part and write what it gets wrong."""
    labels = trainer.detector.labels
    results = list(detect(trainer.detector.network, trainer.validation))
    if not results:
        return None
    evaluation = evaluate(results, labels, "val")
    trainer.detector.threshold = evaluation.threshold
    part, output = trainer.validation.part, run.output_dir()
    # Not evaluation.json: the registry records that as a measure on data never seen.
    (output / "validation.json").write_text(json.dumps(evaluation.record(), indent=2))
    (output / "curves.json").write_text(json.dumps(evaluation.curves()))
    write_predictions(evaluation, part)
    mistaken = write_mistakes(evaluation, part, output)
    print(
        f"{mistaken} of {counted(len(results), 'validation picture')} with mistakes, at scores "
        f"from {evaluation.threshold:.2f} on.",
        flush=True,
    )
    return evaluation


def hand_over(trainer: Trainer, evaluation: Evaluation | None) -> None:
    """Save weights and ONNX. Raises RunFailure where both differ."""
    detector = trainer.detector
    shown = next(iter(trainer.table.pictures(CHECKED_PICTURES)), None)
    none = np.empty((0, 3, detector.size, detector.size), np.uint8)
    pictures = np.stack([one.pixels for one in shown.pictures]) if shown else none
    exported = export(detector, pictures)
    print(
        f"ONNX differs from PyTorch by at most {exported.score:.1e} in scores and "
        f"{exported.pixels:.1e} pixels in boxes.",
        flush=True,
    )
    metrics: dict[str, float] = dict(trainer.last_metrics)
    if evaluation is not None:
        metrics |= {f"val_{name}": value for name, value in evaluation.metrics().items()}
    signature: dict[str, Any] = {
        "input": "image",
        "output": "boxes",
        "labels": detector.labels,
        "onnx_max_difference": {"score": exported.score, "pixels": exported.pixels},
    }
    files = {**detector.files(), ONNX: exported.data}
    run.save_model(files, framework="pytorch", metrics=metrics, signature=signature)


if __name__ == "__main__":
    sys.exit(run.main(main))
