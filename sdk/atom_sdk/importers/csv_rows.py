"""CSV: a row a file, by its address or its path; the other columns are what is known of it.

    url,path,label,split,camera
    https://example.org/1.jpg,cats/1.jpg,cat,train,north

`url` alone names the file after the address; `path` alone means a file beside the CSV.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from atom_sdk.client.attributes import cell_value
from atom_sdk.importers.downloads import Downloads
from atom_sdk.importers.errors import AnnotationsUnreadableError, FormatUnknownError
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.names import NameRefusedError, normalised, split_of
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

_URL = ("url", "image_url", "coco_url")
_PATH = ("path", "file_name", "filename", "image")
_LABEL = ("label", "class", "category")
_SPLIT = ("split", "subset", "set")
_SUFFIXES = (".csv", ".tsv")
_HEAD_BYTES = 4096
_BATCH_ROWS = 256


def detect(tree: Tree) -> str | None:
    """Say why the tree is described by a CSV, None if it is not."""
    found = _files(tree)
    return f"{found[0]} has a column of paths or addresses" if found else None


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield a file a row. Raises FormatUnknownError, AnnotationsUnreadableError."""
    files = _files(tree)
    if not files:
        raise FormatUnknownError(f"{tree.name} has no CSV with a column url or path.")
    downloads = reading.downloads
    for path in files:
        rows = _rows(tree.read_text(path, report), path)
        while some := list(islice(rows, _BATCH_ROWS)):
            downloads.fetch_all(row.url for row in some if row.url)
            for row in some:
                item = _item(row, tree, downloads, report)
                if item is not None:
                    yield item


class _Row:
    """The cells of one line, by the meaning of their columns."""

    def __init__(self, cells: Mapping[str, str], where: str, folder: str) -> None:
        rest = dict(cells)
        self.where = where
        self.folder = folder
        self.url = _take(rest, _URL)
        self.path = _take(rest, _PATH)
        self.label = _take(rest, _LABEL)
        self.split = _take(rest, _SPLIT)
        self.json = rest.pop("attributes", "").strip()
        self.cells = rest
        if not self.url and self.path.startswith(("http://", "https://")):
            self.url, self.path = self.path, ""

    def attributes(self) -> dict[str, Any]:
        """Return what is known of the file. Raises NameRefusedError."""
        found: dict[str, Any] = {}
        if self.json:
            try:
                found = json.loads(self.json)
            except (ValueError, RecursionError):
                found = []  # type: ignore[assignment]
            if not isinstance(found, dict):
                raise NameRefusedError("its attributes are no JSON object")
        cells = {name: cell_value(text) for name, text in self.cells.items() if text}
        return found | cells


def _take(cells: dict[str, str], names: tuple[str, ...]) -> str:
    found = [cells.pop(name).strip() for name in names if name in cells]
    return next((text for text in found if text), "")


def _files(tree: Tree) -> list[str]:
    return sorted(
        path
        for path in tree.files
        if path.lower().endswith(_SUFFIXES) and _header_of(tree, path) & {*_URL, *_PATH}
    )


def _header_of(tree: Tree, path: str) -> set[str]:
    with tree.files[path].open() as stream:
        head = stream.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
    line = head.splitlines()[0] if head.splitlines() else ""
    return {name.strip().strip('"').lower() for name in line.split(_delimiter(path))}


def _delimiter(path: str) -> str:
    return "\t" if path.lower().endswith(".tsv") else ","


def _rows(text: str, path: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(path), strict=True)
    folder = path.rpartition("/")[0]
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise AnnotationsUnreadableError(f"{path}: a column comes twice.")
        for cells in reader:
            where = f"{path}, line {reader.line_num}"
            if cells:
                # A row that is too short or long is a problem of its own, named when it is read.
                fitting = len(cells) == len(header)
                yield _Row(dict(zip(header, cells, strict=False)) if fitting else {}, where, folder)
    except csv.Error as error:
        raise AnnotationsUnreadableError(f"{path}, line {reader.line_num}: {error}.") from error


def _item(row: _Row, tree: Tree, downloads: Downloads, report: Report) -> Item | None:
    split = split_of(row.split)
    if row.split and split is None:
        report.skip(row.where, "its split is none of train, val and test; it goes without")
    try:
        path, blob = _bytes(row, tree, downloads)
        attributes = row.attributes()
    except NameRefusedError as refused:
        report.lose_picture(row.where, str(refused), label=row.label or None)
        return None
    if blob is None:
        name, reason = downloads.refusal(row.url)
        report.lose_picture(name, reason, label=row.label or None)
        return None
    return Item(path, blob, row.label or None, split, attributes)


def _bytes(row: _Row, tree: Tree, downloads: Downloads) -> tuple[str, Blob | None]:
    if row.url:
        return normalised(row.path) if row.path else _name_of(row.url), downloads.fetch(row.url)
    if not row.path:
        raise NameRefusedError("it has neither a url nor a path, or not the header's columns")
    path = normalised(f"{row.folder}/{row.path}" if row.folder else row.path)
    blob = tree.files.get(path)
    if blob is None:
        raise NameRefusedError("there is no file of its path")
    return path, blob


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
