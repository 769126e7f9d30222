"""The changes file of a push: Arrow IPC or Parquet, one row per path that is put or deleted.

Columns: op ("put" | "delete") · path · size · digest · media_type · attributes (JSON object) ·
pack · offset, and for labels and splits that are given with the files label · split (null says
nothing). A picture may have document: what is drawn on it, as the JSON of a document by names. A
media type that is null is what the name says. Digests are 32 bytes or 64 hex digits. A symbolic
link has link, its target, and needs nothing else but op and path: size, digest and media type
follow from the target, and it has no label or split of its own. Rows may come in any order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom.core.foreign_json import read_json
from atom.datasets.versions.engines.given_documents import document_fault
from atom.datasets.versions.engines.spilled import Entries
from atom_sdk.errors import PathError
from atom_sdk.manifests.entries import (
    DIGEST,
    ENTRY_SCHEMA,
    LINK_COLUMN,
    SOURCE_COLUMNS,
    entries_table,
)
from atom_sdk.manifests.layers.layers import MAX_LABEL_BYTES, is_label
from atom_sdk.manifests.links import link_entry
from atom_sdk.media_types import media_type_of
from atom_sdk.packs.paths import encode_path
from atom_sdk.sentences import Sentence

MAX_ATTRIBUTE_BYTES = 16 << 10
SPLITS = ("train", "val", "test")
_REQUIRED = ("size", "digest", "pack", "offset")
_PARQUET_MAGIC = b"PAR1"


class ChangesError(ValueError):
    """The file is not a valid changes file; the text says what is wrong."""


@dataclass(frozen=True)
class ChangesFile:
    """Entries to put (sorted) and paths to delete.

    `labels`, `splits` and `documents` belong to paths that are put. A large file keeps all of these
    in files.
    """

    puts: Entries
    deletes: Collection[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)


def decode_changes(data: bytes) -> ChangesFile:
    """Read and check a changes file. Raises ChangesError."""
    return check_changes(_read(data))


def check_changes(table: pa.Table) -> ChangesFile:
    """Check the rows of a changes file, in any order. Raises ChangesError."""
    missing = {"op", "path"} - set(table.column_names)
    if missing:
        raise ChangesError(
            Sentence(
                "datasets.column_missing",
                "The column {column} is missing.",
                column=sorted(missing)[0],
            )
        )
    unknown = pc.unique(table["op"]).to_pylist()
    if set(unknown) - {"put", "delete"}:
        raise ChangesError(
            Sentence("datasets.op_unknown", "The column op may only say put or delete.")
        )
    _check_paths(table["path"].to_pylist())
    is_put = pc.equal(table["op"], "put")
    deletes = table.filter(pc.invert(is_put))["path"].to_pylist()
    rows = table.filter(is_put)
    is_link = _column(rows, ENTRY_SCHEMA.field(LINK_COLUMN)).is_valid()
    puts = rows.filter(pc.invert(is_link))
    links = rows.filter(is_link)
    splits = _optional_column(puts, "split")
    if unknown := set(splits.values()).difference(SPLITS):
        raise ChangesError(
            Sentence(
                "datasets.split_unknown",
                "There is no split {split}; there are {splits}.",
                split=repr(min(unknown)),
                splits=", ".join(SPLITS),
            )
        )
    documents = _documents(puts)
    if told := [
        *_optional_column(links, "label"),
        *_optional_column(links, "split"),
        *_documents(links),
    ]:
        raise ChangesError(
            Sentence(
                "datasets.link_cannot_be_labeled",
                "{path} is a link: label the file that it leads to.",
                path=repr(told[0]),
            )
        )
    entries = pa.concat_tables([_puts(puts), _links(links)]).sort_by("path").combine_chunks()
    labels = _optional_column(puts, "label")
    return ChangesFile(entries, frozenset(deletes), labels, splits, documents)


def _documents(puts: pa.Table) -> dict[str, str]:
    """Return the checked documents of pictures by path."""
    documents = _texts(puts, "document")
    for path, text in documents.items():
        if fault := document_fault(text):
            raise ChangesError(
                Sentence(
                    "datasets.document_wrong",
                    "The document of {path} cannot be kept: {fault}",
                    path=repr(path),
                    fault=fault,
                )
            )
    return documents


def _texts(puts: pa.Table, name: str) -> dict[str, str]:
    """Return an optional column by path, without its nulls."""
    if name not in puts.column_names:
        return {}
    if not (pa.types.is_string(puts[name].type) or pa.types.is_null(puts[name].type)):
        raise ChangesError(
            Sentence(
                "datasets.column_has_wrong_type",
                "The column {column} has values of the wrong type.",
                column=name,
            )
        )
    rows = zip(puts["path"].to_pylist(), puts[name].to_pylist(), strict=True)
    return {path: value for path, value in rows if value is not None}


def _optional_column(puts: pa.Table, name: str) -> dict[str, str]:
    """Return an optional column of plain texts by path, without its nulls."""
    found = _texts(puts, name)
    for value in found.values():
        if not is_label(value):
            raise ChangesError(
                Sentence(
                    "datasets.label_not_plain_text",
                    "A {name} has 1 to {max_bytes} bytes of plain text.",
                    name=name,
                    max_bytes=MAX_LABEL_BYTES,
                )
            )
    return found


def _read(data: bytes) -> pa.Table:
    try:
        if data[:4] == _PARQUET_MAGIC:
            return pq.read_table(io.BytesIO(data))
        if data[:6] == b"ARROW1":
            return pa.ipc.open_file(pa.BufferReader(data)).read_all()
        return pa.ipc.open_stream(pa.BufferReader(data)).read_all()
    except (pa.ArrowException, OSError, ValueError) as exc:
        raise ChangesError(
            Sentence(
                "datasets.neither_arrow_nor_parquet",
                "It is neither an Arrow IPC nor a Parquet file.",
            )
        ) from exc


def _check_paths(paths: list[str | None]) -> None:
    seen: set[str] = set()
    for path in paths:
        if path is None:
            raise ChangesError(Sentence("datasets.path_null", "A path is null."))
        try:
            encode_path(path)
        except PathError as exc:
            raise ChangesError(str(exc)) from exc
        if path in seen:
            raise ChangesError(
                Sentence("datasets.path_repeated", "The path {path} comes twice.", path=repr(path))
            )
        seen.add(path)


def _puts(table: pa.Table) -> pa.Table:
    columns = []
    for wanted in ENTRY_SCHEMA:
        column = _column(table, wanted)
        if wanted.name in _REQUIRED and column.null_count:
            raise ChangesError(
                Sentence(
                    "datasets.null_in_put",
                    "The column {column} has a null in a put.",
                    column=wanted.name,
                )
            )
        columns.append(column)
    puts = pa.Table.from_arrays(columns, schema=ENTRY_SCHEMA).sort_by("path").combine_chunks()
    puts = _typed(puts)
    if len(puts) and min(pc.min(puts["size"]).as_py(), pc.min(puts["offset"]).as_py()) < 0:
        raise ChangesError(
            Sentence("datasets.negative_size_or_offset", "A size or an offset is negative.")
        )
    _check_attributes(puts["attributes"].to_pylist())
    return puts


def _links(rows: pa.Table) -> pa.Table:
    """Return the entries of links, which say of themselves what their targets say."""
    names = (LINK_COLUMN, "attributes")
    targets, attributes = (_column(rows, ENTRY_SCHEMA.field(name)).to_pylist() for name in names)
    _check_attributes(attributes)
    try:
        return entries_table(map(link_entry, rows["path"].to_pylist(), targets, attributes))
    except PathError as exc:
        raise ChangesError(str(exc)) from exc


def _typed(puts: pa.Table) -> pa.Table:
    """Return the puts with the media type that a file's name says where none is given."""
    given = puts["media_type"]
    if not given.null_count:
        return puts
    paths, known = puts["path"].to_pylist(), given.to_pylist()
    types = [kind or media_type_of(path) for path, kind in zip(paths, known, strict=True)]
    at = puts.schema.get_field_index("media_type")
    return puts.set_column(at, puts.schema.field(at), pa.array(types, given.type))


