"""Which new files may share a pack: those of one split.

A job is given the packs that its splits need. Where a pack held two splits, the bytes and names of
test samples would be in what a training job is given. The server draws the splits; this
does the same beforehand with the same function. Where it cannot know (labels that people gave, a
query, a split that is larger than what is labelled), files stay together and only this separation
is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

from atom_sdk.errors import ManifestError
from atom_sdk.manifests.folder_labels import folder_labels
from atom_sdk.manifests.query import UNSPLIT_IS
from atom_sdk.manifests.split_requests import SplitInput, SplitRequest, draw, group_of
from atom_sdk.packs.plan import SourceFile

# The JSON of a path's attributes after the push.
_Attributes = Callable[[str], str | None]


def group_by_split(
    new: Sequence[SourceFile],
    paths: Collection[str],
    options: Mapping[str, Any],
    existing: Mapping[str, str],
    of: _Attributes,
) -> list[list[SourceFile]]:
    """Return the files to pack, one list per split, each in the order of `new`.

    `paths` are all files of the folder, `existing` the splits of the parent's paths, `options`
    those of the commit: labels_from, unlabelled_prefixes, split; `of` gives a path's attributes.
    """
    splits = dict(existing)
    if options["split"]:
        splits |= _drawn(paths, options, existing, of)

    def split_of(file: SourceFile) -> str:
        return splits.get(file.path, UNSPLIT_IS)

    # Sorting is stable: within a split the files stay in path order.
    return [list(files) for _, files in groupby(sorted(new, key=split_of), key=split_of)]


def _drawn(
    paths: Collection[str], options: Mapping[str, Any], existing: Mapping[str, str], of: _Attributes
) -> dict[str, str]:
    """Return the splits as the server will draw them, or none where it would draw otherwise."""
    if options["labels_from"] != "folder" or {"where", "view"} & _said(options["split"]):
        return {}
    ordered = sorted(paths)
    labels = dict(zip(ordered, folder_labels(ordered, options["unlabelled_prefixes"]), strict=True))
    try:
        request = SplitRequest.from_json(options["split"])
        groups = _groups(request.group_by, ordered, of) if request.group_by else {}
        held = {path: split for path, split in existing.items() if path in labels}
        return draw(request, SplitInput(labels, groups, held))
    except ManifestError:
        # The server says what is wrong, with more to say.
        return {}


def _said(split: Mapping[str, Any]) -> set[str]:
    return {name for name, value in split.items() if value}


def _groups(group_by: str, paths: Sequence[str], of: _Attributes) -> dict[str, str]:
    found = {path: group_of(group_by, path, json.loads(of(path) or "{}")) for path in paths}
    return {path: name for path, name in found.items() if name is not None}
