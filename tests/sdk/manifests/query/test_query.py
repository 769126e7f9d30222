"""Queries over the entries of a version, checked row by row against plain Python."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    ObjectStore,
    Root,
    build_root,
    entries_table,
    layer_table,
    matching,
    parse_query,
    write_layer,
)
from atom_sdk.manifests.query import Query, QueryError, matches, may_match
from tests.sdk.manifests.query import oracle
from tests.sdk.manifests.strategies import PACK, RULE, any_character

_rows = st.fixed_dictionaries(
    {
        "media_type": st.none() | oracle.texts,
        "attributes": oracle.documents.map(
            lambda found: None if found is None else json.dumps(found)
        ),
        "size": st.integers(0, 4),
        "label": st.none() | oracle.texts,
        "split": st.none() | st.sampled_from(["train", "test"]),
    }
)
_paths = st.text("ab/é\n", min_size=1, max_size=5)
datasets = st.dictionaries(_paths, _rows, min_size=1, max_size=12).map(
    lambda found: [{"path": path, **found[path]} for path in sorted(found)]
)


def stored(rows: list[oracle.Row], store: ObjectStore) -> Root:
    """A version with the rows, their labels and splits, in many ranges."""
    entries = [
        Entry(row["path"], row["size"], PACK, row["media_type"], row["attributes"], PACK, 0)
        for row in rows
    ]
    root = build_root([entries_table(entries)], store, rule=RULE)
    for name, kind, column, given_as in (
        ("labels", "classification", "label", "label"),
        ("split", "split", "value", "split"),
    ):
        values = [
            {"path": row["path"], "digest": PACK, column: row[given_as], "source": "test"}
            for row in rows
            if row[given_as] is not None
        ]
        if kind == "split":
            values = [{k: v for k, v in value.items() if k != "source"} for value in values]
        root = root.with_layers(write_layer(name, kind, layer_table(kind, values), store))
    return root


def found_paths(root: Root, store: ObjectStore, query: Query, prefix: str = "") -> list[str]:
    return [
        path for table in matching(root, store, query, prefix) for path in table["path"].to_pylist()
    ]


@given(datasets, oracle.cases, st.sampled_from(["", "a", "b/"]))
def test_a_query_finds_what_a_row_by_row_reading_finds(
    rows: list[oracle.Row], case: oracle.Case, prefix: str
) -> None:
    text, holds = case
    store = MemoryObjectStore()
    root = stored(rows, store)
    expected = [
        row["path"] for row in rows if holds(row) is True and row["path"].startswith(prefix)
    ]
    assert found_paths(root, store, parse_query(text), prefix) == expected


@given(datasets, oracle.cases)
def test_unknown_is_neither_true_nor_false(rows: list[oracle.Row], case: oracle.Case) -> None:
    text, holds = case
    store = MemoryObjectStore()
    table = pa.concat_tables(list(matching(stored(rows, store), store)))
    assert matches(parse_query(text), table).to_pylist() == [holds(row) for row in rows]


@given(oracle.cases)
def test_the_canonical_text_is_the_same_query(case: oracle.Case) -> None:
    query = parse_query(case[0])
    assert parse_query(query.text) == query
    assert hash(parse_query(query.text)) == hash(query)


@given(datasets, oracle.cases)
def test_a_range_that_is_passed_over_holds_no_match(
    rows: list[oracle.Row], case: oracle.Case
) -> None:
    text, holds = case
    query = parse_query(text)
    for first in range(len(rows)):
        for last in range(first, len(rows)):
            inside = rows[first : last + 1]
            if not may_match(query, inside[0]["path"], inside[-1]["path"]):
                assert not any(holds(row) is True for row in inside)


class CountingStore(MemoryObjectStore):
    """Counts the ranges that are read."""

    ranges_read = 0

    def get(self, key: str) -> bytes:
        self.ranges_read += key.startswith("ranges/")
        return super().get(key)


@pytest.mark.parametrize(
    "text",
    [
        "path LIKE 'c/%' AND size = 0",
        "folder = 'c'",
        "path BETWEEN 'c/' AND 'c0'",
        "path IN ('c/01', 'c/02')",
        "path LIKE 'c/%' OR folder LIKE 'c'",
    ],
)
def test_ranges_that_cannot_match_are_not_read(text: str) -> None:
    store = CountingStore()
    names = [f"{folder}/{number:02}" for folder in "abcde" for number in range(30)]
    root = build_root([entries_table(Entry(name, 0, PACK) for name in names)], store, rule=RULE)
    found = found_paths(root, store, parse_query(text))
    assert found
    assert all(path.startswith("c/") for path in found)
    assert 0 < store.ranges_read < len(root.ranges) / 3


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("", "query_syntax", 1),
        ("label = 'cat' AND", "query_syntax", 15),
        ("label = 'cat", "query_syntax", 9),
        ("label = 'a' 5", "query_syntax", 13),
        ("label = 'a\0'", "query_syntax", 11),
        ("label = 'a\ud800'", "query_syntax", 11),
        ('label = "cat"', "query_column", 9),
        ("label = 'a' AND\n foo = 3", "query_column", 18),
        ("size = 1 OR attributes = 3", "query_column", 13),
        ("label.x = 3", "query_column", 1),
        ("size = 1 AND lower(label) = 'x'", "query_not_allowed", 14),
        ("label = (SELECT 1)", "query_not_allowed", 17),
        ("size IN (SELECT 1)", "query_not_allowed", 1),
        ("label IN ()", "query_not_allowed", 1),
        ("size + 1 = 2", "query_not_allowed", 1),
        ("label = NULL", "query_not_allowed", 1),
        ("label IS TRUE", "query_not_allowed", 1),
        ("label LIKE 'a' ESCAPE 'x'", "query_not_allowed", 1),
        ("CASE WHEN size = 1 THEN TRUE END", "query_not_allowed", 11),
        ("size = 1; DROP TABLE x", "query_syntax", 11),
        ("size = 'big'", "query_type", 1),
        ("size LIKE '1%'", "query_type", 1),
        ("size IN (1, 'a')", "query_type", 1),
        ("1 = 1", "query_type", 1),
        ("label", "query_type", 1),
        ("attributes.x > TRUE", "query_type", 1),
        ("size = 1e999", "query_type", 8),
        ("(" * 26 + "size = 1" + ")" * 26, "query_too_large", 26),
        ("NOT " * 26 + "size = 1", "query_too_large", 101),
        ("size = 1 OR " * 400 + "size = 1", "query_too_large", 4001),
    ],
)
def test_a_wrong_query_is_refused_with_its_place(text: str, code: str, position: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert (caught.value.code, caught.value.position) == (code, position)
    assert "label = 'cat'" in caught.value.hint or code == "query_too_large"


@given(st.text(any_character, max_size=30) | st.text("()'\"=<>-. anotridlikesz10%", max_size=40))
def test_any_text_is_a_query_or_a_query_error(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError as error:
        place = error.position
    else:
        place = 1
        assert parse_query(query.text) == query
    assert 1 <= place <= max(len(text), 1)


def test_the_deepest_and_the_longest_query_are_read() -> None:
    deep = "(" * 25 + "size = 1" + ")" * 25
    assert parse_query(deep).text == "size = 1"
    long = "size = 1 OR " * 332 + "size = 1"
    assert parse_query(long).text == long


def test_attributes_that_are_no_json_count_as_missing() -> None:
    broken = ["{", "[" * 100_000, '{"x": NaN}', '"x"', '{"x": "\\ud800"}']
    store = MemoryObjectStore()
    entries = [Entry(str(n), 0, PACK, None, text) for n, text in enumerate(broken)]
    root = build_root([entries_table(entries)], store)
    assert found_paths(root, store, parse_query("attributes.x IS NULL")) == ["0", "1", "2", "3"]
    assert found_paths(root, store, parse_query("attributes.x <> 'a'")) == ["4"]


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("lable = 'cat'", 1, "Unknown column 'lable'. Did you mean 'label'?"),
        # The name is worse than the end that is missing.
        ("lable = 3 AND", 1, "Unknown column 'lable'. Did you mean 'label'?"),
        ("label = 'a' AND", 13, "a condition is missing after 'AND'."),
        ("size > 3 AND (Splt = 'val'", 15, "Unknown column 'Splt'. Did you mean 'split'?"),
    ],
)
def test_a_misspelt_column_is_named_with_the_one_it_resembles(
    text: str, position: int, problem: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert (caught.value.problem, caught.value.position) == (problem, position)


def test_a_column_that_resembles_none_lists_them_and_how_attributes_are_written() -> None:
    with pytest.raises(QueryError, match=r"Columns are path, .*attributes\.NAME"):
        parse_query("camera = 'north'")
    # Parts of attributes are names of their own.
    assert parse_query("attributes.lable = 3")
