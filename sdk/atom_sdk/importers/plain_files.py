"""An archive or a folder as it is: every file, without labels."""

from __future__ import annotations

from collections.abc import Iterator

from atom_sdk.importers.items import Item
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree


def read(tree: Tree, report: Report) -> Iterator[Item]:
    """Yield every file."""
    for path, blob in tree.files.items():
        yield Item(path, blob)
