"""The rows of one table by the meaning of their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.client.push.attributes import cell_value
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.names import NameRefusedError, split_of
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import column_twice
from atom_sdk.importers.table_columns import ATTRIBUTES
from atom_sdk.importers.table_plans import TablePlan, lowered
from atom_sdk.importers.table_text import table_text
from atom_sdk.importers.trees import Tree

_ADDRESSES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one line by meaning, all empty where their number is not the header's.

    `cells` are those without a meaning.
    """

    where: str
    name: str = ""
    url: str = ""
    label: str = ""
    split: str = ""
    json: str = ""
    cells: Mapping[str, str] = field(default_factory=dict)
    all_cells: Mapping[str, str] = field(default_factory=dict)


class Table:
    """One table, read as its plan says; its digest goes to the report."""

    def __init__(self, tree: Tree, plan: TablePlan, report: Report) -> None:
        """Raises TextEncodingError, AnnotationsUnreadableError."""
        self.plan = plan
        self.tree = tree
        self._text = table_text(tree.read_annotations(plan.path, report), plan.path, tree.text)
        self._header = plan.header or lowered(next(self._text.rows())[1])
        names = [name for name in self._header if name]
        if len(set(names)) < len(names):
            raise AnnotationsUnreadableError(column_twice(plan.path))
        if len(names) < len(self._header):
            report.note(f"{plan.path}: a column without a name is left out")

    def names(self) -> Iterator[str]:
        """Yield the names of files of all rows. Raises AnnotationsUnreadableError."""
        return (row.name for row in self.rows() if row.name and not row.url)

    def rows(self) -> Iterator[Row]:
        """Yield all rows. Raises AnnotationsUnreadableError."""
        lines = self._text.rows()
        if self.plan.header is None:
            next(lines)
        for number, cells in lines:
            where = f"{self.plan.path}, line {number}"
            if len(cells) != len(self._header):
                yield Row(where)
            else:
                yield self._row(where, dict(zip(self._header, cells, strict=True)))

    def _row(self, where: str, cells: dict[str, str]) -> Row:
        columns = self.plan.columns
        name = _cell(cells, self.plan.name_column)
        url = _cell(cells, columns.url)
        if not url and name.startswith(_ADDRESSES):
            url, name = name, ""
        rest = {column: cells[column] for column in columns.rest if column != self.plan.name_column}
        return Row(
            where,
            name,
            url,
            _cell(cells, columns.label),
            _cell(cells, columns.split),
            _cell(cells, ATTRIBUTES),
            rest,
            cells,
        )


def attributes_of(cells: Mapping[str, str], text: str) -> dict[str, Any]:
    """Return the values of cells, and those of a JSON object. Raises NameRefusedError."""
    try:
        values = json.loads(text or "{}")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise NameRefusedError("its attributes are no JSON object")
    return {**values, **{name: cell_value(cell) for name, cell in cells.items() if cell}}


def row_split(row: Row, table: Table, report: Report) -> str | None:
    """Return the split of a row, else that of the table's name; report one that is none."""
    if not row.split:
        return table.plan.split
    split = split_of(row.split)
    if split is None:
        report.skip(row.where, "its split is none of train, val and test; it goes without")
    return split


def _cell(cells: Mapping[str, str], column: str | None) -> str:
    return cells.get(column, "").strip() if column is not None else ""
