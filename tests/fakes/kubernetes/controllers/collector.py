"""The garbage collector: dependents go with their owners, or lose them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..deletion import FOREGROUND, ORPHAN
from ..errors import ApiError
from ..machinery import Machinery
from ..resources import Resource
from ..store import Event
from .base import Controller, Key

Json = dict[str, Any]
# Namespace, kind in the store, name.
Node = tuple[str, str, str]


class Collector(Controller):
    """Keeps the graph of owners and deletes what nobody owns any more."""

    name = "garbage-collector"
    # The real collector comes after the controllers of the kind.
    delay_seconds = 0.1

    def __init__(self, machinery: Machinery, deletion: Any) -> None:
        super().__init__(machinery, deletion)
        self._dependents: dict[str, set[Node]] = defaultdict(set)
        self._uids: dict[Node, tuple[str, ...]] = {}

    def subscriptions(self) -> list[tuple[str, Callable[[Event], None]]]:
        """Listen to all kinds that are stored."""
        keys = {item.store_key for item in self.machinery.registry.all() if item.stored}
        return [(key, self._event) for key in sorted(keys - {"events."})]

    def _event(self, event: Event) -> None:
        if event.after is None:
            return
        metadata = event.after.obj["metadata"]
        node = (event.place[0], event.kind, event.place[1])
        uids = () if event.type == "DELETED" else _owner_uids(metadata)
        self._note_owners(node, uids)
        if uids and event.type == "ADDED":
            self.enqueue("dependent", *node)
        if event.type == "DELETED":
            self.enqueue("deleted", metadata["uid"])
            for reference in metadata.get("ownerReferences") or ():
                self.enqueue("owner", event.place[0], reference["uid"], *self._owner(reference))
        elif metadata.get("deletionTimestamp") and {FOREGROUND, ORPHAN} & set(
            metadata.get("finalizers") or ()
        ):
            owner = (event.place[0], metadata["uid"], event.kind, event.place[1])
            self.enqueue("owner", *owner, after=self.delay_seconds)

    def _note_owners(self, node: Node, uids: tuple[str, ...]) -> None:
        for uid in self._uids.pop(node, ()):
            self._dependents[uid].discard(node)
        for uid in uids:
            self._dependents[uid].add(node)
        if uids:
            self._uids[node] = uids

    def _owner(self, reference: Json) -> tuple[str, str]:
        resource = self._kind(reference)
        return (resource.store_key if resource else "", reference["name"])

    def _kind(self, reference: Json) -> Resource | None:
        return self.machinery.registry.by_kind(reference["apiVersion"], reference["kind"])

    def sync(self, key: Key) -> None:
        """Do what one change asks for."""
        what = key[0]
        if what == "deleted":
            for node in tuple(self._dependents.pop(key[1], ())):
                self._check(node)
        elif what == "dependent":
            self._check((key[1], key[2], key[3]))
        elif key[3]:
            self._finish(key[1], key[2], key[3], key[4])

    def _check(self, node: Node) -> None:
        """Delete a dependent whose owners are all gone."""
        namespace, kind, name = node
        obj = self.store.get(kind, namespace, name)
        if obj is None or obj["metadata"].get("deletionTimestamp"):
            return
        references = obj["metadata"].get("ownerReferences") or ()
        if not references or any(self._exists(namespace, item) for item in references):
            return
        self._delete(node, obj)

    def _delete(self, node: Node, obj: Json) -> None:
        namespace, kind, name = node
        body = {
            "propagationPolicy": "Background",
            "preconditions": {"uid": obj["metadata"]["uid"]},
        }
        self.deletion.delete(self.machinery.kind(kind), namespace, name, body)

    def _exists(self, namespace: str, reference: Json) -> bool:
        resource = self._kind(reference)
        if resource is None:
            return True
        place = namespace if resource.namespaced else ""
        owner = self.store.get(resource.store_key, place, reference["name"])
        return owner is not None and owner["metadata"]["uid"] == reference["uid"]

    def _finish(self, namespace: str, uid: str, kind: str, name: str) -> None:
        """Bring an owner that waits for its dependents nearer to its end."""
        resource = self.machinery.kind(kind)
        place = namespace if resource.namespaced else ""
        owner = self.store.get(kind, place, name)
        if owner is None or owner["metadata"]["uid"] != uid:
            return
        finalizers = owner["metadata"].get("finalizers") or []
        nodes = tuple(self._dependents.get(uid, ()))
        if ORPHAN in finalizers:
            for node in nodes:
                self._orphan(node, uid)
            self._release(resource, place, owner, ORPHAN)
        elif FOREGROUND in finalizers:
            blocking = [self._end_dependent(node, uid) for node in nodes]
            if not any(blocking):
                self._release(resource, place, owner, FOREGROUND)

    def _end_dependent(self, node: Node, uid: str) -> bool:
        """Delete a dependent; returns whether its owner waits for it."""
        obj = self.store.get(node[1], node[0], node[2])
        if obj is None:
            return False
        if not obj["metadata"].get("deletionTimestamp"):
            self._delete(node, obj)
        return _blocks(obj, uid)

    def _orphan(self, node: Node, uid: str) -> None:
        def change(old: Json) -> Json:
            metadata = dict(old["metadata"])
            left = [item for item in metadata.get("ownerReferences") or () if item["uid"] != uid]
            metadata.pop("ownerReferences", None)
            metadata.pop("resourceVersion")
            return old | {"metadata": metadata | ({"ownerReferences": left} if left else {})}

        try:
            self.machinery.replace(self.machinery.kind(node[1]), (node[0], node[2]), change)
        except ApiError as failure:
            if failure.code != 404:
                raise

    def _release(self, resource: Resource, place: str, owner: Json, mark: str) -> None:
        remove_finalizer(self.machinery, resource, place, owner["metadata"]["name"], mark)


def remove_finalizer(
    machinery: Machinery, resource: Resource, namespace: str, name: str, mark: str
) -> None:
    """Take one finalizer from an object, if it is still there."""

    def change(old: Json) -> Json:
        metadata = dict(old["metadata"])
        left = [item for item in metadata.get("finalizers") or () if item != mark]
        metadata.pop("finalizers", None)
        metadata.pop("resourceVersion")
        return old | {"metadata": metadata | ({"finalizers": left} if left else {})}

    try:
        machinery.replace(resource, (namespace, name), change)
    except ApiError as failure:
        if failure.code != 404:
            raise


def _owner_uids(metadata: Json) -> tuple[str, ...]:
    return tuple(item["uid"] for item in metadata.get("ownerReferences") or ())


def _blocks(obj: Json, uid: str) -> bool:
    return any(
        item["uid"] == uid and item.get("blockOwnerDeletion")
        for item in obj["metadata"].get("ownerReferences") or ()
    )
