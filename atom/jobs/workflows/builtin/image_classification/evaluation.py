"""Measures a classifier: accuracy, confusion matrix, precision and recall per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from artifacts import Classifier  # type: ignore[import-not-found]
from loading import Batch, ImageTable  # type: ignore[import-not-found]
from numpy.typing import NDArray

BATCH_SIZE = 256


def to_input(batch: Batch, form: Any, device: torch.device) -> torch.Tensor:
    """Return normalised images (batch, channels, size, size) as float32."""
    images = torch.from_numpy(batch.images).to(device, torch.float32).div_(255.0)
    mean = torch.tensor(form.mean, device=device).view(1, -1, 1, 1)
    std = torch.tensor(form.std, device=device).view(1, -1, 1, 1)
    return (images - mean) / std


@dataclass(frozen=True)
class Predictions:
    """Predictions of a classifier for images, all of shape (images,); `loss` is their mean.

    Targets beyond the classifier's own labels count as wrong and not in the loss.
    """

    numbers: NDArray[np.int64]
    targets: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    loss: float

    def matrix(self, classes: int) -> NDArray[np.int64]:
        """Return the confusion matrix: rows true, columns predicted, shape (classes, classes)."""
        matrix = np.zeros((classes, classes), np.int64)
        np.add.at(matrix, (self.targets, self.predicted), 1)
        return matrix


@torch.inference_mode()  # type: ignore[untyped-decorator]
def predict(
    classifier: Classifier,
    table: ImageTable,
    numbers: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> Predictions:
    """Return what the classifier says of the readable images among `numbers`."""
    device = next(classifier.network.parameters()).device
    classifier.network.eval()
    parts: list[tuple[NDArray[Any], ...]] = []
    losses, known = 0.0, 0
    for batch in table.batches(numbers, targets, BATCH_SIZE):
        scores = classifier.network(to_input(batch, classifier.form, device)).cpu()
        confidence, predicted = torch.softmax(scores, 1).max(1)
        parts.append((batch.numbers, batch.targets, predicted.numpy(), confidence.numpy()))
        mine = torch.from_numpy(batch.targets) < len(classifier.labels)
        right = torch.from_numpy(batch.targets)[mine]
        losses += float(torch.nn.functional.cross_entropy(scores[mine], right, reduction="sum"))
        known += int(mine.sum())
    empty = tuple(np.empty(0, kind) for kind in (np.int64, np.int64, np.int64, np.float32))
    columns = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    return Predictions(*columns, losses / max(1, known))


def accuracy_of(matrix: NDArray[np.int64]) -> float:
    """Return the share of the diagonal, 0 without images."""
    return float(np.trace(matrix) / max(1, matrix.sum()))


def describe(matrix: NDArray[np.int64], labels: list[str], split: str) -> dict[str, Any]:
    """Return the record that the model registry keeps."""
    return {
        "split": split,
        "n": int(matrix.sum()),
        "accuracy": accuracy_of(matrix),
        "labels": labels,
        "matrix": matrix.tolist(),
        "per_class": [_class_record(matrix, labels, number) for number in range(len(labels))],
    }


def _class_record(matrix: NDArray[np.int64], labels: list[str], number: int) -> dict[str, Any]:
    right = int(matrix[number, number])
    images, predicted = int(matrix[number].sum()), int(matrix[:, number].sum())
    precision, recall = right / max(1, predicted), right / max(1, images)
    total = precision + recall
    return {
        "label": labels[number],
        "n": images,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total else 0.0,
    }
