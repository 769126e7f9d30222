"""The network as an ONNX file, checked against PyTorch before it is handed over."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from artifacts import Detector  # type: ignore[import-not-found]
from numpy.typing import NDArray
from torch import nn

from atom_sdk import run

# The bounds for scores and, in pixels, for boxes: float32 itself differs by less.
MOST_SCORE, MOST_PIXELS = 1e-4, 0.05
# Operators of this version are known to every runtime of the last years.
OPSET = 17
CHECKED_PICTURES = 4


class WrongExportError(run.RunFailure):
    """The ONNX file answers otherwise than the network."""

    def __init__(self, score: float, pixels: float) -> None:
        """`score` and `pixels` are the largest differences."""
        super().__init__(
            "export_differs",
            f"The ONNX file differs from the network by {score:.2g} in scores and {pixels:.2g} "
            "pixels in boxes.",
            score=f"{score:.2g}",
            pixels=f"{pixels:.2g}",
        )


@dataclass(frozen=True)
class Exported:
    """An ONNX file and its largest differences from the network."""

    data: bytes
    score: float
    pixels: float


class _Scoring(nn.Module):  # type: ignore[misc]
    """The network with scores in the place of logits."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits, boxes = self.network(images)
        return torch.sigmoid(logits), boxes


def export(detector: Detector, pictures: NDArray[np.uint8]) -> Exported:
    """Return the detector as ONNX, compared on pictures (n, 3, size, size). WrongExportError."""
    scoring = _Scoring(detector.network).cpu().eval()
    data = _described(_to_onnx(scoring, detector.size), detector)
    images = _checked_images(pictures, detector.size)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    with torch.inference_mode():
        own = [one.numpy() for one in scoring(torch.from_numpy(images))]
    other = session.run(["scores", "boxes"], {"images": images})
    score, pixels = (
        float(np.abs(mine - theirs).max()) for mine, theirs in zip(own, other, strict=True)
    )
    # Not a number is larger than any bound.
    if not (score <= MOST_SCORE and pixels <= MOST_PIXELS):
        raise WrongExportError(score, pixels)
    return Exported(data, score, pixels)


def _to_onnx(scoring: nn.Module, size: int) -> bytes:
    buffer = io.BytesIO()
    names = ["images", "scores", "boxes"]
    with warnings.catch_warnings():
        # The newer exporter needs a minute and two more packages for the same file.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            scoring,
            (torch.zeros(1, 3, size, size),),
            buffer,
            dynamo=False,
            input_names=names[:1],
            output_names=names[1:],
            dynamic_axes={name: {0: "batch"} for name in names},
            opset_version=OPSET,
        )
    return buffer.getvalue()


def _described(data: bytes, detector: Detector) -> bytes:
    model = onnx.load_from_string(data)
    values = {key: json.dumps(one) for key, one in detector.description().items()}
    onnx.helper.set_model_props(model, values)
    onnx.checker.check_model(model, full_check=True)
    written: bytes = model.SerializeToString()
    return written


def _checked_images(pictures: NDArray[np.uint8], size: int) -> NDArray[np.float32]:
    """Return some real pictures and as many of noise."""
    noise = np.random.default_rng(0).integers(0, 256, (CHECKED_PICTURES, 3, size, size))
    real = pictures[:CHECKED_PICTURES].astype(np.float32)
    return np.concatenate([real, noise.astype(np.float32)])
