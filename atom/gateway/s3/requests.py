"""An S3 request as it came over HTTP: path-style, `/<bucket>/<key>`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from atom.gateway.s3.errors import AddressMalformed


@dataclass(frozen=True)
class S3Request:
    """`path` and `query` are decoded; header names are in lower case, repeated values joined."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]

    @property
    def bucket(self) -> str:
        """Return the name of the bucket; "" for the list of all."""
        return self.path[1:].partition("/")[0]

    @property
    def key(self) -> str:
        """Return the key in the bucket; "" for the bucket itself."""
        return self.path[1:].partition("/")[2]

    def parameter(self, name: str, default: str = "") -> str:
        """Return a parameter of the query."""
        return dict(self.query).get(name, default)

    def has(self, name: str) -> bool:
        """Return whether the query names a parameter, with or without a value."""
        return any(name == given for given, _ in self.query)


def parse_request(scope: Mapping[str, Any]) -> S3Request:
    """Return the request of an ASGI scope. Raises AddressMalformed."""
    raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    path = _decoded(raw_path.split(b"?", 1)[0])
    if not path.startswith("/"):
        raise AddressMalformed("The path does not begin with a slash.")
    return S3Request(scope["method"], path, _parameters(scope["query_string"]), headers)


def _parameters(raw: bytes) -> tuple[tuple[str, str], ...]:
    # Some clients write a space as a plus sign here; a plus sign itself is always escaped.
    pairs = (part.replace(b"+", b" ").partition(b"=") for part in raw.split(b"&") if part)
    return tuple((_decoded(name), _decoded(value)) for name, _, value in pairs)


def _decoded(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError as exc:
        raise AddressMalformed from exc
