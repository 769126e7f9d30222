"""Lists: at a version, selected, in pages."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, NamedTuple

from .errors import ApiError, bad_request, expired, too_large_version
from .requests import Request
from .selectors import Match, both, field_match, label_match
from .store import Entry, Store, encode

Json = dict[str, Any]
Pair = tuple[tuple[str, str], Entry]

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


class Token(NamedTuple):
    """Where the next page begins, and at which version; -1 is the newest one."""

    version: int
    start: str

    def text(self) -> str:
        """Return the token as a client sends it back."""
        body = {"v": "meta.k8s.io/v1", "rv": self.version, "start": self.start + "\0"}
        encoded = json.dumps(body, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(encoded).rstrip(b"=").decode()


def parse_token(text: str) -> Token:
    """Return the token of a request; raise 400 when it is broken."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise _broken("illegal base64 data at input byte 0") from None
    try:
        body = json.loads(raw)
        return Token(body["rv"], body["start"].rstrip("\0"))
    except (ValueError, KeyError, TypeError):
        byte = raw[:1].decode("latin-1")
        shown = byte if byte.isascii() else f"\\x{ord(byte):02x}"
        raise _broken(f"invalid character '{shown}' looking for beginning of value") from None


def _broken(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def selection(request: Request) -> Match | None:
    """Return the test of a request's selectors, or None when it selects all."""
    match = both(
        label_match(request.query.get("labelSelector", "")),
        field_match(request.query.get("fieldSelector", ""), request.kind),
    )
    if request.name:
        return both(match, lambda obj: bool(obj["metadata"]["name"] == request.name))
    return match


def list_text(store: Store, request: Request) -> bytes:
    """Return the list that a request asks for, as JSON."""
    resource, match = request.kind, selection(request)
    limit = request.number("limit") or 0
    pairs, version, start = _state(store, request, limit)
    if start:
        pairs = [pair for pair in pairs if _key(request, pair) > start]
    chosen: list[Pair] = []
    rest = 0
    for at, pair in enumerate(pairs):
        if match is None or match(pair[1].obj):
            if limit and len(chosen) == limit:
                rest = len(pairs) - at
                break
            chosen.append(pair)
    metadata: Json = {"resourceVersion": str(version)}
    if rest:
        metadata["continue"] = Token(version, _key(request, chosen[-1])).text()
        if match is None:
            metadata["remainingItemCount"] = rest
    head = encode(
        {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": metadata,
        }
    )
    return b"".join((head[:-1], b',"items":[', b",".join(_texts(request, chosen)), b"]}"))


def _texts(request: Request, pairs: list[Pair]) -> list[bytes]:
    resource = request.kind
    if resource.custom:
        return [object_text(request, entry) for _place, entry in pairs]
    return [entry.item for _place, entry in pairs]


def object_text(request: Request, entry: Entry) -> bytes:
    """Return an object in the version of its path."""
    version = request.kind.api_version
    if entry.obj.get("apiVersion") == version:
        return entry.text
    return encode(entry.obj | {"apiVersion": version})


def _key(request: Request, pair: Pair) -> str:
    namespace, name = pair[0]
    return f"/{name}" if request.namespace or not namespace else f"/{namespace}/{name}"


def parse_version(text: str) -> int:
    """Return a resourceVersion; the real server answers 500 to what is none."""
    if text.isdigit():
        return int(text)
    why = f'strconv.ParseUint: parsing "{text}": invalid syntax'
    raise ApiError(500, f'resourceVersion: Invalid value: "{text}": {why}')


def _state(store: Store, request: Request, limit: int) -> tuple[list[Pair], int, str]:
    key, namespace = request.kind.store_key, request.namespace
    text = request.query.get("resourceVersion", "")
    match = request.query.get("resourceVersionMatch", "")
    with store.lock:
        if cursor := request.query.get("continue"):
            return _next_page(store, key, namespace, parse_token(cursor))
        version = parse_version(text) if text else 0
        if version > store.version:
            raise too_large_version(version, store.version)
        if version and (match == "Exact" or (limit and not match)):
            if version < store.compacted:
                raise expired("The resourceVersion for the provided list is too old.")
            return store.entries_at(key, version, namespace), version, ""
        return store.entries(key, namespace), store.version, ""


def _next_page(store: Store, key: str, namespace: str, token: Token) -> tuple[list[Pair], int, str]:
    start = token.start if token.start.startswith("/") else f"/{token.start}"
    if token.version == -1:
        return store.entries(key, namespace), store.version, start
    if token.version < store.compacted:
        failure = expired(_TOO_OLD)
        failure.metadata = {"continue": Token(-1, start.lstrip("/")).text()}
        raise failure
    return store.entries_at(key, token.version, namespace), token.version, start
