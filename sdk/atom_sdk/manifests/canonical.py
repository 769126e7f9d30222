"""Canonical JSON: sorted keys, no spaces, UTF-8, so that equal values have equal digests."""

from __future__ import annotations

import json
from typing import Any

from atom_sdk.errors import ManifestCorruptError, UnknownFormatError


def encode_canonical(value: dict[str, Any]) -> bytes:
    """Bytes of a JSON object; NaN and infinities are refused with ValueError."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def decode_json(data: bytes, key: str, *formats: str) -> dict[str, Any]:
    """Read a JSON object and check that its `format` is one of these.

    Raises ManifestCorruptError or UnknownFormatError.
    """
    try:
        value = json.loads(data)
    except ValueError as error:
        raise ManifestCorruptError(key, "it is not JSON") from error
    if not isinstance(value, dict):
        raise ManifestCorruptError(key, "it is not a JSON object")
    if value.get("format") not in formats:
        raise UnknownFormatError(formats[-1], str(value.get("format")))
    return value
