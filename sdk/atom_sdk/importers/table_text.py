"""The text of a CSV: its encoding, the character between its cells, its rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from atom_sdk.importers.errors import AnnotationsUnreadableError, TextEncodingError
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

SUFFIXES = (".csv", ".tsv")
HEAD_BYTES = 1 << 16
_SAMPLE_ROWS = 200
_DELIMITERS = (",", ";", "\t", "|")
# Excel writes and reads a first line that names the delimiter.
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class TableText:
    """The text of a table, or its beginning; `first_line` is where `text` begins in the file."""

    path: str
    text: str
    delimiter: str
    first_line: int = 1

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and cells, without empty lines. Raises AnnotationsUnreadableError."""
        reader = csv.reader(
            io.StringIO(self.text, newline=""), delimiter=self.delimiter, strict=True
        )
        before = self.first_line - 1
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num + before, cells
        except csv.Error as error:
            line = reader.line_num + before
            reason = Sentence(
                "formats.line_wrong",
                "{path}, line {line}: {problem}.",
                path=self.path,
                line=line,
                problem=str(error),
            )
            raise AnnotationsUnreadableError(reason) from error


def table_text(data: bytes, path: str, options: TextOptions) -> TableText:
    """Return a whole table. Raises TextEncodingError."""
    encoding = _encoding(data, options)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8" else encoding
        raise TextEncodingError(
            Sentence(
                "formats.text_encoding",
                "{path} is not {encoding} text: byte {place} does not fit.",
                path=path,
                encoding=name,
                place=error.start,
            )
        ) from error
    return _table(text, path, options)


def table_head(tree: Tree, path: str) -> TableText:
    """Return the complete lines at the beginning of a table; bytes that do not fit become U+FFFD.

    Columns are known by it; `table_text` says what is wrong with the rest.
    """
    with tree.files[path].open() as stream:
        data = stream.read(HEAD_BYTES)
    text = data.decode(_encoding(data, tree.text), "replace")
    if len(data) == HEAD_BYTES and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    return _table(text, path, tree.text)


def head_rows(table: TableText) -> list[list[str]]:
    """Return the first rows of a table, up to one that cannot be read."""
    rows: list[list[str]] = []
    with suppress(AnnotationsUnreadableError):
        rows.extend(cells for _, cells in islice(table.rows(), _SAMPLE_ROWS))
    return rows


def _encoding(data: bytes, options: TextOptions) -> str:
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if options.encoding is None:
        return marked or "utf-8"
    name = codecs.lookup(options.encoding).name
    return marked if marked is not None and marked.startswith(name[:6]) else name


def _table(text: str, path: str, options: TextOptions) -> TableText:
    line = _SEPARATOR_LINE.match(text)
    if line is not None:
        text = text[line.end() :]
    delimiter = options.delimiter or (line[1] if line else _sniffed(text, path))
    return TableText(path, text, delimiter, 1 if line is None else 2)


def _sniffed(text: str, path: str) -> str:
    """The delimiter that cuts the first rows into the most equal and the most cells."""
    usual = "\t" if path.lower().endswith(".tsv") else ","
    order = [usual, *(one for one in _DELIMITERS if one != usual)]
    head = text[:HEAD_BYTES]
    scores = {one: _score(head_rows(TableText(path, head, one))) for one in order}
    # The first of equal ones counts: the usual one of the file's kind.
    return max(order, key=lambda one: scores[one])


def _score(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Share of the rows with as many cells as the first, and their number; 0 for single cells."""
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    width = len(rows[0])
    return sum(len(cells) == width for cells in rows) / len(rows), width
