"""The model's files: weights, the same network as ONNX, and a description of how to use them."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from detecting import LEAST_SCORE, MOST_KEPT, OVERLAP  # type: ignore[import-not-found]
from images import FILLING  # type: ignore[import-not-found]
from network import SmallDetector  # type: ignore[import-not-found]

from atom_sdk import run

FORMAT = "atom-object-detector/1"
DESCRIPTION, WEIGHTS, ONNX = "detector.json", "detector.pt", "detector.onnx"


class NotADetectorError(run.RunFailure):
    """The files are not a model of this workflow."""

    def __init__(self, code: str, sentence: str, **params: str) -> None:
        """Name the model that the run was given."""
        super().__init__(code, sentence, model=str(run.params.get("model_version", "")), **params)


@dataclass
class Detector:
    """A network with what it needs to be used; mean and deviation are of values 0 to 255."""

    network: Any
    labels: list[str]
    size: int
    hidden: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    # Scores from here on count as detections; chosen by the validation part.
    threshold: float = 0.5

    def description(self) -> dict[str, Any]:
        """Return all that somebody needs who has the weights or the ONNX file alone."""
        return {
            "format": FORMAT,
            "architecture": {"name": "SmallDetector", "hidden": self.hidden},
            "labels": self.labels,
            "preprocessing": {
                "size": self.size,
                "channels": "RGB",
                "layout": "batch, channels, rows, columns; float32 from 0 to 255",
                "orientation": "turned as EXIF says",
                "fit": "scaled to fit, at the upper left",
                "filling": FILLING,
                # The network itself does this.
                "normalised_inside": {"mean": list(self.mean), "std": list(self.std)},
            },
            "outputs": {
                "scores": "batch, cells, classes; from 0 to 1",
                "boxes": "batch, cells, left top right bottom; pixels of the square",
            },
            "postprocessing": {
                "least_score": LEAST_SCORE,
                "overlap": OVERLAP,
                "most": MOST_KEPT,
                "threshold": self.threshold,
            },
        }

    def files(self) -> dict[str, bytes]:
        """Return the model's files by name, without ONNX."""
        text = json.dumps(self.description(), indent=2, ensure_ascii=False)
        return {DESCRIPTION: text.encode(), WEIGHTS: to_bytes(self.network.state_dict())}


def load_detector(folder: Path) -> Detector:
    """Read a model from a folder or one below it. Raises NotADetectorError."""
    path = next(iter(sorted(folder.rglob(DESCRIPTION))), None)
    if path is None:
        sentence = f"The model has no {DESCRIPTION}, so it cannot be evaluated here."
        raise NotADetectorError("not_a_detector", sentence)
    try:
        description = json.loads(path.read_text("utf-8"))
        form = description.get("format")
    except (ValueError, AttributeError) as error:
        raise _damaged(error) from error
    if form != FORMAT:
        sentence = f"The model's format is {form!r}; this workflow reads {FORMAT}."
        raise NotADetectorError("not_a_detector", sentence)
    try:
        return _read(description, path.with_name(WEIGHTS))
    # A pickle that is none, keys or shapes that do not fit, a file that is missing.
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, UnpicklingError) as error:
        raise _damaged(error) from error


def _read(description: dict[str, Any], weights: Path) -> Detector:
    shape = description["preprocessing"]
    inside = shape["normalised_inside"]
    mean, std = tuple(inside["mean"]), tuple(inside["std"])
    labels, hidden = description["labels"], description["architecture"]["hidden"]
    network = SmallDetector(len(labels), hidden, shape["size"], mean, std)
    # Only tensors: a weights file from elsewhere must not run code.
    network.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
    threshold = float(description["postprocessing"]["threshold"])
    return Detector(network, labels, shape["size"], hidden, mean, std, threshold)


def _damaged(error: Exception) -> NotADetectorError:
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    sentence = f"The model's files do not fit together: {reason}"
    return NotADetectorError("model_damaged", sentence, error=reason[:200])


def to_bytes(state: object) -> bytes:
    """Return what `torch.save` writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()
