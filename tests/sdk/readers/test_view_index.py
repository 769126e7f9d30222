"""The content of a view index, and the rows that it leaves out."""

from __future__ import annotations

import pytest

from atom_sdk.errors import EmptyDatasetError, LayerKindError
from atom_sdk.manifests import ViewSelector, layer_table, pack_table, write_layer
from tests.sdk.readers.conftest import Node


def test_labels_and_splits_are_joined_to_the_samples(node: Node) -> None:
    dataset = node.open()
    for number, sample in enumerate(dataset):
        assert sample.split == ("test" if number % 5 == 0 else "train")
        wanted = None if sample.path[0] == "2" else f"class {sample.path[0]}"
        assert sample.label == wanted
        code = sample.label_code
        assert (dataset.classes[code] if code >= 0 else None) == wanted
    assert dataset.classes == ["class 0", "class 1"]


def test_a_selection_by_split_holds_nothing_of_the_others(node: Node) -> None:
    train = node.select(ViewSelector(splits=frozenset({"train"})))
    assert {sample.split for sample in train} == {"train"}
    assert len(train) == 240
    assert b"test" not in train.index.path.read_bytes()
    missing = min(node.files)
    assert missing.encode() not in train.index.path.read_bytes()


def test_a_selection_of_labelled_samples_leaves_the_others_out(node: Node) -> None:
    labelled = node.select(ViewSelector(labelled_only=True))
    assert len(labelled) == 200
    assert None not in {sample.label for sample in labelled}


def test_human_labels_win_over_folder_labels(node: Node) -> None:
    sample = node.open()[0]
    row = {"path": sample.path, "digest": node.open().index.digest_of(0), "source": "human"}
    table = layer_table("classification", [row | {"label": "corrected"}])
    labels = write_layer("labels", "classification", table, node.objects)
    dataset = node.with_root(node.root.with_layers(labels)).select(ViewSelector())
    assert (dataset[0].label, dataset[1].label) == ("corrected", "class 0")


def test_a_selection_that_leaves_nothing_is_an_error(node: Node) -> None:
    with pytest.raises(EmptyDatasetError):
        node.select(ViewSelector(splits=frozenset({"none"})))
    with pytest.raises(EmptyDatasetError):
        node.with_root(node.root.without_layer("folder")).select(ViewSelector(labelled_only=True))


def test_a_layer_of_another_kind_is_refused(node: Node) -> None:
    with pytest.raises(LayerKindError, match="folder"):
        node.select(ViewSelector(split_layer="folder"))


def test_a_version_without_layers_has_a_view(node: Node) -> None:
    bare = node.root.without_layer("folder").without_layer("split")
    dataset = node.with_root(bare).select(ViewSelector())
    assert len(dataset) == 300
    assert dataset.classes == []
    assert (dataset[7].label, dataset[7].split) == (None, None)


def test_the_pack_table_is_sorted_and_covers_the_view(node: Node) -> None:
    packs = pack_table(node.root, node.objects)
    assert packs == sorted(packs) == node.open().index.packs
    assert node.store.coverage(packs) == b"\xc0"


def test_the_index_knows_the_content_that_it_was_built_from(node: Node) -> None:
    assert node.open().index.content == node.root.content
