"""Attributes at a push: what is taken, what stays, and what is refused before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.client import Client
from atom_sdk.client.attributes import AttributesSource, read_attributes
from atom_sdk.client.errors import AttributesError
from atom_sdk.client.push import PushOptions

PATHS = ["0/000.png", "0/001.png", "1/000.png"]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def attributes_of(client: Client, reference: str) -> dict[str, dict[str, Any]]:
    """Return the attributes of the files that have some."""
    rows = client.datasets.entries(reference)
    return {row["path"]: row["attributes"] for row in rows if row["attributes"]}


def options(attributes: AttributesSource, **more: Any) -> PushOptions:
    return PushOptions(attributes=attributes, **more)


def test_attributes_come_with_the_files_and_can_be_asked_for(client: Client, folder: Path) -> None:
    given: dict[str, dict[str, Any]] = {
        "0/000.png": {"camera": "north", "lens": {"mm": 50}},
        "1/000.png": {"camera": "süd"},
    }
    client.datasets.push(folder, "digits", options(given))
    assert attributes_of(client, "digits@v1") == given
    found = client.datasets.entries("digits@v1", where="attributes.lens.mm > 40")
    assert [row["path"] for row in found] == ["0/000.png"]


def test_new_attributes_make_a_version_without_sending_bytes(client: Client, folder: Path) -> None:
    first = {"0/000.png": {"camera": "north"}, "0/001.png": {"camera": "south"}}
    client.datasets.push(folder, "digits", options(first, labels_from="folder"))
    again = client.datasets.push(folder, "digits", options(first))
    assert (again.version["ref"], again.unchanged) == ("v1", True)
    second = client.datasets.push(folder, "digits", options({"0/000.png": {"camera": "east"}}))
    assert (second.version["ref"], second.bytes_sent, second.version["changed"]) == ("v2", 0, 1)
    assert attributes_of(client, "digits@v2") == {**first, "0/000.png": {"camera": "east"}}
    assert len(list(client.datasets.entries("digits@v2", label="0"))) == 4
    client.datasets.push(folder, "digits", options({"0/000.png": {}}))
    assert attributes_of(client, "digits@v3") == {"0/001.png": {"camera": "south"}}


def test_attributes_stay_with_the_bytes_that_they_were_given_to(
    client: Client, folder: Path
) -> None:
    given = {"0/000.png": {"camera": "north"}, "0/001.png": {"camera": "south"}}
    client.datasets.push(folder, "digits", options(given))
    (folder / "0/000.png").write_bytes(b"other bytes")
    client.datasets.push(folder, "digits")
    assert attributes_of(client, "digits@v2") | {"0/000.png": {}} == {
        "0/000.png": {},
        "0/001.png": {"camera": "south"},
    }


@given(st.dictionaries(st.sampled_from(PATHS), st.dictionaries(texts, values, max_size=3)))
def test_a_file_of_json_lines_says_the_same_as_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, given_values: dict[str, dict[str, Any]]
) -> None:
    plain = {
        path: {k: v for k, v in row.items() if k != "path"} for path, row in given_values.items()
    }
    lines = [json.dumps({**row, "path": path}) for path, row in plain.items()]
    file = tmp_path_factory.mktemp("lines") / "given.jsonl"
    file.write_text("\ufeff" + "\n\n".join(lines) + "\n", encoding="utf-8")
    found = read_attributes(file, PATHS)
    assert found == read_attributes(plain, PATHS)
    assert {path: json.loads(text or "{}") for path, text in found.items()} == plain


def test_cells_of_csv_are_what_json_would_read(tmp_path: Path) -> None:
    file = tmp_path / "given.csv"
    file.write_text('path,iso,id,ok,note\n0/000.png,-1.5e3,007,true,"a ""b""\nc"\n0/001.png,,,,\n')
    found = read_attributes(file, PATHS)
    expected = {"iso": -1500.0, "id": "007", "ok": True, "note": 'a "b"\nc'}
    assert json.loads(found["0/000.png"] or "") == expected
    assert found["0/001.png"] is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"path": "0/000.png"}\n{"path": ', "a.jsonl, line 2: it is not JSON"),
        ("a.jsonl", "[1]", "a.jsonl, line 1: it is not a JSON object"),
        ("a.jsonl", '{"camera": 1}', "a.jsonl, line 1: there is no path"),
        ("a.jsonl", '{"path": 3}', "a.jsonl, line 1: there is no path"),
        ("a.jsonl", '\n{"path": "no.png"}', "line 2: the folder has no file 'no.png'"),
        ("a.jsonl", '{"path": "0/000.png"}\n' * 2, "line 2: the path '0/000.png' comes twice"),
        ("a.jsonl", '{"path": "0/000.png", "x": NaN}', "cannot be written as JSON"),
        ("a.jsonl", '{"path": "0/000.png", "x": "\\ud800"}', "cannot be written as JSON"),
        ("a.jsonl", '{"path": "0/000.png", "x": %s}' % ("[" * 100_000), "it is not JSON"),
        ("a.jsonl", '{"path": "0/000.png", "unreadable": ""}', "only the server says"),
        ("a.jsonl", '{"path": "0/000.png", "x": "%s"}' % ("é" * 8200), "at most 16384 fit"),
        ("a.csv", "camera\nnorth\n", "a.csv, line 1: the first line must name the columns"),
        ("a.csv", "path,a,a\n", "a.csv, line 1: the first line must name the columns"),
        ("a.csv", "path,a\n0/000.png\n", "a.csv, line 2: it has 1 cells of 2"),
        ("a.csv", 'path,a\n0/000.png,"x', "a.csv, line 2"),
        ("a.csv", "", "a.csv, line 1"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(AttributesError) as caught:
        read_attributes(tmp_path / name, PATHS)
    assert said in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(AttributesError, match="not UTF-8"):
        read_attributes(tmp_path / "a.jsonl", PATHS)


def test_nothing_is_sent_when_a_line_is_wrong(client: Client, folder: Path) -> None:
    with pytest.raises(AttributesError, match=r"no file 'typo\.png'"):
        client.datasets.push(folder, "digits", options({"typo.png": {"camera": "north"}}))
    assert list(client.datasets.log("digits")) == []
