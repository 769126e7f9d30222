"""Attributes that a push gives to files: a JSON object for each, read from JSON lines or CSV.

    {"path": "cat/1.png", "camera": "north", "lens": {"mm": 50}}

In CSV the cells are numbers, true or false where JSON would read them so, else text; an empty cell
is no attribute.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from atom_sdk.client.errors import AttributesError

MAX_ATTRIBUTE_BYTES = 16 << 10
AttributesSource = Mapping[str, Mapping[str, Any]] | Path
UNREADABLE = "unreadable"
_PATH = "path"
_JSON_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false")


class _Row(NamedTuple):
    """`where` names the line for people."""

    where: str
    path: Any
    values: dict[str, Any]


def read_attributes(source: AttributesSource, paths: Collection[str]) -> dict[str, str | None]:
    """Return the attributes of each file as canonical JSON, None where they are empty.

    `paths` are the files of the folder. Raises AttributesError, which names the line.
    """
    found: dict[str, str | None] = {}
    for where, path, values in _rows(source):
        if not isinstance(path, str) or not path:
            raise AttributesError(f"{where}: there is no path.")
        if path in found:
            raise AttributesError(f"{where}: the path {path!r} comes twice.")
        if UNREADABLE in values:
            raise AttributesError(f"{where}: only the server says what is {UNREADABLE!r}.")
        if path not in paths:
            raise AttributesError(f"{where}: the folder has no file {path!r}.")
        found[path] = _canonical(values, f"{where}: the attributes of {path!r}")
    return found


def canonical_attributes(values: Mapping[str, Any]) -> str | None:
    """Return JSON with sorted keys, None for no attributes; the same text as the server's."""
    return (
        json.dumps(
            values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        if values
        else None
    )


def _canonical(values: Mapping[str, Any], subject: str) -> str | None:
    try:
        text = canonical_attributes(values)
        size = len((text or "").encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise AttributesError(f"{subject} cannot be written as JSON: {error}.") from error
    if size > MAX_ATTRIBUTE_BYTES:
        raise AttributesError(f"{subject} have {size} bytes; at most {MAX_ATTRIBUTE_BYTES} fit.")
    return text


def _rows(source: AttributesSource) -> Iterator[_Row]:
    if not isinstance(source, Path):
        yield from (_Row("attributes", path, dict(values)) for path, values in source.items())
        return
    read = _csv_rows if source.suffix.lower() == ".csv" else _json_rows
    try:
        # An editor may have put a byte order mark in front.
        with source.open(encoding="utf-8-sig", newline="") as file:
            yield from read(file, source.name)
    except UnicodeDecodeError as error:
        raise AttributesError(f"{source.name} is not UTF-8 text.") from error
    except OSError as error:
        raise AttributesError(f"{source} cannot be read: {error.strerror}.") from error


def _json_rows(lines: Iterator[str], name: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, 1):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise AttributesError(f"{where}: it is not JSON: {error}.") from error
        if not isinstance(values, dict):
            raise AttributesError(f"{where}: it is not a JSON object.")
        yield _Row(where, values.pop(_PATH, None), values)


def _csv_rows(lines: Iterator[str], name: str) -> Iterator[_Row]:
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        if _PATH not in header or len(set(header)) < len(header) or "" in header:
            said = "the first line must name the columns, each once, one of them path"
            raise AttributesError(f"{name}, line 1: {said}.")
        for cells in reader:
            where = f"{name}, line {reader.line_num}"
            if not cells:
                continue
            if len(cells) != len(header):
                raise AttributesError(f"{where}: it has {len(cells)} cells of {len(header)}.")
            row = dict(zip(header, cells, strict=True))
            path = row.pop(_PATH)
            yield _Row(where, path, {key: cell_value(text) for key, text in row.items() if text})
    except csv.Error as error:
        raise AttributesError(f"{name}, line {reader.line_num}: {error}.") from error


def cell_value(text: str) -> Any:
    """Return what a cell of a CSV means: a number, true or false as in JSON, else the text."""
    return json.loads(text) if _JSON_SCALAR.fullmatch(text) else text
