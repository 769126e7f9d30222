"""Opens labels alone: a file, a folder or an archive, without the pictures beside it."""

from __future__ import annotations

from pathlib import Path

from atom_sdk.importers.items import file_blob
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.open_source import open_tree
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

_ALONE = frozenset([".json", ".jsonl", ".xml", ".parquet"])


def open_labels(source: Path, limits: ArchiveLimits, scratch: Path) -> Tree:
    """Return the files of a source of labels; a file is taken alone.

    Raises SourceUnreadableError, ArchiveDamagedError, ArchiveTooLargeError, OSError.
    """
    if source.is_file() and source.suffix.lower() in _ALONE:
        return Tree(source.name, {source.name: file_blob(source)})
    tree, _ = open_tree(source, limits, scratch, Report(source.name))
    return tree
