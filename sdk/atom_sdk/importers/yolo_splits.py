"""Where the splits of a YOLO set are: folders and lists of its config, or lists of their own."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from atom_sdk.importers.lookup import name_parts
from atom_sdk.importers.names import split_of
from atom_sdk.importers.report import Report
from atom_sdk.importers.split_lists import SplitLists
from atom_sdk.importers.trees import IMAGE_SUFFIXES, Tree
from atom_sdk.importers.yolo_config import YoloConfig

_HEAD_BYTES = 4096


def add_splits(splits: SplitLists, config: YoloConfig, tree: Tree, report: Report) -> None:
    """Add what the config says of splits; where it says nothing, lists that are called like one."""
    places = _Places(tree)
    folders: defaultdict[str, set[str]] = defaultdict(set)
    for split, entry in config.splits:
        is_list = entry.lower().endswith(".txt")
        path = places.file(entry, config) if is_list else places.folder(entry, config)
        if path is None:
            report.name_missing(config.path, entry)
        elif is_list:
            splits.add(path, split, tree.read_text(path, report))
        else:
            folders[path].add(split)
    _add_folders(splits, folders, config, report)
    if not config.splits:
        _add_loose_lists(splits, tree, report)


def is_list_of_pictures(tree: Tree, path: str) -> bool:
    """Whether the first line of a text is the name of a picture."""
    with tree.files[path].open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip().strip("\"'")
    return posixpath.splitext(first)[1].lower() in IMAGE_SUFFIXES


def _add_folders(
    splits: SplitLists, folders: Mapping[str, set[str]], config: YoloConfig, report: Report
) -> None:
    for folder, names in folders.items():
        if len(names) > 1:
            both = " and ".join(sorted(names))
            reason = f"{both} name the same folder, so it says no split"
            report.skip(f"{config.path}: {folder or '.'}", reason)
        else:
            splits.add_folder(folder, *names)


def _add_loose_lists(splits: SplitLists, tree: Tree, report: Report) -> None:
    for path in tree.with_suffix(".txt"):
        split = split_of(path.rpartition("/")[2][: -len(".txt")])
        if split is not None and is_list_of_pictures(tree, path):
            splits.add(path, split, tree.read_text(path, report))


class _Places:
    """Files and folders of a tree, found by what a config writes: its machine had other folders."""

    def __init__(self, tree: Tree) -> None:
        self._texts = tree.with_suffix(".txt")
        folders: set[str] = set()
        for path in tree.images():
            folder = path.rpartition("/")[0]
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self._folders = folders

    def file(self, entry: str, config: YoloConfig) -> str | None:
        """Return the list that an entry means, None if there is none or several."""
        return self._find(entry, config, self._texts)

    def folder(self, entry: str, config: YoloConfig) -> str | None:
        """Return the folder that an entry means, None if there is none or several."""
        return self._find(re.sub(r"/\*[^/]*$", "", entry), config, self._folders)

    def _find(self, entry: str, config: YoloConfig, paths: Iterable[str]) -> str | None:
        home = config.path.rpartition("/")[0]
        entry = entry.replace("\\", "/")
        for base in (posixpath.join(home, config.root), home):
            path = posixpath.normpath(posixpath.join(base, entry)).removeprefix("./")
            path = "" if path == "." else path
            if path in paths:
                return path
        parts = name_parts(entry)
        for dropped in range(len(parts)):
            end = "/" + "/".join(parts[dropped:])
            ending = [path for path in paths if f"/{path}".endswith(end)]
            if ending:
                return ending[0] if len(ending) == 1 else _nearest(ending, home)
        return None


def _nearest(paths: list[str], home: str) -> str | None:
    """The only one that lies beside the config, None if several do."""
    beside = [path for path in paths if posixpath.dirname(path) == home]
    return beside[0] if len(beside) == 1 else None
