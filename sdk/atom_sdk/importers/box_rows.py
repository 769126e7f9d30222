"""Pictures with objects, from a table with one line a box.

A column that is the same in all rows of a picture is an attribute of it; one that differs from box
to box has no place in an attribute and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.names import NameRefusedError, split_in
from atom_sdk.importers.report import Report
from atom_sdk.importers.table_boxes import BoxCensus, PictureRows, class_names, has_box, object_of
from atom_sdk.importers.table_columns import BoxColumns
from atom_sdk.importers.table_rows import Row, Table, attributes_of, row_split
from atom_sdk.importers.table_text import table_text

_DESCRIPTIONS = "class-descriptions"
_MOST_CLASSES = 100_000

# The path of a row's file in the dataset, or NameRefusedError.
Place = Callable[[Row], str]
FindBlob = Callable[[str, Row], Blob | None]


class BoxTable:
    """Groups the rows of a table by picture."""

    def __init__(self, table: Table, columns: BoxColumns, report: Report) -> None:
        """Raises AnnotationsUnreadableError."""
        self._table = table
        self._columns = columns
        self._report = report
        census = BoxCensus(columns)
        labels: set[str] = set()
        for row in table.rows():
            census.add(row.all_cells)
            labels.add(row.label)
        self._unit = census.unit(table.plan.path)
        self._names = self._class_names(labels)
        self._differing: set[str] = set()

    def items(self, rows: Iterable[Row], place: Place, blob: FindBlob) -> Iterator[Item]:
        """Yield the pictures in the order of their first rows."""
        pictures: dict[str, PictureRows] = {}
        for row in rows:
            try:
                path = place(row)
            except NameRefusedError as refused:
                self._orphan(row, str(refused))
                continue
            self._add(pictures, path, row)
        for path, picture in pictures.items():
            item = self._item(path, picture, blob)
            if item is not None:
                yield item
        if self._differing:
            names = ", ".join(sorted(self._differing))
            self._report.note(
                f"{self._table.plan.path}: columns that differ between boxes of a picture are left "
                f"out: {names}"
            )

    def _add(self, pictures: dict[str, PictureRows], path: str, row: Row) -> None:
        picture = pictures.setdefault(path, PictureRows(row, dict(row.cells)))
        picture.add_cells(row.cells)
        label = self._names.get(row.label, row.label)
        if has_box(self._columns, row.all_cells):
            build = partial(object_of, self._columns, label, row.all_cells)
            picture.objects.read_box(row.where, label, build)

    def _orphan(self, row: Row, reason: str) -> None:
        if has_box(self._columns, row.all_cells):
            label = self._names.get(row.label, row.label)
            self._report.lose_objects(row.where, reason, label, orphaned=True)
        else:
            self._report.lose_picture(row.where, reason)

    def _item(self, path: str, picture: PictureRows, blob: FindBlob) -> Item | None:
        row = picture.first
        self._differing |= picture.differing
        bytes_ = blob(path, row)
        if bytes_ is None:
            picture.objects.lose_with_picture(path, "its address was not fetched", self._report)
            return None
        split = row_split(row, self._table, self._report)
        if split is None and not row.split:
            split = split_in(path)
        try:
            more = attributes_of(picture.cells, row.json)
        except NameRefusedError as refused:
            self._report.skip(row.where, f"{refused}; the picture goes without them")
            more = {}
        return picture.objects.item(path, bytes_, self._report, split, more, self._unit)

    def _class_names(self, labels: Iterable[str]) -> dict[str, str]:
        """Names of the codes that OpenImages uses for classes, from its table of descriptions."""
        tree = self._table.tree
        codes = {label for label in labels if label.startswith(("/m/", "/g/"))}
        paths = [path for path in tree.annotation_paths() if _DESCRIPTIONS in path]
        if not codes or not paths:
            return {}
        data = tree.read_annotations(min(paths), self._report)
        rows = islice(table_text(data, min(paths), tree.text).rows(), _MOST_CLASSES)
        return class_names(codes, (cells for _, cells in rows))
