"""Boxes go from their stored form into the layer as they would one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.labeling.engines import packing
from atom.labeling.engines.documents import decode, decode_for_layer, encode
from atom_sdk.annotations.box_columns import BoxDocument
from atom_sdk.annotations.documents import AnnotatedObject, Document
from atom_sdk.annotations.geometry import Box
from atom_sdk.annotations.layer import PictureRow, row_batches, rows_table
from atom_sdk.annotations.ontology import Label, Ontology
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.manifests import MemoryObjectStore, write_layer
from tests.sdk.annotations import strategies as some

LABELS = tuple(Label(number, f"车 {number}", ignore=number == 2) for number in range(4))
ONTOLOGY = Ontology(LABELS)
BOX = {"id": "9f86d081884c7d65", "kind": "box", "label": 1, "box": [0.1, 2.0, -0.0, 1e300]}
SIZES = {"version": 2, "width": 64, "height": 48}
known_labels = st.sampled_from([label.id for label in LABELS])
# Whole numbers are stored as text.
parts = st.floats(0.01, 40).filter(lambda number: not number.is_integer())
plain_boxes = st.builds(
    AnnotatedObject, some.ids, known_labels, st.builds(Box, parts, parts, parts, parts)
)
any_objects = some.objects.flatmap(
    lambda item: known_labels.map(lambda label: replace(item, label=label, attributes={}))
)
# Half of them of nothing but boxes, so that both ways meet in a batch.
object_lists = st.lists(plain_boxes, max_size=5) | st.lists(any_objects | plain_boxes, max_size=4)
documents = st.builds(
    Document,
    st.just(some.WIDTH),
    st.just(some.HEIGHT),
    st.lists(known_labels, max_size=1).map(tuple),
    objects=object_lists.map(tuple),
)
Stored = list[bytes]
Read = Callable[[bytes], dict[str, Any] | BoxDocument]


def rows(stored: Stored, read: Read) -> list[PictureRow]:
    return [
        PictureRow(f"{index:03}.png", bytes(32), read(data), ONTOLOGY)
        for index, data in enumerate(stored)
    ]


def written(stored: Stored, read: Read) -> dict[str, bytes]:
    store = MemoryObjectStore()
    write_layer("objects", "objects", rows_table(rows(stored, read)), store)
    return store.objects


@given(st.lists(documents, max_size=6))
def test_the_layer_has_the_same_bytes_as_one_of_single_objects(drawn: list[Document]) -> None:
    stored = [encode(document.as_json()).data for document in drawn]
    assert written(stored, decode_for_layer) == written(stored, decode)
    table = rows_table(rows(stored, decode_for_layer))
    table.validate(full=True)
    assert table.equals(rows_table(rows(stored, decode)))


@given(st.lists(plain_boxes, min_size=1, max_size=5))
def test_boxes_become_the_same_json(boxes: list[AnnotatedObject]) -> None:
    data = encode(Document(64, 48, objects=tuple(boxes)).as_json()).data
    columns = decode_for_layer(data)
    assert isinstance(columns, BoxDocument)
    # Equal floats may differ in their sign of zero.
    assert json.dumps(columns.as_json(), sort_keys=True) == json.dumps(decode(data), sort_keys=True)


def test_zipped_coordinates_stay_columns() -> None:
    equal = [BOX | {"id": f"{number:016x}"} for number in range(50)]
    data = encode({**SIZES, "objects": equal}).data
    assert data[:1] == b"\x03"
    columns = decode_for_layer(data)
    assert isinstance(columns, BoxDocument)
    assert columns.as_json() == decode(data)


@pytest.mark.parametrize(
    "document",
    [
        {**SIZES, "objects": [BOX | {"attributes": {"1": 2}}]},
        {**SIZES, "objects": [BOX | {"ignore": True}]},
        {**SIZES, "objects": [BOX, BOX | {"text": "a"}]},
        {**SIZES, "objects": [BOX | {"track": BOX["id"]}]},
        {**SIZES, "objects": [BOX | {"kind": "rotated_box", "angle": 1.0}]},
        {**SIZES, "objects": [BOX | {"box": [1.0, 2.0, 3.0]}]},
        {**SIZES, "objects": [BOX | {"box": [1, 2, 3, 4]}]},
        {**SIZES, "objects": [BOX], "labels": [1]},
        {**SIZES, "objects": [BOX], "attributes": {"1": 2}},
        {**SIZES, "objects": [BOX], "relations": []},
        {"version": 2, "objects": [BOX]},
        {**SIZES, "objects": []},
        SIZES,
        {"label_id": 3},
    ],
)
def test_all_else_is_read_object_by_object(document: dict[str, Any]) -> None:
    assert decode_for_layer(encode(document).data) == document


def test_damaged_bytes_fail_as_they_do_one_by_one() -> None:
    data = packing.pack({**SIZES, "objects": [BOX, BOX | {"id": "0" * 16}]})
    assert data
    for damaged in (data[:-8], data[:-1], data[:-40], data[:40]):
        errors = []
        for read in (decode, decode_for_layer):
            with pytest.raises(Exception) as raised:  # noqa: PT011 the errors are compared
                rows_table(rows([damaged], read))
            errors.append((raised.type, str(raised.value)))
        assert errors[0] == errors[1]


@pytest.mark.parametrize("read", [decode, decode_for_layer])
def test_a_label_that_the_ontology_lacks_is_refused(read: Read) -> None:
    stored = [encode({**SIZES, "objects": [BOX | {"label": 9}]}).data]
    with pytest.raises(DocumentError, match="label"):
        rows_table(rows(stored, read))


def test_coordinates_of_boxes_end_a_batch_too() -> None:
    stored = [encode({**SIZES, "objects": [BOX]}).data] * 5
    batches = row_batches(rows(stored, decode_for_layer), max_numbers=8)
    assert [len(batch) for batch in batches] == [2, 2, 1]


def test_threads_read_at_once() -> None:
    documents = [
        {**SIZES, "objects": [BOX | {"label": number, "id": f"{number:016x}"}] * 30}
        for number in range(200)
    ]
    stored = [encode(document).data for document in documents]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(decode, stored * 5)) == documents * 5
