"""Labels that are added to labels: nothing twice, nothing lost."""

from __future__ import annotations

from atom_sdk.annotations.layer import PictureRow, documents_of, rows_table
from atom_sdk.annotations.merging import add_document, add_rows
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation
from atom_sdk.annotations.shapes import Box

DIGEST, OTHER = b"\1" * 32, b"\2" * 32
A, B = "a" * 16, "b" * 16


def box(number: str, x: float = 1, label: str = "car") -> NamedObject:
    return NamedObject(number, label, Box(x, 2, 3, 4))


def drawn(*objects: NamedObject, **fields: object) -> NamedDocument:
    return NamedDocument(64, 48, objects=objects, **fields)  # type: ignore[arg-type]


def test_objects_of_both_are_kept_and_the_same_ones_once() -> None:
    merged = add_document(drawn(box(A)), drawn(box(A), box(B, 9)))
    assert merged.objects == (box(A), box(B, 9))
    assert add_document(merged, drawn(box(A), box(B, 9))) == merged


def test_an_id_that_means_another_object_gets_a_new_one_once() -> None:
    merged = add_document(drawn(box(A)), drawn(box(A, 20)))
    assert [each.geometry.bounds[0] for each in merged.objects] == [1, 20]
    assert len({each.id for each in merged.objects}) == 2
    assert add_document(merged, drawn(box(A, 20))) == merged


def test_relations_follow_their_objects_to_new_ids() -> None:
    drives = NamedRelation("c" * 16, "drives", A, B)
    coming = drawn(box(A, 20), box(B, 30), relations=(drives,))
    merged = add_document(drawn(box(A)), coming)
    [relation] = merged.relations
    ends = {each.id: each.geometry.bounds[0] for each in merged.objects}
    assert (ends[relation.subject], ends[relation.object]) == (20, 30)


def test_a_value_of_the_picture_stays_and_missing_ones_are_added() -> None:
    before = drawn(labels=("day",), attributes={"rain": True})
    coming = drawn(labels=("day", "street"), attributes={"rain": False, "city": "Köln"})
    merged = add_document(before, coming)
    assert merged.labels == ("day", "street")
    assert merged.attributes == {"rain": True, "city": "Köln"}


def test_rows_of_pictures_that_changed_are_replaced_and_others_stay() -> None:
    before = rows_table(
        [
            PictureRow("a.png", DIGEST, drawn(box(A))),
            PictureRow("b.png", OTHER, drawn(box(A))),
            PictureRow("c.png", DIGEST, drawn(box(A))),
        ]
    )
    coming = rows_table(
        PictureRow(path, DIGEST, drawn(box(B, 9)), source="import")
        for path in ("a.png", "b.png", "d.png")
    )
    merged = add_rows(before, coming)
    assert merged["path"].to_pylist() == ["a.png", "b.png", "c.png", "d.png"]
    counts = [len(document.objects) for document in documents_of(merged)]
    assert counts == [2, 1, 1, 1]
    assert merged["source"].to_pylist() == ["import", "import", "human", "import"]
