"""Labels of a version's layer, as an export reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from atom_sdk.annotations.layer import PictureRow, rows_table
from atom_sdk.label_formats.interface import IMPORT, LabelledPicture
from atom_sdk.label_formats.version_labels import NoObjectsError, VersionLabels
from atom_sdk.manifests import FolderObjectStore
from atom_sdk.manifests.layers.layers import layer_table, write_layer
from atom_sdk.manifests.roots.roots import Root, make_root
from tests.sdk.label_formats.strategies import pictures

DIGEST = b"\1" * 32


def root_of(drawn: list[LabelledPicture], folder: Path) -> tuple[Root, FolderObjectStore]:
    store = FolderObjectStore(folder)
    rows = [PictureRow(each.path, DIGEST, each.document, source=each.source) for each in drawn]
    splits = [
        {"path": each.path, "digest": DIGEST, "value": each.split}
        for each in drawn
        if each.split is not None
    ]
    layers = [write_layer("objects", "objects", rows_table(rows), store)]
    if splits:
        layers.append(write_layer("split", "split", layer_table("split", splits), store))
    return make_root([], layers), store


@given(drawn=pictures())
def test_pictures_come_with_their_objects_and_splits(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[LabelledPicture]
) -> None:
    root, store = root_of(drawn, tmp_path_factory.mktemp("store"))
    labels = VersionLabels(root, store, tmp_path_factory.mktemp("scratch"))

    assert list(labels.pictures()) == sorted(drawn, key=lambda each: each.path.encode())
    assert {each.source for each in labels.pictures()} == {IMPORT}
    classes = {name.label for each in drawn for name in each.document.objects}
    assert classes <= {label.name for label in labels.ontology().labels}


def test_a_version_without_objects_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoObjectsError):
        VersionLabels(make_root([], []), FolderObjectStore(tmp_path), tmp_path)
