"""The data that the detector learns from: pictures with objects, classes, validation part.

A picture without a row in the layer `objects` was not looked at, and is left out. A row without
objects says that nothing is there: the detector learns from that too.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from augmentation import Objects  # type: ignore[import-not-found]
from layer_objects import read_objects  # type: ignore[import-not-found]
from numpy.typing import NDArray

from atom_sdk import run

VALIDATION_SHARE = 0.1


class NoObjectsError(run.RunFailure):
    """Nothing in the split has objects."""

    def __init__(self, samples: Any, looked_at: int) -> None:
        """`looked_at` of the samples were annotated, all without an object that counts."""
        super().__init__(
            "no_objects",
            f"None of the {len(samples)} pictures has objects. Draw them in LabelX, or import "
            "annotations.",
            dataset=reference(),
            files=len(samples),
            looked_at=looked_at,
        )


class NothingReadableError(run.RunFailure):
    """No picture can be decoded."""

    def __init__(self, files: int) -> None:
        """`files` were tried."""
        sentence = f"None of the {files} pictures can be read."
        super().__init__("nothing_readable", sentence, dataset=reference(), files=files)


def reference() -> str:
    """Return the version that the run reads, such as digits@v3."""
    return str(run.params.get("dataset") or "the dataset")


@dataclass(frozen=True)
class Part:
    """Pictures of a view by `numbers`, shape (pictures,), each with its objects.

    Boxes are in pixels of the upright picture.
    """

    samples: Any
    numbers: NDArray[np.int64]
    objects: list[Objects]

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.numbers)

    def chosen(self, places: NDArray[np.int64]) -> Part:
        """Return the pictures at these places."""
        objects = [self.objects[place] for place in places.tolist()]
        return Part(self.samples, self.numbers[places], objects)

    def path(self, place: int) -> str:
        """Return the path of a picture; nothing of it is read."""
        row = int(self.samples.rows[int(self.numbers[place])])
        path: str = self.samples.dataset.index.path_of(row)
        return path


def annotated(samples: Any) -> tuple[Part, list[str]]:
    """Return the annotated pictures and the classes of their objects. Raises NoObjectsError."""
    part, names = _read(samples)
    counted = [one.codes[~one.ignored] for one in part.objects]
    present = np.unique(np.concatenate([*counted, np.empty(0, np.int64)]))
    if not len(present):
        raise NoObjectsError(samples, len(part))
    classes = [names[code] for code in present]
    return _renumbered(part, names, classes), classes


def with_classes(samples: Any, classes: list[str]) -> Part:
    """Return the annotated pictures with those objects whose class is one of `classes`."""
    part, names = _read(samples)
    return _renumbered(part, names, classes)


def carve_validation(part: Part, seed: int) -> tuple[Part, Part]:
    """Return (training, validation): a tenth of each class, chosen by path and seed only.

    A picture counts for the rarest of its classes, one without objects for none.
    """
    pictures = Counter(int(code) for one in part.objects for code in np.unique(one.codes))
    rarest = [_rarest(one, pictures) for one in part.objects]
    is_validated = np.zeros(len(part), bool)
    for code in sorted(set(rarest)):
        places = [place for place, own in enumerate(rarest) if own == code]
        places.sort(key=lambda place: _rank(part.path(place), seed))
        # A class of a few pictures keeps them all for training.
        is_validated[places[: int(len(places) * VALIDATION_SHARE)]] = True
    return part.chosen(np.flatnonzero(~is_validated)), part.chosen(np.flatnonzero(is_validated))


def _rarest(objects: Objects, pictures: Counter[int]) -> int:
    codes = np.unique(objects.codes).tolist()
    return min(codes, key=lambda code: (pictures[code], code)) if codes else -1


def _rank(path: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}/{path}".encode(), digest_size=8).digest()


def _read(samples: Any) -> tuple[Part, list[str]]:
    numbers, objects, names = read_objects(samples)
    return Part(samples, np.array(numbers, np.int64), objects), names


def _renumbered(part: Part, names: list[str], classes: list[str]) -> Part:
    """Return the part with codes of `classes`; a region of another class keeps the code -1."""
    place = {name: number for number, name in enumerate(classes)}
    codes = np.array([place.get(name, -1) for name in names] + [-1], np.int64)
    objects = []
    for one in part.objects:
        changed = replace(one, codes=codes[one.codes])
        is_kept = (changed.codes >= 0) | changed.ignored
        objects.append(
            Objects(changed.boxes[is_kept], changed.codes[is_kept], changed.ignored[is_kept])
        )
    return replace(part, objects=objects)
