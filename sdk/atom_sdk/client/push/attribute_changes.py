"""Changes of attributes in a push: the attributes to set, and those that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from atom_sdk.client.push.attributes import UNREADABLE, canonical_attributes
from atom_sdk.client.push.import_metadata import ImportMetadata
from atom_sdk.client.push.scan import Parent, Scan

Attributes = Mapping[str, str | None]


def renewed_paths(
    attributes: Attributes, metadata: ImportMetadata, parent: Parent, scan: Scan
) -> list[str]:
    """Return the files whose bytes stay and whose metadata changes, sorted.

    Whether a label or a document is new, only the server knows.
    """
    changed = {
        path
        for path, text in sorted(attributes.items())
        if text != _pushed_attributes(parent.attributes.get(path))
    }
    changed |= {
        path for path, split in sorted(metadata.splits.items()) if parent.splits.get(path) != split
    }
    changed.update(metadata.labels)
    changed.update(metadata.documents)
    if not changed:
        return []
    changed.difference_update(file.path for file in scan.new)
    changed.difference_update(file.path for file, _ in scan.reused)
    return [path for path in sorted(changed) if parent.digests.get(path) in parent.stored]


def with_metadata(changes: pa.Table, metadata: ImportMetadata) -> pa.Table:
    """Return the changes with the label, split and document of each file that is put."""
    ops, paths = changes["op"].to_pylist(), changes["path"].to_pylist()
    columns = {
        "label": metadata.labels,
        "split": metadata.splits,
        "document": metadata.documents,
    }
    for name, values in columns.items():
        if values:
            column = [
                values.get(path) if op == "put" else None
                for op, path in zip(ops, paths, strict=True)
            ]
            changes = changes.append_column(name, pa.array(column, pa.string()))
    return changes


def with_attributes(changes: pa.Table, attributes: Attributes, parent: Parent) -> pa.Table:
    """Return the changes with the attributes of each file that is put.

    A file without new ones keeps those of the parent, as long as its bytes are the same.
    """
    names = ("op", "path", "digest")
    columns = (changes[name].to_pylist() for name in names)
    values = [
        _attributes_of(path, digest, attributes, parent) if op == "put" else None
        for op, path, digest in zip(*columns, strict=True)
    ]
    index = changes.schema.get_field_index("attributes")
    return changes.set_column(index, changes.schema.field(index), pa.array(values, pa.string()))


def _attributes_of(path: str, digest: bytes, attributes: Attributes, parent: Parent) -> str | None:
    if path in attributes:
        return attributes[path]
    before = parent.attributes.get(path)
    return before if before is not None and parent.digests.get(path) == digest else None


def _pushed_attributes(stored: str | None) -> str | None:
    """Return the attributes that were pushed: the server adds its own ones."""
    if stored is None or UNREADABLE not in stored:
        return stored
    values = json.loads(stored)
    values.pop(UNREADABLE, None)
    return canonical_attributes(values)
