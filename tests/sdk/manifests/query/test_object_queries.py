"""Queries about objects: one object for all conditions, three values, one canonical text."""

from __future__ import annotations

import pytest

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    Root,
    build_root,
    entries_table,
    write_layer,
)
from atom_sdk.manifests.query import QueryError, both, matching, parse_query
from tests.sdk.manifests.drawn import box, bytes_of, drawn, picture

SMALL, LARGE = (0.0, 0.0, 4.0, 5.0), (1.0, 2.0, 100.0, 50.0)
PICTURES = [
    picture("both", box("1", at=SMALL), box("2", "truck", LARGE)),
    picture("car", box("1", at=LARGE, text="AB-1", attributes='{"color":"red"}')),
    picture("dog", box("1", "dog", SMALL, ignore=True, track_id=b"\0" * 8)),
    picture("empty"),
]
PATHS = ["both", "car", "dog", "empty", "unseen"]


@pytest.fixture(scope="module")
def version() -> tuple[Root, MemoryObjectStore]:
    store = MemoryObjectStore()
    entries = [Entry(each, 1, bytes_of(each), pack=b"p" * 32, offset=0) for each in PATHS]
    layer = write_layer("objects", "objects", drawn(*PICTURES), store)
    return build_root([entries_table(entries)], store).with_layers(layer), store


QUERIES = {
    "objects.label = 'car'": ["both", "car"],
    # One and the same object.
    "objects.label = 'car' AND objects.area < 100": ["both"],
    "objects.label = 'truck' AND objects.area < 100": [],
    "objects.area < 100 AND path <> 'dog' AND objects.label <> 'truck'": ["both"],
    # Brackets ask for another one.
    "(objects.label = 'truck') AND (objects.area < 100)": ["both"],
    "(objects.label = 'car' OR objects.label = 'dog') AND objects.area < 100": ["both", "dog"],
    "objects.label IN ('dog', 'truck')": ["both", "dog"],
    "objects.label = 'dog' OR path = 'unseen'": ["dog", "unseen"],
    # No such object; a picture at which nobody looked is unknown.
    "NOT objects.label = 'car'": ["dog", "empty"],
    "objects.label NOT IN ('car', 'dog')": ["empty"],
    "NOT (objects.label = 'car' AND objects.area < 100)": ["car", "dog", "empty"],
    "objects.text = 'AB-1'": ["car"],
    "NOT objects.text = 'AB-1'": ["both", "dog", "empty"],
    "objects.text IS NOT NULL": ["car"],
    "objects.text IS NULL": ["both", "dog"],
    "objects.label = 'car' AND objects.text IS NOT NULL": ["car"],
    "objects.text LIKE 'AB%'": ["car"],
    "objects.attributes.color = 'red'": ["car"],
    "objects.attributes.color IS NULL": ["both", "dog"],
    "objects.ignore": ["dog"],
    "NOT objects.ignore": ["both", "car", "empty"],
    "objects.ignore = FALSE": ["both", "car"],
    "objects.track = '0000000000000000'": ["dog"],
    "objects.width > objects.height": ["both", "car"],
    "objects.width BETWEEN 4 AND 5": ["both", "dog"],
    "objects.kind = 'box' AND objects.x = 0 AND objects.y = 0": ["both", "dog"],
    "objects.count = 0": ["empty"],
    "objects.count >= 1": ["both", "car", "dog"],
    "objects.count IS NULL": ["unseen"],
    "objects.counts.car = 0": ["dog", "empty"],
    "objects.counts.car > 0 AND objects.counts.truck > 0": ["both"],
    "NOT objects.counts.dog = 1 AND objects.label = 'car'": ["both", "car"],
}


@pytest.mark.parametrize("text", QUERIES)
def test_pictures_are_found_by_their_objects(
    version: tuple[Root, MemoryObjectStore], text: str
) -> None:
    query = parse_query(text)

    found = [path for table in matching(*version, query) for path in table["path"].to_pylist()]

    assert found == QUERIES[text]
    again = parse_query(query.text)
    assert (again, again.where) == (query, query.where)


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("other", ["objects.area < 100", "label = 'x' OR objects.x > 0"])
def test_joined_queries_ask_for_objects_of_their_own(text: str, other: str) -> None:
    joined = both(parse_query(text), parse_query(other))

    again = parse_query(joined.text)

    assert (again.text, again.where) == (joined.text, joined.where)


def test_a_version_without_objects_knows_of_none() -> None:
    store = MemoryObjectStore()
    entries = [Entry("a", 1, bytes_of("a"), pack=b"p" * 32, offset=0)]
    root = build_root([entries_table(entries)], store)

    assert not list(matching(root, store, parse_query("objects.count >= 0")))
    assert len(list(matching(root, store, parse_query("objects.count IS NULL")))) == 1


def test_what_was_drawn_on_other_bytes_counts_for_nothing() -> None:
    store = MemoryObjectStore()
    entries = [Entry("a", 1, bytes_of("other"), pack=b"p" * 32, offset=0)]
    layer = write_layer("objects", "objects", drawn(picture("a", box("1"))), store)
    root = build_root([entries_table(entries)], store).with_layers(layer)

    assert not list(matching(root, store, parse_query("objects.label = 'car'")))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("objects = 'car'", "A query can ask for"),
        ("objects.colour = 'red'", "A query can ask for"),
        ("objects.attributes = 'red'", "A query can ask for"),
        ("objects.counts > 1", "A query can ask for"),
        ("objects.label.x = 'a'", "A query can ask for"),
        ("objects.area = 'large'", "cannot be compared"),
        ("objects.label = label", "is compared with another of the object"),
        ("objects.label", "is not true or false"),
    ],
)
def test_mistakes_are_named(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        parse_query(text)
