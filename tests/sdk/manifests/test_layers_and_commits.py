"""Layers over entries, and commits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from atom_sdk import errors
from atom_sdk.manifests import (
    Commit,
    MemoryObjectStore,
    build_root,
    decode_commit,
    encode_commit,
    layer_table,
    merge_layer,
    read_commit,
    read_layer,
    write_commit,
    write_layer,
)
from atom_sdk.manifests.layers.layers import current_rows
from tests.sdk.manifests.strategies import entry, table_of


def _label(path: str, label: str, version: int = 1, **more: object) -> dict[str, object]:
    return {
        "path": path,
        "digest": entry(path, version).digest,
        "label": label,
        "source": "human",
        **more,
    }


def test_a_layer_comes_back_with_its_values_and_nulls() -> None:
    store = MemoryObjectStore()
    rows = [
        _label("b", "cat", annotator="p7", agreement=0.5, revision=3, audit_state="passed"),
        _label("a", "dog"),
    ]
    layer = write_layer("labels", "classification", layer_table("classification", rows), store)
    assert (layer.name, layer.kind, layer.rows) == ("labels", "classification", 2)
    found = read_layer(layer, store).to_pylist()
    assert [row["label"] for row in found] == ["dog", "cat"]
    assert found[0]["agreement"] is None
    assert (found[1]["agreement"], found[1]["revision"], found[1]["annotator"]) == (0.5, 3, "p7")


def test_the_content_digest_of_a_layer_depends_on_values_only() -> None:
    store = MemoryObjectStore()
    rows = [_label("a", "cat"), _label("b", "dog")]
    first = write_layer("x", "classification", layer_table("classification", rows), store)
    again = write_layer("y", "classification", layer_table("classification", rows[::-1]), store)
    rows[0]["label"] = "cow"
    other = write_layer("x", "classification", layer_table("classification", rows), store)
    assert first.content == again.content != other.content


def test_a_label_of_other_bytes_counts_for_nothing() -> None:
    rows = [_label("a", "cat"), _label("b", "dog", version=99), _label("gone", "cow")]
    found = current_rows(layer_table("classification", rows), table_of({"a": 1, "b": 1, "c": 1}))
    assert found.column("label").to_pylist() == ["cat", None, None]


def test_rows_of_a_layer_are_replaced_added_and_removed() -> None:
    old = layer_table("classification", [_label("a", "1"), _label("b", "2"), _label("c", "3")])
    new = layer_table("classification", [_label("b", "two"), _label("d", "4")])
    merged = merge_layer(old, new, ["c"])
    assert merged.column("path").to_pylist() == ["a", "b", "d"]
    assert merged.column("label").to_pylist() == ["1", "two", "4"]


def test_an_unknown_kind_or_column_is_refused() -> None:
    store = MemoryObjectStore()
    with pytest.raises(errors.LayerKindError, match="boxes"):
        layer_table("boxes", [])
    with pytest.raises(errors.LayerKindError, match="columns"):
        write_layer("split", "split", layer_table("classification", [_label("a", "1")]), store)
    with pytest.raises(errors.LayerKindError, match="fit"):
        layer_table("split", [{"path": "a", "digest": b"short", "value": "train"}])


def test_two_rows_for_one_path_are_refused() -> None:
    twice = layer_table("classification", [_label("a", "1"), _label("a", "2")])
    with pytest.raises(errors.EntryOrderError):
        write_layer("labels", "classification", twice, MemoryObjectStore())


def test_a_layer_is_replaced_by_name_and_can_be_dropped() -> None:
    store = MemoryObjectStore()
    root = build_root([table_of({"a": 1})], store)
    first = write_layer("labels", "classification", layer_table("classification", []), store)
    rows = layer_table("classification", [_label("a", "1")])
    second = write_layer("labels", "classification", rows, store)
    changed = root.with_layers(first).with_layers(second)
    assert changed.layers == (second,)
    assert changed.content == root.content
    assert changed.without_layer("labels") == root


COMMIT = Commit(
    dataset="digits",
    root=bytes(32),
    parents=(bytes([1] * 32),),
    author="ada",
    message="Add the Zürich scans",
    created_at=datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
    provenance={"run": None, "inputs": ["a", 1]},
)


def test_a_commit_comes_back_and_is_named_by_its_bytes() -> None:
    store = MemoryObjectStore()
    digest = write_commit(COMMIT, store)
    assert read_commit(digest, store) == COMMIT
    assert list(store.objects) == [f"commits/{digest.hex()}.json"]


def test_the_same_moment_in_another_zone_is_the_same_commit() -> None:
    moved = COMMIT.created_at.astimezone(timezone(timedelta(hours=8)))
    again = Commit(
        **{name: getattr(COMMIT, name) for name in COMMIT.__slots__} | {"created_at": moved}
    )
    assert encode_commit(again) == encode_commit(COMMIT)


def test_a_commit_says_what_its_readme_says() -> None:
    assert json.loads(encode_commit(COMMIT)) == {
        "format": "atom-commit/1",
        "dataset": "digits",
        "root": "00" * 32,
        "parents": ["01" * 32],
        "author": "ada",
        "message": "Add the Zürich scans",
        "created_at": "2026-01-02T03:04:05.000006Z",
        "provenance": {"run": None, "inputs": ["a", 1]},
    }


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"not json", errors.ManifestCorruptError),
        (b"[]", errors.ManifestCorruptError),
        (b'{"format":"atom-commit/9"}', errors.UnknownFormatError),
        (b'{"format":"atom-commit/1"}', errors.ManifestCorruptError),
    ],
)
def test_a_commit_that_cannot_be_read_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        decode_commit(data)
