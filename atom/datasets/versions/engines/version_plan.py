"""The plan of a push for a version, and the layers that it fills."""

from __future__ import annotations

from dataclasses import dataclass, field

from atom.datasets.versions.engines.changes import ChangesFile
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.splits.requests import SplitRequest

FOLDER_LAYER = "folder"
GIVEN_LAYER = "given"
SPLIT_LAYER = "split"
REST = "train"
# Kinds of layers that hold what people and models say of files.
ANNOTATIONS = ("classification", "objects")


@dataclass(frozen=True)
class VersionPlan:
    """The wishes of a push.

    `previous_split` is what the parent's split was drawn by, if that is known. `relabels` says
    that the class folders label every file, not only those that are put.
    """

    changes: ChangesFile
    labels_from_folders: bool = False
    unlabelled_prefixes: tuple[str, ...] = field(default=())
    split: SplitRequest | None = None
    previous_split: SplitRequest | None = None
    relabels: bool = False
    watch: Watch = UNWATCHED
