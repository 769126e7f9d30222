"""S3's documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from atom.gateway.s3.errors import S3Error

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# Characters that a parser would change or that people cannot see, and XML 1.0 has.
_REFERENCED = re.compile(r"[\t\n\r\x7f]")
# XML 1.0 has no way to write these: a document with one is refused whole.
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ESCAPED = re.compile(r"%(?:0[0-8BCEF]|1[0-9A-F]|EF%BF%B[EF])")
Node = tuple[str, "str | Sequence[Node]"]


def document(name: str, children: Sequence[Node], *, namespace: str = NAMESPACE) -> bytes:
    """Return a document; a node is a name with a text or with children."""
    xmlns = f' xmlns="{namespace}"' if namespace else ""
    body = "".join(_written(children))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}{xmlns}>{body}</{name}>'.encode()


def error_document(error: S3Error, resource: str, request_id: str) -> bytes:
    """Return an error; the message says what to do next, too."""
    children: list[Node] = [
        ("Code", error.s3_code),
        ("Message", f"{error.detail} {error.action}"),
        ("Resource", resource),
        ("RequestId", request_id),
    ]
    return document("Error", children, namespace="")


def timestamp(at: datetime) -> str:
    """Return a time as S3 writes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def url_encoded(text: str) -> str:
    """Return a key as `encoding-type=url` asks for."""
    return quote(text, safe="/~")


def unescaped(text: str) -> str:
    """Return the key that a document without `encoding-type=url` shows as `text`."""
    return _ESCAPED.sub(lambda found: unquote(found[0]), text)


def _text(text: str) -> str:
    """Return text for a document; what XML cannot hold is percent-encoded, as in an address."""
    legal = _ILLEGAL.sub(lambda found: quote(found[0]), text)
    return _REFERENCED.sub(lambda found: f"&#x{ord(found[0]):X};", escape(legal))


def _written(nodes: Iterable[Node]) -> Iterable[str]:
    for name, content in nodes:
        yield f"<{name}>"
        if isinstance(content, str):
            yield _text(content)
        else:
            yield from _written(content)
        yield f"</{name}>"
