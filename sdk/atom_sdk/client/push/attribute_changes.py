"""Changes of attributes in a push: the attributes to set, and those that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from atom_sdk.client.push.attributes import UNREADABLE, canonical_attributes
from atom_sdk.client.push.import_metadata import Given
from atom_sdk.client.push.scan import Parent, Scan

Attributes = Mapping[str, str | None]


def renewed_paths(attributes: Attributes, given: Given, parent: Parent, scan: Scan) -> list[str]:
    """Return the files whose bytes stay and of which something else is said now, sorted.

    Whether a label is new, only the server knows.
    """
    changed = {
        path
        for path, text in sorted(attributes.items())
        if text != _given_before(parent.attributes.get(path))
    }
    changed |= {
        path for path, split in sorted(given.splits.items()) if parent.splits.get(path) != split
    }
    changed.update(given.labels)
    if not changed:
        return []
    changed.difference_update(file.path for file in scan.new)
    changed.difference_update(file.path for file, _ in scan.reused)
    return [path for path in sorted(changed) if parent.digests.get(path) in parent.stored]


def with_given(changes: pa.Table, given: Given) -> pa.Table:
    """Return the changes with the label and split of each file that is put, where one is given."""
    ops, paths = changes["op"].to_pylist(), changes["path"].to_pylist()
    for name, values in (("label", given.labels), ("split", given.splits)):
        if values:
            column = [
                values.get(path) if op == "put" else None
                for op, path in zip(ops, paths, strict=True)
            ]
            changes = changes.append_column(name, pa.array(column, pa.string()))
    return changes


def with_attributes(changes: pa.Table, given: Attributes, parent: Parent) -> pa.Table:
    """Return the changes with the attributes of each file that is put.

    A file that was given none keeps what the parent has, as long as its bytes are the same.
    """
    names = ("op", "path", "digest")
    columns = (changes[name].to_pylist() for name in names)
    values = [
        _attributes_of(path, digest, given, parent) if op == "put" else None
        for op, path, digest in zip(*columns, strict=True)
    ]
    index = changes.schema.get_field_index("attributes")
    return changes.set_column(index, changes.schema.field(index), pa.array(values, pa.string()))


def _attributes_of(path: str, digest: bytes, given: Attributes, parent: Parent) -> str | None:
    if path in given:
        return given[path]
    before = parent.attributes.get(path)
    return before if before is not None and parent.digests.get(path) == digest else None


def _given_before(stored: str | None) -> str | None:
    """Return what was pushed: the server adds what it found out itself."""
    if stored is None or UNREADABLE not in stored:
        return stored
    values = json.loads(stored)
    values.pop(UNREADABLE, None)
    return canonical_attributes(values)
