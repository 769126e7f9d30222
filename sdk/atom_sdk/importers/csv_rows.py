"""CSV: a row a file, by its address or its path; the other columns are what is known of it.

    url,path,label,split,camera
    https://example.org/1.jpg,cats/1.jpg,cat,train,north

`url` alone names the file after the address; `path` alone means a file of the source. With columns
of a box, a row is one object of its picture: see `table_boxes`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from urllib.parse import unquote, urlsplit

from atom_sdk.importers.box_rows import BoxTable
from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.names import NameRefusedError, normalised, split_in
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.row_files import MISSING, NamedFiles, RowFiles
from atom_sdk.importers.table_plans import TablePlan, plan_or_reason, plans_of, table_paths
from atom_sdk.importers.table_rows import Row, Table, attributes_of, row_split
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

_BATCH_ROWS = 256


def detect(tree: Tree) -> str | None:
    """Say why the tree is described by a CSV, None if it is not."""
    plan = next(plans_of(tree), None)
    if plan is None:
        return None
    what = "boxes" if plan.columns.box else "paths or addresses"
    return f"{plan.path} has columns of {what}"


def explain(tree: Tree, path: str) -> str | None:
    """Return why a table is not read."""
    reason = plan_or_reason(tree, path, RowFiles(tree, [path]))
    if isinstance(reason, TablePlan):
        return "a table of files was found and not read; --format csv reads it"
    return f"a table was found and not understood: {reason}"


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield a file a row. Raises FormatUnknownError, AnnotationsUnreadableError."""
    plans = list(plans_of(tree))
    if not plans:
        raise FormatUnknownError(
            Sentence(
                "formats.no_table",
                "{name} has no CSV that names files.{reasons}",
                name=tree.name,
                reasons=_reasons(tree),
            )
        )
    reader = _Reader(tree, report, reading)
    for plan in plans:
        yield from reader.items(plan)
    for picture in tree.images():
        if picture not in reader.taken:
            report.lose_picture(picture, "no row of a table names it")


def _reasons(tree: Tree) -> str:
    return "".join(f" {path}: {explain(tree, path)}." for path in table_paths(tree)[:3])


class _Reader:
    """Reads tables one after the other; `taken` has the label of each file by its path."""

    def __init__(self, tree: Tree, report: Report, reading: Reading) -> None:
        self._tree = tree
        self._report = report
        self._downloads = reading.downloads
        self._files = RowFiles(tree, table_paths(tree))
        self.taken: dict[str, str] = {}

    def items(self, plan: TablePlan) -> Iterator[Item]:
        """Yield the files of one table."""
        table = Table(self._tree, plan, self._report)
        named = self._files.find_all(table.names(), plan.path)
        if named.by_last_part:
            self._report.note(
                f"{plan.path}: {named.by_last_part} of {len(named.paths)} names were found by a "
                f"part of their paths"
            )
        if plan.columns.box is not None:
            boxes = BoxTable(table, plan.columns.box, self._report)
            place = partial(self._place, named=named)
            items = boxes.items(self._fetched(table), place, self._blob)
        else:
            items = self._files_of(table, named)
        for item in items:
            if self._is_first(item, plan.path):
                yield item

    def _files_of(self, table: Table, named: NamedFiles) -> Iterator[Item]:
        for row in self._fetched(table):
            item = self._item(row, table, named)
            if item is not None:
                yield item

    def _fetched(self, table: Table) -> Iterator[Row]:
        """The rows, a few at a time with what their addresses have."""
        rows = table.rows()
        while batch := list(islice(rows, _BATCH_ROWS)):
            self._downloads.fetch_all(row.url for row in batch if row.url)
            yield from batch

    def _is_first(self, item: Item, table: str) -> bool:
        if item.path not in self.taken:
            self.taken[item.path] = item.label or ""
            return True
        label = self.taken[item.path]
        if item.label and item.label != label:
            reason = "another row gives the same file another label; the first counts"
            self._report.lose_label(f"{table}: {item.path}", reason, item.label)
        elif item.objects:
            reason = "another table names the same picture; the first counts"
            for name, count in item.objects.items():
                self._report.lose_objects(f"{table}: {item.path}", reason, name, count)
        else:
            reason = "another row names the same file; the first counts"
            self._report.skip(f"{table}: {item.path}", reason)
        return False

    def _item(self, row: Row, table: Table, named: NamedFiles) -> Item | None:
        split = row_split(row, table, self._report)
        try:
            path = self._place(row, named)
            attributes = attributes_of(row.cells, row.json)
        except NameRefusedError as refused:
            self._report.lose_picture(row.where, str(refused), label=row.label or None)
            return None
        blob = self._blob(path, row)
        if blob is None:
            name, reason = self._downloads.refusal(row.url)
            self._report.lose_picture(name, reason, label=row.label or None)
            return None
        if split is None and not row.split:
            split = split_in(path)
        return Item(path, blob, row.label or None, split, attributes)

    def _place(self, row: Row, named: NamedFiles) -> str:
        """The path of a row's file in the dataset. Raises NameRefusedError."""
        if row.url:
            return normalised(row.name) if row.name else _name_of(row.url)
        if not row.name:
            raise NameRefusedError("it has neither a url nor a path, or not the header's columns")
        if row.name not in named.paths:
            raise NameRefusedError(named.reasons.get(row.name, MISSING))
        return named.paths[row.name]

    def _blob(self, path: str, row: Row) -> Blob | None:
        return self._downloads.fetch(row.url) if row.url else self._tree.files[path]


def _name_of(url: str) -> str:
    """A name that stays the same when rows are added: the address's last part and a hash of it.

    Raises NameRefusedError.
    """
    try:
        name = unquote(urlsplit(url).path).rpartition("/")[2]
    except ValueError as error:
        raise NameRefusedError("its url is none") from error
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    return normalised(f"{stem or 'file'}-{digest}{dot}{suffix}".replace("/", "_"))
