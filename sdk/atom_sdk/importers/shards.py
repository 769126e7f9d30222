"""Zip archives that a folder of Hugging Face has in place of its pictures: `train.zip`.

They are read as folders of the same name, if the metadata lies in them or beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from atom_sdk.amounts import counted
from atom_sdk.importers.items import Blob
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.metadata_files import metadata_files
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.zips import open_zip, zip_files
from atom_sdk.media_types import media_type_of

_SHARD = re.compile(r"-(\d{5})-of-\d{5}$")
_MEDIA = ("image/", "audio/", "video/")


def with_shards(tree: Tree, limits: ArchiveLimits, report: Report) -> Tree:
    """Return the tree with the files of its archives in place of them, or the tree as it is.

    Raises ArchiveDamagedError, ArchiveTooLargeError, ZipEncodingError.
    """
    paths = tree.with_suffix(".zip")
    if not paths or any(map(_is_media, tree.files)):
        return tree
    opened: dict[str, Blob] = {}
    for path in paths:
        stream = tree.resources.enter_context(tree.files[path].open())
        archive = open_zip(stream, path, tree.resources)
        members = zip_files(archive, tree.files[path], path, limits, report, tree.text).files
        opened.update({f"{_folder(path)}/{name}": blob for name, blob in members.items()})
    rest = {path: blob for path, blob in tree.files.items() if path not in paths}
    expanded = replace(tree, files={**rest, **opened})
    if not metadata_files(expanded) or not _has_media(opened):
        return tree
    report.note(f"{counted(len(paths), 'zip archive')} of the folder read as folders")
    return expanded


def _folder(path: str) -> str:
    """`data/train-00001-of-00002.zip` as `data/train/00001`."""
    return _SHARD.sub(r"/\1", path[: -len(".zip")])


def _is_media(path: str) -> bool:
    return media_type_of(path).startswith(_MEDIA)


def _has_media(files: Mapping[str, Blob]) -> bool:
    return any(map(_is_media, files))
