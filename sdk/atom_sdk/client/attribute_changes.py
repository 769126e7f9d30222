"""What a push changes about attributes: those that were given, and those that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from atom_sdk.client.attributes import UNREADABLE, canonical_attributes
from atom_sdk.client.scan import Parent, Scan

Attributes = Mapping[str, str | None]


def renewed_paths(given: Attributes, parent: Parent, scan: Scan) -> list[str]:
    """Return the files whose bytes stay and whose attributes do not, sorted."""
    sent = {file.path for file in scan.new} | {file.path for file, _ in scan.reused}
    return sorted(
        path
        for path, attributes in given.items()
        if path not in sent
        and parent.digests.get(path) in parent.stored
        and attributes != _given_before(parent.attributes.get(path))
    )


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
    return parent.attributes.get(path) if parent.digests.get(path) == digest else None


def _given_before(stored: str | None) -> str | None:
    """Return what was pushed: the server adds what it found out itself."""
    if stored is None or UNREADABLE not in stored:
        return stored
    values = json.loads(stored)
    values.pop(UNREADABLE, None)
    return canonical_attributes(values)
