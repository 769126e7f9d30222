"""Which new files may share a pack: those of one split.

A job is given the packs that its splits need. Where a pack held two splits, the bytes and names of
test samples would be in what a training job is given. The server draws the splits; this
does the same beforehand with the same function. Where it cannot know (labels that people gave, a
query, a split that is larger than what is labelled), files stay together and only this separation
is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

import numpy as np

from atom_sdk.client.push.subsets import Subset
from atom_sdk.errors import ManifestError
from atom_sdk.manifests.layers.folder_labels import folder_labels
from atom_sdk.manifests.query import UNSPLIT_IS
from atom_sdk.manifests.splits.large import DrawnRows, draw_rows
from atom_sdk.manifests.splits.requests import SplitRequest, group_of
from atom_sdk.manifests.splits.rows import Names, SplitRows
from atom_sdk.packs.plan import SourceFile

_PATHS_AT_ONCE = 4096
# The JSON of a path's attributes after the push.
_Attributes = Callable[[str], str | None]


def group_by_split(
    new: Collection[SourceFile],
    paths: Iterable[str],
    options: Mapping[str, Any],
    existing: Mapping[str, str],
    of: _Attributes,
) -> list[Collection[SourceFile]]:
    """Return the files to pack by split, each in the order of `new`, which is that of the paths.

    `paths` are all files of the version that is made, in order, `existing` the splits of the
    parent's paths, `options` those of the commit: labels_from, unlabelled_prefixes, split; `of`
    gives a path's attributes.
    """
    drawn = _drawn(new, paths, options, existing, of) if options["split"] else None
    if drawn is None:
        names = Names()
        splits = (existing.get(file.path, UNSPLIT_IS) for file in new)
        drawn = DrawnRows(names.codes(splits).astype(np.int16), names.names)
    numbers = sorted(range(len(drawn.names)), key=drawn.names.__getitem__)
    found = (Subset(new, (drawn.codes == number).tobytes()) for number in numbers)
    return [files for files in found if files]


def paths_after(
    before: Iterable[str], files: Iterable[str], removed: Iterable[str]
) -> Iterator[str]:
    """Yield the paths of a version in order: those before and of the files, less those removed.

    All come in path order.
    """
    stream = iter(removed)
    gone, last = next(stream, None), None
    for path in merge(before, files):
        while gone is not None and gone < path:
            gone = next(stream, None)
        if path not in (last, gone):
            yield path
        last = path


def _drawn(
    new: Iterable[SourceFile],
    paths: Iterable[str],
    options: Mapping[str, Any],
    existing: Mapping[str, str],
    of: _Attributes,
) -> DrawnRows | None:
    """Return the splits of new files as the server will draw them, None if it will otherwise."""
    if options["labels_from"] != "folder" or {"where", "view"} & _set_fields(options["split"]):
        return None
    try:
        request = SplitRequest.from_json(options["split"])
        rows, is_new = SplitRows(request), bytearray()
        stream, waiting = iter(paths), (file.path for file in new)
        path: str | None = next(waiting, None)
        while some := list(islice(stream, _PATHS_AT_ONCE)):
            labels = folder_labels(some, options["unlabelled_prefixes"])
            groups = _groups(request.group_by, some, of) if request.group_by else None
            rows.add(some, labels, [existing.get(each) for each in some], groups)
            for each in some:
                is_new.append(each == path)
                path = next(waiting, None) if each == path else path
        drawn = draw_rows(request, rows)
        codes = drawn.codes[np.frombuffer(is_new, np.bool_)]
    except ManifestError:
        # The server says what is wrong, with more to say.
        return None
    if path is not None or (codes < 0).any():
        raise AssertionError("a file that is new is not among the paths")
    return DrawnRows(codes, drawn.names)


def _set_fields(split: Mapping[str, Any]) -> set[str]:
    return {name for name, value in split.items() if value}


def _groups(group_by: str, paths: Sequence[str], of: _Attributes) -> list[str | None]:
    return [group_of(group_by, path, json.loads(of(path) or "{}")) for path in paths]
