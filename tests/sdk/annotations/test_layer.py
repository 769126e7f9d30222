"""Documents become rows of the layer and come back exact to the bit."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.annotations.box_columns import BoxDocument
from atom_sdk.annotations.documents import Document
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
)
from atom_sdk.annotations.layer import (
    PictureRow,
    documents_of,
    objects_schema,
    row_batches,
    rows_table,
)
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation, to_named
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.manifests.layers.object_rows import row_contents
from tests.sdk.annotations import strategies as some
from tests.sdk.annotations.examples import (
    CROWD,
    IDS,
    a_document,
    a_polygon,
    an_object,
    full_document,
    ontology,
)

DIGEST = bytes(range(32))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
named_values: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-9, 99),
    some.floats.filter(lambda it: not it.is_integer()),
    some.texts,
    st.lists(names, max_size=3).map(tuple),
)
named_attributes = st.dictionaries(names, named_values, max_size=2).map(
    lambda it: dict(sorted(it.items()))
)
# Polygons as they are stored may be empty: nothing is checked here.
odd_shapes: st.SearchStrategy[PictureGeometry] = st.sampled_from(
    [Polygon(()), Polygon(((),)), Polygon((((),),)), Polyline(()), Keypoints(())]
)
named_objects = st.builds(
    NamedObject,
    some.ids,
    names,
    some.shapes | odd_shapes,
    named_attributes,
    st.booleans(),
    st.none() | some.texts,
    st.none() | some.ids,
)
named_documents = st.builds(
    NamedDocument,
    st.just(some.WIDTH),
    st.just(some.HEIGHT),
    st.lists(names, max_size=2).map(tuple),
    named_attributes,
    st.lists(named_objects, max_size=5).map(tuple),
    st.lists(st.builds(NamedRelation, some.ids, names, some.ids, some.ids), max_size=2).map(tuple),
)


def row(document: Any, path: str = "a.png", **fields: Any) -> PictureRow:
    return PictureRow(path, DIGEST, document, **fields)


def row_of_ids(document: Any, path: str = "a.png", **fields: Any) -> PictureRow:
    return row(document, path, ontology=ontology(), **fields)


@given(st.lists(named_documents, max_size=3))
def test_rows_and_back_are_the_same_documents(documents: list[NamedDocument]) -> None:
    table = rows_table(row(it, f"{index:03}.png") for index, it in enumerate(documents))
    back = list(documents_of(table))
    assert back == documents
    # Equal floats may differ in their sign of zero.
    assert repr(back) == repr(documents)
    table.validate(full=True)
    assert table.schema == objects_schema()


@given(st.lists(named_documents, max_size=2))
def test_bounds_areas_and_contents_are_those_of_the_shapes(documents: list[NamedDocument]) -> None:
    table = rows_table(row(it, f"{index:03}.png") for index, it in enumerate(documents))
    for document, value in zip(documents, table.to_pylist(), strict=True):
        for item, stored in zip(document.objects, value["objects"], strict=True):
            bounds = [stored[name] for name in ("x", "y", "width", "height")]
            np.testing.assert_allclose(bounds, item.geometry.bounds, rtol=1e-12, atol=1e-9)
            np.testing.assert_allclose(stored["area"], item.geometry.area, rtol=1e-9, atol=1e-6)
    assert table["content"].combine_chunks().equals(row_contents(table))


def test_documents_by_ids_are_stored_by_names() -> None:
    expected = to_named(full_document(), ontology())
    for document in (full_document(), full_document().as_json(), expected):
        fields: dict[str, Any] = {} if document is expected else {"ontology": ontology()}
        table = rows_table([row(document, **fields)])
        assert list(documents_of(table)) == [expected]
    tables = [rows_table([it]) for it in (row_of_ids(full_document()), row(expected))]
    contents = {table["content"][0].as_py() for table in tables}
    assert len(contents) == 1


def test_the_bytes_are_those_of_the_format() -> None:
    parts = [[[0, 0, 9, 0, 9, 9], [5, 3, 7, 3, 7, 5]], [[20, 20, 30, 20, 30, 30]]]
    table = rows_table([row_of_ids(a_document(a_polygon(*parts), an_object(0)))])
    polygon, box = table["objects"][0].as_py()
    flat = [number for part in parts for ring in part for number in ring]
    assert polygon["geometry"] == struct.pack(f"<{len(flat)}d", *flat)
    assert polygon["sizes"] == [2, 3, 3, 1, 3]
    assert polygon["area"] == 40.5 - 2 + 50
    assert box["geometry"] == struct.pack("<4d", 10, 20, 30, 40)
    assert (box["sizes"], box["id"].hex()) == ([], IDS[0])


def test_objects_of_ignore_classes_are_ignored() -> None:
    crowd = a_polygon([[0, 0, 9, 0, 9, 9]], label=CROWD, attributes={})
    table = rows_table([row_of_ids(a_document(crowd, an_object(0)))])
    assert [it["ignore"] for it in table["objects"][0].as_py()] == [True, False]


def test_version_1_is_a_row_without_objects() -> None:
    table = rows_table([row_of_ids({"label_id": 5}, width=7, height=9)])
    assert list(documents_of(table)) == [NamedDocument(7, 9, ("street",))]


def test_provenance_is_kept_and_rows_are_sorted() -> None:
    first = row(NamedDocument(1, 1), "ü.png", source="model", source_model="m@v3", revision=4)
    other = row(NamedDocument(1, 1), "a.png", annotator="x", agreement=0.5, audit_state="accepted")
    table = rows_table([first, other])
    assert table["path"].to_pylist() == ["a.png", "ü.png"]
    assert table["source"].to_pylist() == ["human", "model"]
    assert table["agreement"].to_pylist() == [0.5, None]
    assert table["revision"].to_pylist() == [None, 4]


def test_no_rows_are_a_table_with_the_columns() -> None:
    assert rows_table([]).schema == objects_schema()
    assert list(documents_of(rows_table([]))) == []


def test_batches_bound_rows_and_coordinates() -> None:
    rows = [row(NamedDocument(9, 9, objects=(square(n),)), f"{n:03}") for n in range(10)]
    assert [len(it) for it in row_batches(rows, max_rows=4)] == [4, 4, 2]
    assert [len(it) for it in row_batches(rows, max_rows=4, max_numbers=8)] == [2] * 5
    batches = row_batches(rows, max_rows=4, max_numbers=8)
    whole = pa.Table.from_batches(batches, objects_schema())
    assert list(documents_of(whole)) == [it.document for it in rows]


def square(number: int) -> NamedObject:
    return NamedObject(f"{number:016x}", "car", Box(number, 1, 2, 3))


@pytest.mark.parametrize(
    "value",
    [
        an_object(label=99),
        an_object(attributes={"99": 1}),
        an_object(attributes={"1": 99}),
        an_object(box=[1, 2, 3]),
        an_object(kind="cuboid"),
        an_object(id="12"),
        {},
        7,
    ],
)
def test_a_document_that_does_not_fit_is_a_plain_error(value: Any) -> None:
    document = {"version": 2, "width": 9, "height": 9, "objects": [value]}
    with pytest.raises(DocumentError):
        rows_table([row_of_ids(document)])


def test_a_document_needs_its_ontology() -> None:
    with pytest.raises(TypeError):
        rows_table([row(Document(1, 1))])
    with pytest.raises(TypeError):
        rows_table([row_of_ids(NamedDocument(1, 1))])


@pytest.mark.parametrize(
    ("kind", "data", "sizes"),
    [
        ("box", b"1234567", []),
        ("box", bytes(24), []),
        ("point", bytes(24), []),
        ("polygon", bytes(48), [1, 2]),
        ("polygon", bytes(48), [-1]),
        ("keypoints", bytes(16), []),
        ("cuboid", b"", []),
    ],
)
def test_bytes_that_do_not_fit_their_kind_are_a_plain_error(
    kind: str, data: bytes, sizes: list[int]
) -> None:
    stored = rows_table([row(NamedDocument(9, 9, objects=(square(1),)))]).to_pylist()
    stored[0]["objects"][0] |= {"kind": kind, "geometry": data, "sizes": sizes}
    table = pa.Table.from_pylist(stored, objects_schema())
    with pytest.raises(DocumentError):
        list(documents_of(table))


def test_a_point_and_keypoints_with_a_box() -> None:
    shapes: tuple[PictureGeometry, ...] = (
        Point(0.5, -0.0),
        Keypoints(((1.0, 2.0, 2.0),), Box(0.0, 0.0, 3.0, 4.0)),
    )
    objects = tuple(NamedObject(IDS[n], "car", it) for n, it in enumerate(shapes))
    (back,) = documents_of(rows_table([row(NamedDocument(9, 9, objects=objects))]))
    assert back.objects == objects


def boxes_and_json() -> tuple[BoxDocument, dict[str, Any]]:
    """Return the same two boxes, one of an ignored class, as columns and as JSON."""
    numbers = [0.5, 1.25, 2.5, -0.0, 0.1, 0.2, 1e300, 3.5]
    document = BoxDocument(9, 7, bytes(range(16)), [1, CROWD], struct.pack("<8d", *numbers))
    objects = [
        {"id": bytes(range(8)).hex(), "label": 1, "kind": "box", "box": numbers[:4]},
        {"id": bytes(range(8, 16)).hex(), "label": CROWD, "kind": "box", "box": numbers[4:]},
    ]
    return document, {"version": 2, "width": 9, "height": 7, "objects": objects}


def test_boxes_as_columns_are_the_rows_of_their_json() -> None:
    columns, plain = boxes_and_json()
    assert repr(columns.as_json()) == repr(plain)
    polygon = a_document(a_polygon([[0, 0, 9, 0, 9, 9]]))
    # Either kind first, alone and among others; a document without objects too.
    for order in ("b", "bb", "bp", "pb", "bpbbp", "be", "eb", "e"):
        tables = [
            rows_table(
                row_of_ids({"b": boxes, "p": polygon, "e": empty}[letter], f"{index}.png")
                for index, letter in enumerate(order)
            )
            for boxes, empty in (
                (columns, BoxDocument(9, 7, b"", [], b"")),
                (plain, {"version": 2, "width": 9, "height": 7}),
            )
        ]
        tables[0].validate(full=True)
        assert tables[0].equals(tables[1])


def test_a_box_of_an_unknown_class_is_a_plain_error() -> None:
    columns, _ = boxes_and_json()
    columns.labels = [1, 99]
    with pytest.raises(DocumentError, match="99"):
        rows_table([row_of_ids(columns)])


@pytest.mark.parametrize(
    ("ids", "labels", "boxes", "fault"),
    [
        (bytes(8), [1], bytes(24), "four numbers"),
        (bytes(7), [1], bytes(32), "8 bytes"),
        (bytes(8), [1, 2], bytes(32), "8 bytes"),
        (bytes(16), [1, 2], bytes(32), "four numbers"),
        (bytes(8), [], bytes(32), "8 bytes"),
    ],
)
def test_bytes_that_are_not_so_many_boxes_are_refused(
    ids: bytes, labels: list[int], boxes: bytes, fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        BoxDocument(9, 9, ids, labels, boxes)


def test_boxes_need_their_ontology() -> None:
    boxes = BoxDocument(9, 9, bytes(8), [1], bytes(32))
    with pytest.raises(TypeError):
        rows_table([row(boxes)])
