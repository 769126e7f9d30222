"""Annotation documents as they are stored: packed, or JSON in zstd, and facts beside it.

A classification's document is `{"label_id": 3}`; documents of objects have `"version": 2`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import zstandard

from atom.labeling.engines import packing
from atom_sdk.annotations.box_columns import BoxDocument

MAX_DOCUMENT_BYTES: Final = 4 << 20
VERSION_2: Final = 2


@dataclass(frozen=True)
class EncodedDocument:
    """A document as it is stored; `sha256` is of the canonical JSON."""

    data: bytes
    sha256: bytes
    size_bytes: int


def encode(document: Mapping[str, Any]) -> EncodedDocument:
    """Return the document in its stored form; equal documents have equal digests."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    raw = text.encode()
    data = packing.pack(document) or zstandard.ZstdCompressor(level=3).compress(raw)
    return EncodedDocument(data, hashlib.sha256(raw).digest(), len(raw))


def decode(data: bytes) -> dict[str, Any]:
    """Undo `encode`. Raises ZstdError for more than a document may have, before it is unpacked."""
    if data[:1] in packing.FORMS:
        return packing.unpack(data, MAX_DOCUMENT_BYTES)
    return _from_text(data)


def decode_for_layer(data: bytes) -> dict[str, Any] | BoxDocument:
    """Undo `encode`; a document of nothing but boxes stays in columns, as the layer takes them."""
    if data[:1] in packing.FORMS:
        return packing.unpack_for_layer(data, MAX_DOCUMENT_BYTES)
    return _from_text(data)


def _from_text(data: bytes) -> dict[str, Any]:
    raw = packing.bounded(zstandard.ZstdDecompressor().decompress, data, MAX_DOCUMENT_BYTES)
    loaded = json.loads(raw)
    if not isinstance(loaded, dict):
        raise ValueError("an annotation document is a JSON object")
    return loaded


def is_objects(document: Mapping[str, Any]) -> bool:
    """Return whether it is a document of objects, in the form of version 2."""
    return document.get("version") == VERSION_2


def label_ids_of(document: Mapping[str, Any]) -> list[int]:
    """Return the ids of the labels that a document names, each once, in order."""
    if is_objects(document):
        of_objects = {one["label"] for one in document.get("objects", [])}
        return sorted(of_objects | set(document.get("labels", [])))
    label_id = document.get("label_id")
    return [label_id] if isinstance(label_id, int) and not isinstance(label_id, bool) else []


def object_count(document: Mapping[str, Any]) -> int:
    """Return how many objects a document has."""
    return len(document.get("objects", [])) if is_objects(document) else 0
