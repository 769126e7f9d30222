"""Annotation documents: canonical JSON, zstd, and the facts that are searched beside it.

A classification's document is `{"label_id": 3}`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import zstandard

MAX_DOCUMENT_BYTES = 1 << 20


@dataclass(frozen=True)
class EncodedDocument:
    """A document as it is stored; `sha256` is of the canonical JSON."""

    data: bytes
    sha256: str
    size_bytes: int


def encode(document: Mapping[str, Any]) -> EncodedDocument:
    """Return the document in its stored form; equal documents have equal digests."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    raw = text.encode()
    packed = zstandard.ZstdCompressor(level=3).compress(raw)
    return EncodedDocument(packed, hashlib.sha256(raw).hexdigest(), len(raw))


def decode(data: bytes) -> dict[str, Any]:
    """Undo `encode`."""
    raw = zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_DOCUMENT_BYTES)
    loaded = json.loads(raw)
    if not isinstance(loaded, dict):
        raise ValueError("an annotation document is a JSON object")
    return loaded


def label_ids_of(document: Mapping[str, Any]) -> list[int]:
    """Return the ids of the labels that a classification document names, at most one."""
    label_id = document.get("label_id")
    return [label_id] if isinstance(label_id, int) and not isinstance(label_id, bool) else []