def _column(table: pa.Table, wanted: pa.Field) -> pa.ChunkedArray:
    if wanted.name in SOURCE_COLUMNS:
        # Only a scan registers objects: a client could name any object of the source's bucket.
        return pa.nulls(len(table), wanted.type)
    if wanted.name not in table.column_names:
        if wanted.name in _REQUIRED and len(table):
            raise ChangesError(
                Sentence(
                    "datasets.column_missing", "The column {column} is missing.", column=wanted.name
                )
            )
        return pa.nulls(len(table), wanted.type)
    column = table[wanted.name]
    try:
        if wanted.type == DIGEST and pa.types.is_string(column.type):
            raw = [None if text is None else bytes.fromhex(text) for text in column.to_pylist()]
            return pa.chunked_array([pa.array(raw, DIGEST)])
        return column.cast(wanted.type)
    except (pa.ArrowException, ValueError) as exc:
        raise ChangesError(
            Sentence(
                "datasets.column_has_wrong_type",
                "The column {column} has values of the wrong type.",
                column=wanted.name,
            )
        ) from exc


def _check_attributes(values: list[str | None]) -> None:
    for text in values:
        if text is None:
            continue
        if len(text.encode()) > MAX_ATTRIBUTE_BYTES:
            raise ChangesError(
                Sentence(
                    "datasets.attributes_too_large",
                    "Attributes may have {max_bytes} bytes at most.",
                    max_bytes=MAX_ATTRIBUTE_BYTES,
                )
            )
        try:
            parsed = read_json(text)
        except ValueError as exc:
            raise ChangesError(
                Sentence("datasets.attributes_not_an_object", "Attributes must be a JSON object.")
            ) from exc
        if not isinstance(parsed, dict):
            raise ChangesError(
                Sentence("datasets.attributes_not_an_object", "Attributes must be a JSON object.")
            )


def mark_unreadable(attributes: str | None, reason: str | None) -> str | None:
    """Return the attributes with what the worker found; a client's own claim is dropped."""
    parsed = json.loads(attributes) if attributes else {}
    parsed.pop("unreadable", None)
    if reason is not None:
        parsed["unreadable"] = reason
    if not parsed:
        return None
    return json.dumps(parsed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
