"""The model's files: weights and a description that is enough to use them."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from images import ImageFormat  # type: ignore[import-not-found]
from network import SmallConvNet  # type: ignore[import-not-found]

FORMAT = "atom-image-classifier/1"
DESCRIPTION, WEIGHTS = "model.json", "weights.pt"


class NotAClassifierError(Exception):
    """The files are not a model of this workflow."""


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
    found = next(iter(sorted(folder.rglob(DESCRIPTION))), None)
    if found is None:
        raise NotAClassifierError(
            f"The model has no {DESCRIPTION}, so it cannot be evaluated here."
        )
    description = json.loads(found.read_text("utf-8"))
    if description.get("format") != FORMAT:
        raise NotAClassifierError(
            f"The model's format is {description.get('format')!r}; this workflow reads {FORMAT}."
        )
    shape = description["preprocessing"]
    form = ImageFormat(
        shape["image_size"], shape["channels"], tuple(shape["mean"]), tuple(shape["std"])
    )
    labels, hidden = description["labels"], description["architecture"]["hidden"]
    network = SmallConvNet(form.channels, len(labels), hidden)
    # Only tensors: a weights file from elsewhere must not run code.
    network.load_state_dict(torch.load(found.with_name(WEIGHTS), weights_only=True))
    return Classifier(network, labels, form, hidden)


def to_bytes(state: object) -> bytes:
    """Return what `torch.save` writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()
