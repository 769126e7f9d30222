"""The model's files: weights and a description that is enough to use them."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from images import ImageFormat  # type: ignore[import-not-found]
from network import SmallConvNet  # type: ignore[import-not-found]

from atom_sdk import run

FORMAT = "atom-image-classifier/1"
DESCRIPTION, WEIGHTS = "model.json", "weights.pt"


class NotAClassifierError(run.RunFailure):
    """The files are not a model of this workflow."""

    def __init__(self, code: str, sentence: str, **params: str) -> None:
        """Name the model that the run was given."""
        super().__init__(code, sentence, model=str(run.params.get("model_version", "")), **params)


@dataclass(frozen=True)
class Classifier:
    """A network with what it needs to be used."""

    network: Any
    labels: list[str]
    form: ImageFormat
    hidden: str

    def files(self) -> dict[str, bytes]:
        """Return the model's files by name."""
        description = {
            "format": FORMAT,
            "architecture": {"name": "SmallConvNet", "hidden": self.hidden},
            "labels": self.labels,
            "preprocessing": {**asdict(self.form), "fit": "pad"},
        }
        text = json.dumps(description, indent=2, ensure_ascii=False)
        return {DESCRIPTION: text.encode(), WEIGHTS: to_bytes(self.network.state_dict())}


def load_classifier(folder: Path) -> Classifier:
    """Read a model from a folder or one below it. Raises NotAClassifierError."""
    path = next(iter(sorted(folder.rglob(DESCRIPTION))), None)
    if path is None:
        sentence = f"The model has no {DESCRIPTION}, so it cannot be evaluated here."
        raise NotAClassifierError("model_without_description", sentence)
    try:
        description = json.loads(path.read_text("utf-8"))
        form = description.get("format")
    except (ValueError, AttributeError) as error:
        raise _damaged(error) from error
    if form != FORMAT:
        sentence = f"The model's format is {form!r}; this workflow reads {FORMAT}."
        raise NotAClassifierError("model_of_another_program", sentence, format=str(form))
    try:
        return _read(description, path.with_name(WEIGHTS))
    # A pickle that is none, keys or shapes that do not fit, a file that is missing.
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, UnpicklingError) as error:
        raise _damaged(error) from error


def _read(description: dict[str, Any], weights: Path) -> Classifier:
    shape = description["preprocessing"]
    form = ImageFormat(
        shape["image_size"], shape["channels"], tuple(shape["mean"]), tuple(shape["std"])
    )
    labels, hidden = description["labels"], description["architecture"]["hidden"]
    network = SmallConvNet(form.channels, len(labels), hidden)
    # Only tensors: a weights file from elsewhere must not run code.
    network.load_state_dict(torch.load(weights, weights_only=True))
    return Classifier(network, labels, form, hidden)


def _damaged(error: Exception) -> NotAClassifierError:
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    sentence = f"The model's files do not fit together: {reason}"
    return NotAClassifierError("model_damaged", sentence, error=reason[:200])


def to_bytes(state: object) -> bytes:
    """Return what `torch.save` writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()
