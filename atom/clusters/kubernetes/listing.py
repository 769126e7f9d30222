"""Whole lists of a cluster's objects, read in pages of one snapshot and kept slim."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import NoneType
from typing import Any, Generic, NamedTuple, TypeVar, cast

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails
from atom.clusters.kubernetes.storable import storable
from atom_sdk.sentences import Sentence

T = TypeVar("T")

PAGE_OBJECTS = 250
# A list whose snapshot expires this often between its pages is given up.
_MOST_ROUNDS = 3
EXPIRED = 410
# A server that always has another page, or another object, must not fill our memory.
MAX_OBJECTS = 100_000
_MAX_PAGES = 2_000
_MAX_TEXT = 253
_MAX_VERSION = 1024


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
    """Return the place and the slim form of an object.

    Its metadata, labels, annotations, spec, status and conditions have the types that they have in
    Kubernetes, and the form holds texts and numbers that can be stored. Raises ClusterAnswerWrong.
    """
    meta = _shape(body)
    texts = [meta.get(name) for name in ("name", "uid", "resourceVersion")]
    if not all(_is_text(text, _MAX_VERSION) for text in texts):
        raise _wrong()
    name, uid, version = map(str, texts)
    namespace = meta.get("namespace") or ""
    if not isinstance(namespace, str) or max(map(len, (name, uid, namespace))) > _MAX_TEXT:
        raise _wrong()
    slimmed = slim(body)
    return Key(namespace, name), Held(uid, version, cast(T, storable(slimmed)))


def _shape(body: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of an object whose parts are what they are named."""
    meta, status = body.get("metadata"), body.get("status")
    if not isinstance(meta, dict):
        raise _wrong()
    parts = [body.get("spec"), status, meta.get("labels"), meta.get("annotations")]
    if not all(isinstance(part, dict | NoneType) for part in parts):
        raise _wrong()
    for name in ("conditions", "containerStatuses", "initContainerStatuses"):
        rows = (status or {}).get(name) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _wrong()
    return meta


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= most


def list_version(body: dict[str, Any]) -> str:
    """Return the resourceVersion of a list or bookmark. Raises ClusterAnswerWrong."""
    meta = body.get("metadata")
    version = meta.get("resourceVersion") if isinstance(meta, dict) else None
    if not _is_text(version, _MAX_VERSION):
        raise _wrong()
    return str(version)


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
    for _ in range(_MAX_PAGES):
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
        check_count(len(objects))
    raise _endless()


def check_count(objects: int) -> None:
    """Raise ClusterAnswerWrong if a list or watch has more objects than are kept."""
    if objects > MAX_OBJECTS:
        raise _endless()


def _endless() -> ClusterAnswerWrong:
    return ClusterAnswerWrong(
        Sentence("clusters.list_endless", "A list has more than {max} items.", max=MAX_OBJECTS)
    )


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
