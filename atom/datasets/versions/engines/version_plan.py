"""What a push asks of a version, and the layers that it fills."""

from __future__ import annotations

from dataclasses import dataclass, field

from atom.datasets.versions.engines.changes import ChangesFile
from atom_sdk.manifests.split_requests import SplitRequest
from atom_sdk.manifests.watching import UNWATCHED, Watch

FOLDER_LAYER = "folder"
GIVEN_LAYER = "given"
SPLIT_LAYER = "split"
REST = "train"


@dataclass(frozen=True)
class VersionPlan:
    """What a push asks for.

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
