"""The head of a CSV or TSV file as a table with typed columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import datetime
from typing import Final

MAX_ROWS: Final = 1000
MAX_COLUMNS: Final = 200
MAX_CELL_CHARS: Final = 500
_DELIMITERS: Final = ",;\t|"
_TRUTHS: Final = frozenset({"true", "false"})
# One cell of a file that is no table at all.
_FIELD_CHARS: Final = 1 << 20


class NotATableError(ValueError):
    """The text has no rows and columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its first rows: `integer`, `number`, `boolean`, `time` or `text`.

    `declared` is what the file itself calls its type, if it does.
    """

    name: str
    type: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows; `truncated`: there are more rows, columns or characters than these."""

    columns: list[Column]
    rows: list[list[str | None]]
    truncated: bool
    column_count: int
    row_count: int | None = None
    row_groups: int | None = None
    writer: str = ""


def read_table(text: str, *, whole: bool, tabs: bool = False) -> Table:
    """Return the first rows of a text; without `whole` its last line is a part of one.

    The first row names the columns. Raises NotATableError.
    """
    delimiter = "\t" if tabs else _delimiter_of(text)
    csv.field_size_limit(_FIELD_CHARS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > MAX_ROWS + 1:
                break
    except csv.Error as error:
        raise NotATableError(str(error)) from error
    more = len(rows) > MAX_ROWS + 1
    if not whole and not more:
        rows, more = rows[:-1], True
    if not rows:
        raise NotATableError("The file has no rows.")
    header, body = rows[0], rows[1 : MAX_ROWS + 1]
    width = max(map(len, rows[: MAX_ROWS + 1]))
    shown = min(width, MAX_COLUMNS)
    cells = [[_cell(row, at) for at in range(shown)] for row in body]
    names = [header[at][:MAX_CELL_CHARS] if at < len(header) else "" for at in range(shown)]
    columns = [Column(name, _type_of([row[at] for row in cells])) for at, name in enumerate(names)]
    return Table(columns, cells, more or width > shown, width)


def _cell(row: list[str], at: int) -> str | None:
    return row[at][:MAX_CELL_CHARS] if at < len(row) else None


def _delimiter_of(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _type_of(values: list[str | None]) -> str:
    said = [value.strip() for value in values if value is not None and value.strip()]
    if not said:
        return "text"
    for name, holds in _TYPES:
        if all(map(holds, said)):
            return name
    return "text"


def _is_integer(value: str) -> bool:
    return value.lstrip("+-").isdecimal() and value.isascii()


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _is_truth(value: str) -> bool:
    return value.lower() in _TRUTHS


def _is_time(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


_TYPES: Final = (
    ("integer", _is_integer),
    ("number", _is_number),
    ("boolean", _is_truth),
    ("time", _is_time),
)
