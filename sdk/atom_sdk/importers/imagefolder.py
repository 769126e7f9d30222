"""ImageFolder: the folder of a picture is its class; a folder above may name its split."""

from __future__ import annotations

from collections.abc import Iterator

from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Item
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree, is_image
from atom_sdk.manifests.layers.folder_labels import folder_label
from atom_sdk.sentences import Sentence


def detect(tree: Tree) -> str | None:
    """Say why the tree is an ImageFolder, None if it is not."""
    labels = {label_of(path) for path in tree.images()}
    if None in labels or len(labels) < 2:
        return None
    return f"all pictures lie in {len(labels)} class folders"


def read(tree: Tree, report: Report) -> Iterator[Item]:
    """Yield the pictures with their class. Raises FormatUnknownError without one."""
    if not any(label_of(path) for path in tree.images()):
        raise FormatUnknownError(
            Sentence(
                "formats.no_class_folder",
                "{name} has no picture in a class folder.",
                name=tree.name,
            )
        )
    for path, blob in tree.files.items():
        if is_image(path):
            yield Item(path, blob, label=label_of(path), split=split_in(path))
        else:
            report.skip(path, "it is not a picture")


def label_of(path: str) -> str | None:
    """Return the class folder of a file, None where its folder names a split."""
    label = folder_label(path)
    return None if label is None or split_of(label) is not None else label
