"""Recognises pictures that lie in one folder per class, perhaps below one folder per split.

The portal's upload has the same rules in `upload/classFolders.ts`; both read the cases of
`tests/sdk/manifests/class_folders.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from atom_sdk.media_types import media_type_of

# By the name of a folder in lower case: the split that it holds.
SPLIT_FOLDERS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
    "testing": "test",
}
# Folders that name a kind of file, not the content of a picture.
_KINDS_OF_FILES = frozenset(
    ["images", "image", "imgs", "img", "pictures", "photos", "data", "raw", "files", "labels"],
).union(["annotations", "masks", "jpegimages", "unlabelled", "unlabeled"])
MIN_CLASSES = 2
# A folder for each picture is no class.
MIN_PICTURES_PER_CLASS = 2


@dataclass(frozen=True)
class FolderShape:
    """The meaning of folders: their classes, and the split of each split folder's path."""

    classes: tuple[str, ...] = ()
    # Such as {"photos/train/": "train"}.
    splits: tuple[tuple[str, str], ...] = ()
    pictures: int = 0

    @property
    def has_classes(self) -> bool:
        """Return whether the last folder above each picture is its class."""
        return bool(self.classes)


def folder_shape(paths: Iterable[str]) -> FolderShape:
    """Return what the folders of pictures mean; other files are not looked at."""
    pictures = [path for path in paths if _is_picture(path)]
    counts = Counter(tuple(path.split("/")[:-1]) for path in pictures)
    top = _common_folders(list(counts))
    below = {folders[len(top) :]: number for folders, number in counts.items()}
    splits = _splits_of(below)
    if splits:
        prefix = "".join(f"{name}/" for name in top)
        named = tuple((f"{prefix}{folder}/", split) for folder, split in sorted(splits.items()))
        inner = Counter[tuple[str, ...]]()
        for folders, number in below.items():
            inner[folders[1:]] += number
        return FolderShape(_classes_of(inner), named, len(pictures))
    return FolderShape(_classes_of(below), (), len(pictures))


def split_of_path(path: str, shape: FolderShape) -> str | None:
    """Return the split whose folder the path lies in."""
    return next((split for prefix, split in shape.splits if path.startswith(prefix)), None)


def _is_picture(path: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.split("/"))
    return not hidden and media_type_of(path).startswith("image/")


def _common_folders(folders: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the folders that all share, up to those that say a split."""
    if not folders:
        return ()
    low, high = min(folders), max(folders)
    shared = 0
    while shared < min(len(low), len(high)) and low[shared] == high[shared]:
        if low[shared].lower() in SPLIT_FOLDERS:
            break
        shared += 1
    return low[:shared]


def _splits_of(folders: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Return the split of each first folder, if all first folders say one."""
    first = {names[0] if names else "" for names in folders}
    splits = {name: SPLIT_FOLDERS.get(name.lower(), "") for name in first}
    return splits if splits and all(splits.values()) else {}


def _classes_of(folders: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the classes, none unless every picture is one folder deep and folders repeat."""
    if not folders or any(len(names) != 1 for names in folders):
        return ()
    names = sorted(name for (name,) in folders)
    meaningless = [name for name in names if name.lower() in _KINDS_OF_FILES | SPLIT_FOLDERS.keys()]
    few = sum(folders.values()) < MIN_PICTURES_PER_CLASS * len(names)
    return () if meaningless or few or len(names) < MIN_CLASSES else tuple(names)
