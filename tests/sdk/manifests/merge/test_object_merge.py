"""Merges of what two people drew: by picture, by object, by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    Root,
    build_root,
    entries_table,
    merge_roots,
    read_layer,
    write_layer,
)
from atom_sdk.manifests.merge.merge import Merged, MergePlan
from atom_sdk.manifests.merge.object_order import merge_order
from atom_sdk.manifests.merge.resolution import Resolution
from tests.sdk.manifests.drawn import Drawn, box, bytes_of, drawn, object_id, picture

PATHS = ("a", "b", "c")


def root_of(store: MemoryObjectStore, *pictures: Drawn, paths: Any = PATHS) -> Root:
    entries = [Entry(each, 1, bytes_of(each), pack=b"p" * 32, offset=0) for each in paths]
    root = build_root([entries_table(entries)], store)
    if not pictures:
        return root
    return root.with_layers(write_layer("objects", "objects", drawn(*pictures), store))


def rows_of(root: Root | None, store: MemoryObjectStore) -> dict[str, Drawn]:
    assert root is not None
    layer = root.layer("objects")
    rows = read_layer(layer, store).to_pylist() if layer else []
    return {row["path"]: row for row in rows}


def merged(
    base: list[Drawn], ours: list[Drawn], theirs: list[Drawn], **plan: Any
) -> tuple[Merged, dict[str, Drawn]]:
    store = MemoryObjectStore()
    was, mine, other = (root_of(store, *side) for side in (base, ours, theirs))
    found = merge_roots(was, mine, other, store, MergePlan(**plan))
    return found, rows_of(found.root, store) if found.root else {}


def test_different_objects_of_one_picture_merge() -> None:
    base = [picture("a", box("1"), box("2"), box("3"))]
    ours = [picture("a", box("1", "bus"), box("2"), box("3"), box("4"))]
    theirs = [picture("a", box("1"), box("2", at=(1, 1, 5, 5)), box("5"))]

    found, rows = merged(base, ours, theirs)

    assert not found.conflicts
    objects = {each["id"]: each for each in rows["a"]["objects"]}
    assert objects.keys() == {object_id(name) for name in "1245"}
    assert objects[object_id("1")]["label"] == "bus"
    assert (objects[object_id("2")]["width"], objects[object_id("2")]["area"]) == (5.0, 25.0)


def test_fields_of_one_object_merge() -> None:
    base = [picture("a", box("1", attributes='{"color":"red","old":1}'))]
    ours = [picture("a", box("1", "bus", attributes='{"color":"blue","old":1}'))]
    theirs = [picture("a", box("1", at=(0, 0, 1, 1), attributes='{"color":"red","new":true}'))]

    found, rows = merged(base, ours, theirs)

    assert not found.conflicts
    (only,) = rows["a"]["objects"]
    assert (only["label"], only["area"]) == ("bus", 1.0)
    assert json.loads(only["attributes"]) == {"color": "blue", "new": True}


def test_an_object_that_both_changed_is_a_conflict_with_its_name() -> None:
    base, name = [picture("a", box("1")), picture("b")], object_id("1").hex()
    ours = [picture("a", box("1", "bus"), box("2")), picture("b")]
    theirs = [picture("a", box("1", "van"), box("3")), picture("b", box("9"))]

    found, _ = merged(base, ours, theirs)

    assert found.root is None
    (conflict,) = found.conflicts
    assert (conflict.path, conflict.layer) == ("a", "objects")
    assert conflict.field == f"objects.{name}.label"
    assert (conflict.our_value, conflict.their_value) == ("bus", "van")


@pytest.mark.parametrize("take", ["ours", "theirs"])
def test_a_conflict_is_settled_by_object_and_field(take: Any) -> None:
    base, field = [picture("a", box("1"))], f"objects.{object_id('1').hex()}.label"
    ours, theirs = [picture("a", box("1", "bus"), box("2"))], [picture("a", box("1", "van"))]
    resolution = Resolution("a", take, "objects", field)

    found, rows = merged(base, ours, theirs, resolutions=(resolution,))

    assert (found.settled, found.idle, found.conflicts_total) == (1, (), 0)
    assert [each["label"] for each in rows["a"]["objects"]] == [
        {"ours": "bus", "theirs": "van"}[take],
        "car",
    ]


@pytest.mark.parametrize(("policy", "left"), [("ours", ["2"]), ("theirs", ["1", "2"])])
def test_one_side_removed_what_the_other_changed(policy: Any, left: list[str]) -> None:
    base = [picture("a", box("1"), box("2"))]
    ours, theirs = [picture("a", box("2"))], [picture("a", box("1", "van"), box("2", "van"))]

    found, rows = merged(base, ours, theirs, policy=policy)

    (conflict,) = found.conflicts
    assert conflict.field == f"objects.{object_id('1').hex()}"
    assert (conflict.ours, conflict.theirs) == ("removed", "changed")
    assert (conflict.our_value, conflict.their_value) == ("", "van: box [10, 20, 30, 40]")
    assert [each["id"] for each in rows["a"]["objects"]] == [object_id(name) for name in left]
    assert rows["a"]["objects"][-1]["label"] == "van"


def test_both_drew_on_a_picture_without_a_row() -> None:
    found, rows = merged([], [picture("a", box("1"))], [picture("a", box("2"))])

    assert not found.conflicts
    assert {each["id"] for each in rows["a"]["objects"]} == {object_id("1"), object_id("2")}


def test_a_row_that_one_side_removed_and_the_other_changed() -> None:
    found, _ = merged([picture("a", box("1"))], [], [picture("a", box("1"), box("2"))])

    (conflict,) = found.conflicts
    assert (conflict.path, conflict.field, conflict.our_value) == ("a", "", "")
    assert conflict.their_value == "2"


def test_a_moved_file_takes_along_what_the_other_side_drew() -> None:
    store = MemoryObjectStore()
    base = root_of(store, picture("a", box("1")))
    theirs = root_of(store, picture("a", box("1"), box("2")))
    entries = [
        Entry(path, 1, bytes_of(old), pack=b"p" * 32, offset=0)
        for path, old in (("b", "b"), ("c", "c"), ("z", "a"))
    ]
    moved = picture("z", box("1", "bus"), digest=bytes_of("a"))
    layer = write_layer("objects", "objects", drawn(moved), store)
    ours = build_root([entries_table(entries)], store).with_layers(layer)

    found = merge_roots(base, ours, theirs, store)

    rows = rows_of(found.root, store)
    assert [each["label"] for each in rows["z"]["objects"]] == ["bus", "car"]


def test_labels_relations_and_provenance_merge() -> None:
    relation = {
        "id": object_id("r"),
        "name": "on",
        "subject": object_id("1"),
        "object": object_id("2"),
    }
    other = relation | {"id": object_id("s"), "subject": object_id("3")}
    both = [box("1"), box("2"), box("3")]
    base = picture("a", *both, labels=["day", "rain"], relations=[other], revision=1)
    ours = base | {"labels": ["day", "fog"], "relations": [other, relation], "revision": 2}
    theirs = base | {"labels": ["day", "rain", "dusk"], "objects": both[:2], "source": "model"}

    found, rows = merged([base], [ours], [theirs])

    assert not found.conflicts
    assert rows["a"]["labels"] == ["day", "dusk", "fog"]
    assert [each["id"] for each in rows["a"]["relations"]] == [object_id("r")]
    assert (rows["a"]["source"], rows["a"]["revision"]) == ("human", None)


objects = st.lists(
    st.builds(
        box,
        st.sampled_from("123456"),
        st.sampled_from(["car", "bus", "dog"]),
        st.sampled_from([(0.0, 0.0, 1.0, 1.0), (2.0, 2.0, 3.0, 3.0)]),
        attributes=st.sampled_from([None, '{"a":1}', '{"a":true}', '{"b":2}']),
    ),
    max_size=5,
    unique_by=lambda each: each["id"],
)
sides = st.dictionaries(st.sampled_from(PATHS), objects, max_size=3).map(
    lambda drawn: [picture(path, *found) for path, found in sorted(drawn.items())]
)


def said(rows: dict[str, Drawn]) -> Any:
    return {path: row["content"] for path, row in rows.items()}


@given(sides, sides, sides)
def test_sides_may_change_places(base: list[Drawn], one: list[Drawn], other: list[Drawn]) -> None:
    left, right = merged(base, one, other), merged(base, other, one)

    assert left[0].conflicts_total == right[0].conflicts_total
    assert said(left[1]) == said(right[1])
    mine, yours = (
        merged(base, one, other, policy="ours"),
        merged(base, other, one, policy="theirs"),
    )
    assert said(mine[1]) == said(yours[1])


@given(sides, sides)
def test_what_one_side_did_alone_is_what_it_did(base: list[Drawn], side: list[Drawn]) -> None:
    for ours, theirs in ((base, side), (side, base), (side, side)):
        found, rows = merged(base, ours, theirs)

        assert not found.conflicts
        assert said(rows) == said({row["path"]: row for row in drawn(*side).to_pylist()})


@given(sides, sides, sides)
def test_nothing_is_lost(base: list[Drawn], one: list[Drawn], other: list[Drawn]) -> None:
    """Each object that a side has, and that neither removed, is in the merge."""
    found, rows = merged(base, one, other)
    if found.conflicts_total:
        return
    names = [
        {(row["path"], each["id"]) for row in side for each in row["objects"]}
        for side in (base, one, other)
    ]
    kept = {(path, each["id"]) for path, row in rows.items() for each in row["objects"]}
    was, mine, yours = names
    assert kept == (mine & yours) | ((mine | yours) - was)


ids = st.lists(st.sampled_from([bytes([n]) for n in range(1, 8)]), unique=True)


@given(ids, ids, ids, ids)
def test_orders_keep_all_and_favour_nobody(
    base: list[bytes], ours: list[bytes], theirs: list[bytes], gone: list[bytes]
) -> None:
    kept = ({*ours} | {*theirs}) - {*gone}

    order, is_disputed = merge_order(base, ours, theirs, kept)

    assert sorted(order) == sorted(kept)
    swapped, also = merge_order(base, theirs, ours, kept)
    assert is_disputed == also
    if not is_disputed:
        assert order == swapped
    if kept == {*ours} and base == theirs:
        assert order == ours
