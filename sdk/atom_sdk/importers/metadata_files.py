"""Files of metadata in a folder of Hugging Face: `metadata.jsonl`, `.csv` or `.parquet`.

A row names one file or several, by paths relative to the metadata file: `file_name`,
`image_file_name`, `file_names`; in JSON lines `image`, too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.client.push.attributes import cell_value
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.hf_features import features_of, with_names
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import column_twice, line_not_json, not_readable, not_utf8
from atom_sdk.importers.table_columns import has_boxes
from atom_sdk.importers.table_text import head_rows, table_head, table_text
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

# The first of a folder counts.
_SUFFIXES = (".jsonl", ".csv", ".parquet")
_NAMES = tuple(f"metadata{suffix}" for suffix in _SUFFIXES)
_FILE, _FILES = "file_name", "file_names"
_IN_LINES = ("image", "audio", "video")
_HEAD_BYTES = 1 << 16
_DAMAGES = (pa.ArrowException, OSError)


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """One row: the names of its files, by column, and its other values."""

    where: str
    names: list[tuple[str, str]]
    values: Mapping[str, Any]


def metadata_files(tree: Tree) -> dict[str, list[str]]:
    """Return the metadata files of each folder, the one that counts first."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in tree.annotation_paths():
        folder, _, name = path.rpartition("/")
        is_metadata = name.lower() in _NAMES or (path == tree.name and _suffix(path) == ".jsonl")
        if is_metadata and file_columns(tree, path):
            folders[folder].append(path)
    order = {suffix: place for place, suffix in enumerate(_SUFFIXES)}
    for paths in folders.values():
        paths.sort(key=lambda path: order[_suffix(path)])
    return dict(folders)


def file_columns(tree: Tree, path: str) -> list[str]:
    """Return the columns of a table that name files, none for one that has no such column."""
    suffix = _suffix(path)
    try:
        if suffix == ".parquet":
            return _naming(_schema(tree, path).names)
        if suffix == ".csv":
            rows = head_rows(table_head(tree, path))
            return _naming(rows[0]) if rows and not has_boxes(rows[0]) else []
        return _naming(_first_line(tree, path), is_lines=True)
    except _DAMAGES:
        return []


def metadata_rows(tree: Tree, path: str, report: Report) -> Iterator[MetadataRow]:
    """Yield the rows of a table. Raises AnnotationsUnreadableError."""
    data = tree.read_annotations(path, report)
    suffix = _suffix(path)
    read = {".parquet": _parquet_rows, ".csv": _csv_rows}.get(suffix, _json_rows)
    for number, values in read(data, path, tree):
        where = f"{path}, {'row' if suffix == '.parquet' else 'line'} {number}"
        yield _row(where, values, is_lines=suffix == ".jsonl")


def _suffix(path: str) -> str:
    return path[path.rfind(".") :].lower()


def _naming(names: Collection[str], *, is_lines: bool = False) -> list[str]:
    """The columns of names: those called so; in JSON lines those of Hugging Face's newer form."""
    columns = [
        name
        for name in names
        if name in (_FILE, _FILES) or name.endswith((f"_{_FILE}", f"_{_FILES}"))
    ]
    return columns or [name for name in names if is_lines and name in _IN_LINES]


def _row(where: str, values: Mapping[str, Any], *, is_lines: bool) -> MetadataRow:
    columns = _naming(values.keys(), is_lines=is_lines)
    names = []
    for column in columns:
        value = values[column]
        items = value if isinstance(value, list) else [value]
        names += [(column, item) for item in items if isinstance(item, str) and item]
    # With several columns of names, each file keeps the names of the others.
    dropped = columns if len(columns) == 1 else ()
    rest = {name: value for name, value in values.items() if name not in dropped}
    return MetadataRow(where, names, rest)


def _first_line(tree: Tree, path: str) -> Collection[str]:
    with tree.files[path].open() as stream:
        line = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        # A line that is cut, or none: a name at its beginning is enough.
        return [_FILE] if f'"{_FILE}"'.encode() in line else []
    return values.keys() if isinstance(values, dict) else []


def _schema(tree: Tree, path: str) -> pa.Schema:
    with tree.files[path].open() as stream:
        return pq.read_schema(stream if stream.seekable() else BytesIO(stream.read()))


def _json_rows(data: bytes, path: str, _tree: Tree) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnnotationsUnreadableError(not_utf8(path)) from error
    # Other characters than \n may be line ends for `splitlines`, and stand in JSON as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise AnnotationsUnreadableError(line_not_json(path, number, error)) from error
        if not isinstance(values, dict):
            raise AnnotationsUnreadableError(
                Sentence(
                    "formats.line_no_object",
                    "{path}, line {line}: it is not a JSON object.",
                    path=path,
                    line=number,
                )
            )
        yield number, values


def _csv_rows(data: bytes, path: str, tree: Tree) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = table_text(data, path, tree.text).rows()
    _, header = next(rows)
    names = [name.strip() for name in header]
    if len(set(names)) < len(names):
        raise AnnotationsUnreadableError(column_twice(path))
    for number, cells in rows:
        pairs = zip(names, cells, strict=False) if len(cells) == len(names) else ()
        yield number, {name: _value(cell) for name, cell in pairs if name and cell}


def _value(cell: str) -> Any:
    """A number, true or false; a list or an object where the cell is one in JSON."""
    if cell.startswith(("[", "{")):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell_value(cell)


def _parquet_rows(data: bytes, path: str, _tree: Tree) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        table = pq.read_table(BytesIO(data))
    except _DAMAGES as error:
        raise AnnotationsUnreadableError(not_readable(path, error)) from error
    features = features_of(table.schema)
    for number, row in enumerate(table.to_pylist()):
        yield number, {name: with_names(value, features.get(name)) for name, value in row.items()}
