"""A folder of Hugging Face: pictures, sounds, videos or texts, and metadata files beside them.

A file has the values of the nearest metadata file that names it as attributes; `label` is its
label, `objects` are boxes. Without a column `label`, class folders give labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from atom_sdk.amounts import counted
from atom_sdk.importers import imagefolder
from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.json_values import ValueRefusedError, json_value
from atom_sdk.importers.metadata_files import (
    MetadataRow,
    file_columns,
    metadata_files,
    metadata_rows,
)
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.row_files import NamedFiles, RowFiles
from atom_sdk.importers.row_objects import COLUMNS as OBJECT_COLUMNS
from atom_sdk.importers.row_objects import ObjectReading, has_boxes
from atom_sdk.importers.trees import Tree
from atom_sdk.media_types import media_type_of
from atom_sdk.sentences import Sentence

_LABEL, _SPLIT = "label", "split"
_MEDIA = ("image/", "audio/", "video/")


def detect(tree: Tree) -> str | None:
    """Say why the tree is a folder of Hugging Face, None if it is not."""
    folders = metadata_files(tree)
    return f"{min(folders.values())[0]} names files" if folders else None


def explain(tree: Tree, path: str) -> str | None:
    """Return why JSON lines are not read, None where they say nothing of files."""
    if not file_columns(tree, path):
        return None
    return "JSON lines that name files were found and not read; the name metadata.jsonl is read"


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the files. Raises FormatUnknownError, AnnotationsUnreadableError."""
    folders = metadata_files(tree)
    if not folders:
        raise FormatUnknownError(
            Sentence(
                "formats.no_metadata",
                "{name} has no metadata.jsonl, .csv or .parquet with a column file_name.",
                name=tree.name,
            )
        )
    reader = _Reader(tree, report, [path for paths in folders.values() for path in paths])
    # The nearest metadata file counts, so the deepest folders come first.
    for folder in sorted(folders, key=lambda folder: (-_depth(folder), folder)):
        first, *others = folders[folder]
        for other in others:
            report.near_miss(other, f"it is not read, since {first} of the same folder counts")
        yield from reader.items(first)
    yield from reader.unnamed()


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0


class _Reader:
    """Reads metadata files one after the other."""

    def __init__(self, tree: Tree, report: Report, tables: list[str]) -> None:
        self._tree = tree
        self._report = report
        self._tables = frozenset(tables)
        self._files = RowFiles(tree, tables)
        self._has_folder_labels = imagefolder.detect(tree) is not None
        self._taken: set[str] = set()
        self._has_labels = False

    def items(self, path: str) -> Iterator[Item]:
        """Yield the files that one metadata file names."""
        rows = list(metadata_rows(self._tree, path, self._report))
        names = [name for row in rows for _, name in row.names]
        named = self._files.find_all(names, path)
        self._has_labels |= any(row.values.get(_LABEL) is not None for row in rows)
        reading = ObjectReading(corners=self._tree.text.has_corners)
        for row in rows:
            yield from self._row_items(row, named, reading)
        for note in reading.notes(path):
            self._report.note(note)

    def unnamed(self) -> Iterator[Item]:
        """Yield the pictures, sounds and videos that no row names, with their folders' labels."""
        count = 0
        for path, blob in self._tree.files.items():
            if path in self._taken or path in self._tables:
                continue
            if media_type_of(path).startswith(_MEDIA):
                count += 1
                yield Item(path, blob, self._folder_label(path), split_in(path))
            else:
                self._report.skip(path, "no metadata names it, and it is no picture or sound")
        if count:
            self._report.note(f"{counted(count, 'file')} in no metadata, imported without values")

    def _row_items(
        self, row: MetadataRow, named: NamedFiles, reading: ObjectReading
    ) -> Iterator[Item]:
        if not row.names:
            self._lose(row, row.where, "it names no file", reading)
        for place, (column, name) in enumerate(row.names):
            path = named.paths.get(name)
            if path is None:
                self._lose(row, f"{row.where}: {name}", named.reasons[name], reading, place)
            elif path in self._taken:
                reason = "another row, or metadata nearer to the file, names it; that one counts"
                self._report.skip(f"{row.where}: {name}", reason)
            else:
                self._taken.add(path)
                values = {key: value for key, value in row.values.items() if key != column}
                blob = self._tree.files[path]
                yield self._item(path, blob, values, reading, is_first=place == 0)

    def _lose(
        self, row: MetadataRow, subject: str, reason: str, reading: ObjectReading, place: int = 0
    ) -> None:
        objects, _ = self._objects(subject, row.values, reading) if place == 0 else (None, "")
        label = _text(row.values.get(_LABEL))
        self._report.lose_picture(subject, reason, objects.counts() if objects else None, label)

    def _objects(
        self, subject: str, values: Mapping[str, Any], reading: ObjectReading
    ) -> tuple[ObjectList | None, str]:
        name = next((name for name in OBJECT_COLUMNS if has_boxes(values.get(name))), None)
        return (None, "") if name is None else reading.read(subject, values[name], values)

    def _item(
        self,
        path: str,
        blob: Blob,
        values: Mapping[str, Any],
        reading: ObjectReading,
        *,
        is_first: bool,
    ) -> Item:
        split = split_of(str(values.get(_SPLIT) or "")) or split_in(path)
        label = _text(values.get(_LABEL))
        if label is None and not self._has_labels:
            label = self._folder_label(path)
        objects, unit = self._objects(path, values, reading) if is_first else (None, "")
        attributes = self._attributes(path, values)
        if objects is None:
            return Item(path, blob, label, split, attributes)
        item = objects.item(path, blob, self._report, split, attributes, unit)
        return replace(item, label=label)

    def _attributes(self, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
        attributes = {}
        for name, value in values.items():
            is_label = name == _LABEL and _text(value) is not None
            if is_label or (name in OBJECT_COLUMNS and has_boxes(value)):
                continue
            try:
                converted = json_value(value)
            except (ValueRefusedError, RecursionError) as refused:
                self._report.skip(f"{path}: {name}", str(refused))
                continue
            if converted is not None:
                attributes[name] = converted
        return attributes

    def _folder_label(self, path: str) -> str | None:
        return imagefolder.label_of(path) if self._has_folder_labels else None


def _text(value: Any) -> str | None:
    """A single label as text; a list or an object is an attribute."""
    return None if value in (None, "") or isinstance(value, (list, dict)) else str(value)
