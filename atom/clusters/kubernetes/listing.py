"""Whole lists of a cluster's objects, read in pages of one snapshot and kept slim."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails
from atom_sdk.sentences import Sentence

T = TypeVar("T")

PAGE_OBJECTS = 250
# A list whose snapshot expires this often between its pages is given up.
_MOST_ROUNDS = 3
EXPIRED = 410


class Key(NamedTuple):
    """Place of an object; the namespace is empty for objects of the whole cluster."""

    namespace: str
    name: str


class Held(NamedTuple, Generic[T]):
    """An object as it is kept: which one it is, its opaque version and its slim value."""

    uid: str
    version: str
    value: T


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """All objects of a selection at one version of the cluster."""

    objects: dict[Key, Held[T]]
    version: str


class _ExpiredError(Exception):
    """The snapshot of a list is gone before its last page."""


def read_list(
    connection: ClusterConnection,
    path: str,
    slim: Callable[[dict[str, Any]], T],
    *,
    selector: str = "",
    page: int = PAGE_OBJECTS,
    heard: Callable[[], None] = lambda: None,
) -> Listing[T]:
    """Return the whole list at a path of the API; `heard` is called for each page of `page` items.

    A failure in the middle raises ClusterFailure and returns nothing: a part is never the whole.
    """
    for _ in range(_MOST_ROUNDS):
        try:
            return _read_pages(connection, path, slim, selector, page, heard)
        except _ExpiredError:
            continue
    raise _expired()


def held_object(body: dict[str, Any], slim: Callable[[dict[str, Any]], T]) -> tuple[Key, Held[T]]:
    """Return the place and the slim form of an object. Raises ClusterAnswerWrong."""
    meta = body.get("metadata")
    if not isinstance(meta, dict):
        raise _wrong()
    texts = [meta.get(name) for name in ("name", "uid", "resourceVersion")]
    if not all(isinstance(text, str) and text for text in texts):
        raise _wrong()
    name, uid, version = map(str, texts)
    return Key(str(meta.get("namespace") or ""), name), Held(uid, version, slim(body))


def list_version(body: dict[str, Any]) -> str:
    """Return the resourceVersion of a list or bookmark. Raises ClusterAnswerWrong."""
    meta = body.get("metadata")
    version = meta.get("resourceVersion") if isinstance(meta, dict) else None
    if not isinstance(version, str) or not version:
        raise _wrong()
    return version


def _read_pages(
    connection: ClusterConnection,
    path: str,
    slim: Callable[[dict[str, Any]], T],
    selector: str,
    page: int,
    heard: Callable[[], None],
) -> Listing[T]:
    objects: dict[Key, Held[T]] = {}
    version = token = ""
    while True:
        query: dict[str, str | int] = {"limit": page}
        query |= {"labelSelector": selector} if selector else {}
        query |= {"continue": token} if token else {}
        try:
            body = connection.get(path, query).body
        except ClusterFails as failure:
            # Only a token expires. Its answer offers a token for an inconsistent rest: not taken.
            if token and failure.extra.get("status_code") == EXPIRED:
                raise _ExpiredError from failure
            raise
        if version and list_version(body) != version:
            raise _ExpiredError
        heard()
        version = list_version(body)
        objects.update(held_object(item, slim) for item in _items(body))
        token = str(body["metadata"].get("continue") or "")
        if not token:
            return Listing(objects, version)


def _items(body: dict[str, Any]) -> Iterable[dict[str, Any]]:
    # Go writes an empty list as null; a list without the field is none.
    items = body.get("items", False)
    items = [] if items is None else items
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _wrong()
    return items


def _expired() -> ClusterFails:
    detail = Sentence(
        "clusters.answer_status",
        "It answers {status}: {message}",
        status=EXPIRED,
        message="the list expires between its pages",
    )
    return ClusterFails(detail, status_code=EXPIRED)


def _wrong() -> ClusterAnswerWrong:
    return ClusterAnswerWrong(
        Sentence("clusters.answer_not_json", "It answers with something else than JSON.")
    )
