"""Layers of objects: stored, compared and hashed by what is drawn, whatever the storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.archive.errors import ArchiveCorruptError
from atom_sdk.archive.follow import Followed
from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    build_root,
    diff_roots,
    entries_table,
    read_layer,
    write_layer,
)
from atom_sdk.manifests.build import compact
from atom_sdk.manifests.layers.deltas import LayerDeltaRule
from atom_sdk.manifests.layers.layers import change_layer
from atom_sdk.manifests.layers.object_rows import OBJECTS_SCHEMA, row_contents
from atom_sdk.manifests.layers.pieces import change_layer_pieces, layer_pieces
from atom_sdk.manifests.objects import layer_key
from tests.sdk.manifests.drawn import Drawn, box, bytes_of, drawn, picture

SMALL = LayerDeltaRule(min_rows=1, max_share=1.0, max_depth=3)
texts = st.none() | st.sampled_from(["", "a", "ab", "车", "b"])


def objects(name: str) -> st.SearchStrategy[Drawn]:
    return st.builds(
        lambda label, x, text, ignore, attributes: box(
            name, label, (x, 1.0, 2.0, 3.0), text=text, ignore=ignore, attributes=attributes
        ),
        st.sampled_from(["car", "dog", ""]),
        st.sampled_from([0.0, 0.1, -0.0]),
        texts,
        st.booleans(),
        texts,
    )


rows = st.builds(
    lambda found, labels, attributes: picture("a", *found, labels=labels, attributes=attributes),
    st.lists(
        st.sampled_from("abc").flatmap(objects), max_size=3, unique_by=lambda each: each["id"]
    ),
    st.lists(st.sampled_from(["", "car", "ca", "r"]), max_size=2),
    texts,
)


def said(row: Drawn) -> Any:
    """All that a row's annotations say; minus zero is another number to bits than zero."""
    parts = [
        (*(each[n] for n in ("id", "label", "geometry", "ignore", "text", "attributes")),)
        for each in row["objects"]
    ]
    return parts, row["labels"], row["attributes"]


@given(rows, rows)
def test_contents_are_equal_where_annotations_are(one: Drawn, other: Drawn) -> None:
    left, right = (drawn(row)["content"][0].as_py() for row in (one, other))

    assert (left == right) == (said(one) == said(other))


@given(st.lists(rows, min_size=1, max_size=5), st.integers(0, 4))
def test_a_content_follows_from_its_row_alone(found: list[Drawn], first: int) -> None:
    table = drawn(*({**row, "path": str(number)} for number, row in enumerate(found)))

    whole = row_contents(table)

    assert whole.slice(first).equals(row_contents(table.slice(first)))
    chunked = pa.concat_tables([table.slice(0, first), table.slice(first)])
    assert whole.equals(row_contents(chunked))


def test_what_follows_from_the_geometry_is_no_content() -> None:
    """Another sum of the same area in its last bit is no other annotation."""
    one, other = drawn(picture("a", box("1"))), drawn(picture("a", box("1", area=1200.0000000001)))

    assert one["content"].equals(other["content"])


def many(count: int = 9000) -> pa.Table:
    return drawn(
        *(picture(f"{n:05}.png", *(box(str(m)) for m in range(n % 4))) for n in range(count))
    )


def test_rows_come_back_as_they_were_written() -> None:
    store, table = MemoryObjectStore(), many()

    ref = write_layer("objects", "objects", table, store)

    assert read_layer(ref, store).equals(table)
    assert read_layer(ref, store).schema.equals(OBJECTS_SCHEMA)
    # A reader of some pictures takes few others along.
    stored = pq.ParquetFile(pa.BufferReader(store.get(layer_key(ref.object))))
    assert stored.metadata.num_row_groups == 3


def test_a_small_change_is_laid_beside_and_says_the_same() -> None:
    store, table = MemoryObjectStore(), drawn(*(picture(str(n), box("1")) for n in range(9)))
    before = write_layer("objects", "objects", table, store)
    rows = table.to_pylist()
    rows[3]["objects"][0]["text"] = "AB-1"
    changed = drawn(*rows[1:], picture("x", box("7")))

    after = change_layer(before, changed, store, SMALL)

    assert len(after.deltas) == 1
    assert read_layer(after, store).equals(changed)
    assert after.content == write_layer("objects", "objects", changed, store).content
    part = diff_roots(rooted(table, store, before), rooted(table, store, after), store).layers[0]
    assert part.changed_to["path"].to_pylist() == ["3"]
    assert (part.added["path"].to_pylist(), part.removed["path"].to_pylist()) == (["x"], ["0"])
    flat = compact(rooted(table, store, after), store).layers[0]
    assert not flat.deltas
    assert flat.content == after.content
    assert read_layer(flat, store).equals(changed)


def rooted(table: pa.Table, store: MemoryObjectStore, ref: Any) -> Any:
    entries = [
        Entry(path, 1, bytes_of(path), pack=b"p" * 32, offset=0)
        for path in [*table["path"].to_pylist(), "x"]
    ]
    return build_root([entries_table(entries)], store).with_layers(ref)


def test_pieces_write_what_is_written_at_once(tmp_path: Path) -> None:
    store, table = MemoryObjectStore(), many()
    whole = write_layer("objects", "objects", table, store)
    empty = OBJECTS_SCHEMA.empty_table()
    pairs = ((empty, table.slice(start, 1000)) for start in range(0, len(table), 1000))

    pieces = change_layer_pieces(None, ("objects", "objects"), pairs, store, tmp_path)

    assert pieces is not None
    assert pieces.content == whole.content
    read = list(layer_pieces(pieces, store, tmp_path))
    assert max(map(len, read)) <= 4096
    assert pa.concat_tables(read).combine_chunks().equals(table)


@given(st.lists(rows, min_size=2, max_size=6))
def test_a_diff_holds_all_that_differs(found: list[Drawn]) -> None:
    """The rows of a diff, laid over the old ones, give the new ones."""
    half = len(found) // 2
    old, new = (
        drawn(*({**row, "path": f"{n}"} for n, row in enumerate(side)))
        for side in (found[:half], found[half:])
    )
    store = MemoryObjectStore()
    before, after = (write_layer("objects", "objects", table, store) for table in (old, new))
    root = rooted(pa.concat_tables([new.slice(0, 1)]), store, before)

    parts = diff_roots(root, root.with_layers(after), store).layers

    kept = {row["path"]: row for row in old.to_pylist()}
    for part in parts:
        for row in part.removed.to_pylist():
            del kept[row["path"]]
        kept |= {
            row["path"]: row for table in (part.added, part.changed_to) for row in table.to_pylist()
        }
    assert [kept[path] for path in sorted(kept)] == new.to_pylist()


def test_an_archive_whose_rows_lie_is_refused() -> None:
    store, table = MemoryObjectStore(), drawn(picture("a", box("1")))
    field = OBJECTS_SCHEMA.field("objects")
    position = OBJECTS_SCHEMA.get_field_index("objects")
    lying = table.set_column(position, field, pa.array([[]], field.type))
    followed = Followed(store)

    followed._layer(write_layer("objects", "objects", table, store))
    with pytest.raises(ArchiveCorruptError, match="not what its root says"):
        followed._layer(write_layer("objects", "objects", lying, store))
