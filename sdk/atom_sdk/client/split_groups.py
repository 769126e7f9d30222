"""Which new files may share a pack: those of one split.

A job is given the packs that its splits need. Where a pack held two splits, the bytes and names of
test samples would be in what a training job is given. The server draws the splits; this
does the same beforehand with the same function. Where it cannot know (labels that people gave, a
split that is larger than what is labelled), files stay together and only this separation is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

from atom_sdk.errors import SplitTooLargeError
from atom_sdk.manifests.folder_labels import folder_labels
from atom_sdk.manifests.splits import SplitPlan, assign_splits
from atom_sdk.manifests.views import UNSPLIT_IS
from atom_sdk.packs.plan import SourceFile


def group_by_split(
    new: Sequence[SourceFile],
    paths: Collection[str],
    options: Mapping[str, Any],
    existing: Mapping[str, str],
) -> list[list[SourceFile]]:
    """Return the files to pack, one list per split, each in the order of `new`.

    `paths` are all files of the folder, `existing` the splits of the parent's paths, `options`
    those of the commit: labels_from, unlabelled_prefixes, split.
    """
    splits = dict(existing)
    if options["split"]:
        splits |= _drawn(paths, options, existing)

    def split_of(file: SourceFile) -> str:
        return splits.get(file.path, UNSPLIT_IS)

    # Sorting is stable: within a split the files stay in path order.
    return [list(files) for _, files in groupby(sorted(new, key=split_of), key=split_of)]


def _drawn(
    paths: Collection[str], options: Mapping[str, Any], existing: Mapping[str, str]
) -> dict[str, str]:
    """Return the splits as the server will draw them, or none where it would draw otherwise."""
    wanted: Mapping[str, Any] = options["split"]
    counts = {name: int(wanted.get(name) or 0) for name in ("test", "val")}
    held = {name: sum(split == name for split in existing.values()) for name in counts}
    if options["labels_from"] != "folder" or all(held[name] >= counts[name] for name in counts):
        return {}
    ordered = sorted(paths)
    labels = dict(zip(ordered, folder_labels(ordered, options["unlabelled_prefixes"]), strict=True))
    if not wanted.get("stratify", True):
        labels = {path: None if label is None else "" for path, label in labels.items()}
    plan = SplitPlan({name: n for name, n in counts.items() if n}, int(wanted.get("seed") or 0))
    try:
        return assign_splits(labels, plan, existing)
    except SplitTooLargeError:
        return {}
