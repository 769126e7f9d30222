"""Deltas of layers: a small change is written beside a layer, and nobody else can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.datasets.retention.engines.reachable import Reachable
from atom.datasets.versions.engines.versions import publish_rows
from atom_sdk.archive.follow import Followed
from atom_sdk.errors import ManifestCorruptError, ObjectNotFoundError
from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    Root,
    build_root,
    diff_roots,
    entries_table,
    layer_table,
    merge_roots,
    read_layer,
    read_root,
    write_layer,
    write_root,
)
from atom_sdk.manifests.build import compact
from atom_sdk.manifests.layer_deltas import LayerDeltaRule
from atom_sdk.manifests.layers import change_layer
from atom_sdk.manifests.objects import digest_of, layer_key
from atom_sdk.manifests.roots import LayerRef, decode_root, encode_root

SMALL = LayerDeltaRule(min_rows=1, max_share=1.0, max_depth=3)
FILES = 20_000
states = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["train", "val"]))


def split_of(values: Mapping[str, str]) -> pa.Table:
    rows = ({"path": p, "digest": b"d" * 32, "value": value} for p, value in values.items())
    return layer_table("split", rows)


def values_of(table: pa.Table) -> dict[str, str]:
    return dict(zip(table["path"].to_pylist(), table["value"].to_pylist(), strict=True))


def path_of(number: int) -> str:
    return f"{number:06d}.png"


def bytes_of(number: int) -> bytes:
    return digest_of(path_of(number).encode())


def labels_of(numbers: range, label: str) -> pa.Table:
    rows = (
        {"path": path_of(n), "digest": bytes_of(n), "label": label, "source": "human"}
        for n in numbers
    )
    return layer_table("classification", rows)


@pytest.fixture(scope="module")
def labelled() -> tuple[Root, MemoryObjectStore]:
    """A version of twenty thousand files, all of them labelled."""
    store = MemoryObjectStore()
    files = [Entry(path_of(n), 1, bytes_of(n), pack=b"p" * 32, offset=0) for n in range(FILES)]
    root = build_root([entries_table(files)], store)
    return publish_rows(
        root, "labels", "classification", labels_of(range(FILES), "cat"), store
    ), store


def relabelled(
    root: Root, store: MemoryObjectStore, numbers: range, label: str = "dog"
) -> tuple[Root, LayerRef]:
    rows = labels_of(numbers, label)
    after = publish_rows(root, "labels", "classification", rows, store)
    return after, after.layers[0]


@given(st.lists(states.filter(bool), min_size=2, max_size=6))
@settings(max_examples=40)
def test_every_history_reads_as_if_it_were_written_at_once(history: list[dict[str, str]]) -> None:
    store = MemoryObjectStore()
    layer = write_layer("split", "split", split_of(history[0]), store)
    for values in history[1:]:
        layer = change_layer(layer, split_of(values), store, SMALL)
        assert values_of(read_layer(layer, store)) == values
        whole = write_layer("split", "split", split_of(values), MemoryObjectStore())
        assert (layer.content, layer.rows) == (whole.content, whole.rows)
        assert len(layer.deltas) <= SMALL.max_depth


def test_a_few_labels_over_many_write_little_and_are_found_again(
    labelled: tuple[Root, MemoryObjectStore],
) -> None:
    root, store = labelled
    before = dict(store.objects)
    after, layer = relabelled(root, store, range(0, FILES, 100))
    (written,) = (data for key, data in store.objects.items() if key not in before)
    assert len(written) < len(store.objects[layer_key(layer.object)]) / 20
    assert (layer.object, len(layer.deltas)) == (root.layers[0].object, 1)
    assert decode_root(encode_root(after)) == after
    assert encode_root(decode_root(encode_root(root))) == encode_root(root)
    (diff,) = diff_roots(root, after, store).layers
    assert (len(diff.added), len(diff.removed), len(diff.changed_to)) == (0, 0, FILES // 100)
    again, same = relabelled(after, store, range(0, FILES, 100))
    assert (again, same) == (after, layer)
    _, many = relabelled(after, store, range(FILES // 2), "cow")
    assert many.deltas == ()


def test_who_does_not_know_of_deltas_refuses_instead_of_reading_the_base(
    labelled: tuple[Root, MemoryObjectStore],
) -> None:
    root, store = labelled
    after, layer = relabelled(root, store, range(10))
    said = encode_root(after).decode()
    assert f'"base":"{layer.object.hex()}"' in said
    with pytest.raises(ManifestCorruptError):
        decode_root(said.replace('"deltas":["', '"later":["').encode())


def test_both_sides_labels_are_merged_over_their_deltas(
    labelled: tuple[Root, MemoryObjectStore],
) -> None:
    root, store = labelled
    ours, _ = relabelled(root, store, range(50))
    theirs, _ = relabelled(root, store, range(100, 150), "cow")
    merged = merge_roots(root, ours, theirs, store).root
    assert merged is not None
    assert len(merged.layers[0].deltas) == 2
    found = read_layer(merged.layers[0], store)["label"].value_counts().to_pylist()
    assert {row["values"]: row["counts"] for row in found} == {
        "cat": FILES - 100,
        "dog": 50,
        "cow": 50,
    }
    clash, _ = relabelled(root, store, range(40, 60), "cow")
    assert merge_roots(root, ours, clash, store).conflicts_total == 10


def test_compacting_changes_the_layout_and_nothing_else(
    labelled: tuple[Root, MemoryObjectStore],
) -> None:
    root, store = labelled
    after, layer = relabelled(root, store, range(5))
    compacted = compact(after, store)
    assert compacted.says_the_same(after)
    assert (compacted.layers[0].deltas, compacted.layers[0].content) == ((), layer.content)
    assert read_layer(compacted.layers[0], store).equals(read_layer(layer, store))


def test_garbage_collection_and_archives_know_every_delta(
    labelled: tuple[Root, MemoryObjectStore], tmp_path: Path
) -> None:
    root, store = labelled
    once, _ = relabelled(root, store, range(5))
    after, layer = relabelled(once, store, range(5, 9))
    digest = write_root(after, store)
    reachable = Reachable(tmp_path)
    reachable.add_root(digest, store)
    assert set(reachable.digests("layers")) == set(layer.layout)
    followed = Followed(store)
    followed._root(read_root(digest, store))
    assert {layer_key(name) for name in layer.layout} <= followed.keys


def test_a_delta_that_is_gone_cut_or_anothers_is_detected(
    labelled: tuple[Root, MemoryObjectStore],
) -> None:
    root, store = labelled
    _, layer = relabelled(root, store, range(7))
    other, _ = relabelled(root, store, range(8))
    damaged = MemoryObjectStore()
    damaged.objects = dict(store.objects)
    key = layer_key(layer.deltas[0])
    damaged.objects[key] = store.objects[key][:-1]
    with pytest.raises(ManifestCorruptError, match="bytes hash"):
        read_layer(layer, damaged)
    del damaged.objects[key]
    with pytest.raises(ObjectNotFoundError):
        read_layer(layer, damaged)
    with pytest.raises(ManifestCorruptError, match="does not fit"):
        read_layer(replace(layer, deltas=other.layers[0].deltas), store)
    with pytest.raises(ManifestCorruptError, match="not a Parquet file"):
        read_layer(replace(layer, deltas=(layer.object,)), store)
