"""The data that the network learns from: classes, training part, validation part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk import run
from atom_sdk.manifests.layers.class_folders import folder_shape

VALIDATION_SHARE = 0.1
# Enough to see whether folders are classes.
PATHS_LOOKED_AT = 20_000


class NoLabelsError(run.RunFailure):
    """Nothing in the split has a label."""

    def __init__(self, samples: Any) -> None:
        """`samples` are those that were to be trained or measured on."""
        super().__init__(
            "no_labels",
            f"None of the {len(samples)} images has a label. Label them in LabelX, or use the "
            "names of their folders as labels.",
            dataset=reference(),
            files=len(samples),
            class_folders=class_folders(samples),
        )


class TooFewClassesError(run.RunFailure):
    """There are no classes to distinguish."""

    def __init__(self, samples: Any, label: str, labelled: int) -> None:
        """`labelled` of the samples have the one label."""
        super().__init__(
            "one_class",
            f"All {labelled} labelled images have the label '{label}'. At least two classes are "
            "needed to learn how to tell them apart.",
            dataset=reference(),
            label=label,
            labelled=labelled,
            class_folders=class_folders(samples),
        )


class NothingReadableError(run.RunFailure):
    """No image can be decoded."""

    def __init__(self, files: int) -> None:
        """`files` were tried."""
        sentence = f"None of the {files} images can be read."
        super().__init__("nothing_readable", sentence, dataset=reference(), files=files)


def reference() -> str:
    """Return the version that the run reads, such as digits@v3."""
    return str(run.params.get("dataset") or "the dataset")


def class_folders(samples: Any) -> int:
    """Return how many folders of the samples look like classes."""
    index, rows = samples.dataset.index, samples.rows[:PATHS_LOOKED_AT]
    return len(folder_shape(index.path_of(int(row)) for row in rows).classes)


@dataclass(frozen=True)
class Part:
    """Images of a view by `numbers` with their class in `targets`, both of shape (images,)."""

    samples: Any
    numbers: NDArray[np.int64]
    targets: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.numbers)


def labelled(samples: Any) -> tuple[Part, list[str]]:
    """Return the images that have a label and the classes. NoLabelsError, TooFewClassesError."""
    codes = np.asarray(samples.label_codes, np.int64)
    numbers = np.flatnonzero(codes >= 0).astype(np.int64)
    if not len(numbers):
        raise NoLabelsError(samples)
    present = np.unique(codes[numbers])
    classes = [samples.classes[code] for code in present]
    if len(classes) < 2:
        raise TooFewClassesError(samples, classes[0], len(numbers))
    return Part(samples, numbers, np.searchsorted(present, codes[numbers])), classes


def with_classes(samples: Any, classes: list[str]) -> Part:
    """Return the images whose label is one of `classes`."""
    place = {name: number for number, name in enumerate(classes)}
    targets = np.array([place.get(name, -1) for name in samples.classes] + [-1], np.int64)
    # Code -1, no label, takes the last place.
    found = targets[np.asarray(samples.label_codes, np.int64)]
    numbers = np.flatnonzero(found >= 0).astype(np.int64)
    return Part(samples, numbers, found[numbers])


def carve_validation(part: Part, seed: int) -> tuple[Part, Part]:
    """Return (training, validation): a tenth of each class, chosen by path and seed only."""
    chosen = np.zeros(len(part), bool)
    for target in np.unique(part.targets):
        places = np.flatnonzero(part.targets == target)
        ranked = sorted(places, key=lambda place: _rank(part, int(place), seed))
        # A class of a few images keeps them all for training.
        chosen[ranked[: int(len(ranked) * VALIDATION_SHARE)]] = True
    return _choose(part, ~chosen), _choose(part, chosen)


def _rank(part: Part, place: int, seed: int) -> bytes:
    path = part.samples[int(part.numbers[place])].path
    return hashlib.blake2b(f"{seed}/{path}".encode(), digest_size=8).digest()


def _choose(part: Part, chosen: NDArray[np.bool_]) -> Part:
    return Part(part.samples, part.numbers[chosen], part.targets[chosen])
