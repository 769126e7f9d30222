"""Which tables of a tree say something of its files, by which column; and why others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atom_sdk.importers.names import split_of
from atom_sdk.importers.row_files import RowFiles
from atom_sdk.importers.table_columns import Columns, ColumnsRefusedError, columns_of
from atom_sdk.importers.table_text import SUFFIXES, head_rows, table_head
from atom_sdk.importers.trees import Tree

_NO_COLUMN = "its first line names no column of files (such as path, filename, image_id or url)"
_NO_FILES = (
    "no file of the source has a name of its column {}; if its files lie elsewhere, give --images"
)
_UTF16 = "it has NUL characters; if it is UTF-16, give --encoding utf-16-le"
_FORM = "it is a form for answers, and its labels are placeholders"
_NO_HEADER_BOXES = ("path", "x1", "y1", "x2", "y2", "class")
_ADDRESSES = ("http://", "https://")
METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How one table is read: `name_column` holds the names of files, None where addresses do.

    `header` are the names of the columns where the table has no first line with them.
    """

    path: str
    columns: Columns
    name_column: str | None
    header: tuple[str, ...] | None = None

    @property
    def split(self) -> str | None:
        """The split in the name of the table, as in `train_labels.csv`."""
        stem = self.path.rpartition("/")[2].rpartition(".")[0]
        words = stem.replace("-", "_").replace(".", "_").split("_")
        splits = {split_of(word) for word in words} - {None}
        return splits.pop() if len(splits) == 1 else None


def table_paths(tree: Tree) -> list[str]:
    """Return the paths of tables, sorted."""
    return sorted(path for path in tree.annotation_paths() if path.lower().endswith(SUFFIXES))


def plans_of(tree: Tree) -> Iterator[TablePlan]:
    """Yield the tables that name files of a tree, or addresses."""
    paths = table_paths(tree)
    files = RowFiles(tree, paths)
    for path in paths:
        plan = plan_or_reason(tree, path, files)
        if isinstance(plan, TablePlan):
            yield plan


def plan_or_reason(tree: Tree, path: str, files: RowFiles) -> TablePlan | str:
    """Return how a table is read, or why it is not, in a few words."""
    try:
        return _plan(tree, path, files)
    except ColumnsRefusedError as refused:
        return str(refused)


def _plan(tree: Tree, path: str, files: RowFiles) -> TablePlan:
    head = table_head(tree, path)
    rows = head_rows(head)
    if "\0" in head.text:
        raise ColumnsRefusedError(_UTF16)
    if not rows:
        raise ColumnsRefusedError("it is empty")
    if "submission" in path.rpartition("/")[2].lower():
        raise ColumnsRefusedError(_FORM)
    header = lowered(rows[0])
    columns = columns_of(header)
    if columns.url is None and not columns.paths:
        return _without_header(path, rows, files)
    names = _name_column(columns, header, rows[1:], path, files)
    if names is None and columns.url is None and not _has_tables_alone(tree):
        raise ColumnsRefusedError(_NO_FILES.format(" or ".join(columns.paths)))
    return TablePlan(path, columns, names or next(iter(columns.paths), None))


def lowered(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns as they are compared."""
    return tuple(cell.strip().lower() for cell in cells)


def _name_column(
    columns: Columns,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    path: str,
    files: RowFiles,
) -> str | None:
    """The first column of names with a file for one of the first rows; an address counts, too."""
    for column in columns.paths:
        place = header.index(column)
        names = [cells[place] for cells in rows if len(cells) == len(header) and cells[place]]
        if any(name.startswith(_ADDRESSES) for name in names):
            return column
        if files.find_all(names, path).paths:
            return column
    return None


def _without_header(path: str, rows: Sequence[Sequence[str]], files: RowFiles) -> TablePlan:
    """The table of keras-retinanet: `path,x1,y1,x2,y2,class` in each line, the first included."""
    width = len(_NO_HEADER_BOXES)
    is_fitting = all(len(cells) == width and _are_numbers(cells[1:5]) for cells in rows)
    if is_fitting and files.find_all([cells[0] for cells in rows], path).paths:
        return TablePlan(path, columns_of(_NO_HEADER_BOXES), "path", _NO_HEADER_BOXES)
    if files.find_all([cells[0] for cells in rows], path).paths:
        raise ColumnsRefusedError(
            "its first line names no columns: put one such as path,label above it"
        )
    raise ColumnsRefusedError(_NO_COLUMN)


def _are_numbers(cells: Sequence[str]) -> bool:
    try:
        return not any(cells) or all(float(cell) is not None for cell in cells)
    except ValueError:
        return False


def _has_tables_alone(tree: Tree) -> bool:
    return all(path.lower().endswith(SUFFIXES) for path in tree.files)
