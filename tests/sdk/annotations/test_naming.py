"""Documents by names and back; names that are missing are named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom_sdk.annotations.documents import AnnotatedObject, Document
from atom_sdk.annotations.geometry import Box
from atom_sdk.annotations.naming import NamedDocument, NamedObject, to_document, to_named
from atom_sdk.annotations.problems import DocumentError
from tests.sdk.annotations.examples import CAR, IDS, a_document, an_object, full_document, ontology


def test_names_and_back_is_the_same_document() -> None:
    named = to_named(full_document(), ontology())
    assert to_document(named, ontology()) == full_document()


def test_names_stand_for_ids() -> None:
    named = to_named(full_document(), ontology())
    assert named.labels == ("street",)
    assert named.attributes == {"weather": "rain", "note": "寒い"}
    assert named.objects[0].attributes == {
        "colour": "red",
        "doors": 4,
        "plate": "AB-12",
        "readable": True,
        "parts": ("roof rack", "trailer"),
    }
    assert (named.objects[1].label, named.relations[0].name) == ("قارئ", "drives")


def test_a_value_that_does_not_apply_is_left_out() -> None:
    document = a_document(an_object(attributes={"1": 1, "3": "AB-1", "4": False}))
    named = to_named(document, ontology())
    assert named.objects[0].attributes == {"colour": "red", "readable": False}


def test_unknown_ids_are_all_named() -> None:
    objects = (
        AnnotatedObject(IDS[0], 99, Box(1, 1, 2, 2)),
        AnnotatedObject(IDS[1], CAR, Box(1, 1, 2, 2), {1: 77}),
        AnnotatedObject(IDS[2], CAR, Box(1, 1, 2, 2), {99: 1}),
    )
    with pytest.raises(DocumentError) as caught:
        to_named(Document(9, 9, labels=(98,), objects=objects), ontology())
    pointers = [it.pointer for it in caught.value.problems]
    assert pointers == [
        "labels/0",
        "objects/0/label",
        "objects/1/attributes",
        "objects/2/attributes",
    ]


def test_unknown_names_are_all_named() -> None:
    item = NamedObject(IDS[0], "car", Box(1, 1, 2, 2), {"colour": "green", "size": 3})
    other = replace(item, id=IDS[1], label="ship", attributes={})
    with pytest.raises(DocumentError) as caught:
        to_document(NamedDocument(9, 9, objects=(item, other)), ontology())
    pointers = [it.pointer for it in caught.value.problems]
    assert pointers == [
        "objects/0/attributes/colour",
        "objects/0/attributes/size",
        "objects/1/label",
    ]
