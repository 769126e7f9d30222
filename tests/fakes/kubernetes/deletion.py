"""Deletion: preconditions, grace, finalizers and what happens to dependents."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .errors import Cause, conflict, invalid
from .machinery import Machinery, Options
from .resources import Resource
from .selectors import Match
from .store import timestamp

Json = dict[str, Any]

ORPHAN_WARNING = (
    "child pods are preserved by default when jobs are deleted; set "
    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this "
    "warning"
)
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_POLICIES = ["Background", "Foreground", "Orphan"]
# Deleting these answers with the object, whether or not it is gone.
_RETURNED = {"Pod", "Service", "PersistentVolumeClaim", "PersistentVolume"}


class Deletion:
    """The deleting verbs."""

    def __init__(self, machinery: Machinery) -> None:
        self.machinery = machinery
        self.store = machinery.store

    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Json | None = None,
        options: Options | None = None,
    ) -> Json:
        """Delete an object; returns what the server answers."""
        body, options = body or {}, options or Options()
        policy = body.get("propagationPolicy")
        if policy is None and resource.kind == "Job" and body.get("orphanDependents") is None:
            options.warnings.append(ORPHAN_WARNING)
            policy = "Orphan"
        elif body.get("orphanDependents"):
            policy = "Orphan"
        if policy not in (None, *_POLICIES):
            names = ", ".join(f'"{item}"' for item in [*_POLICIES, "nil"])
            text = f'Unsupported value: "{policy}": supported values: {names}'
            cause = Cause("propagationPolicy", "FieldValueNotSupported", text)
            raise invalid("meta.k8s.io", "DeleteOptions", "", [cause])
        with self.store.lock:
            old = self.machinery.get(resource, namespace, name)
            _check_preconditions(resource, old, body.get("preconditions") or {})
            if options.dry_run:
                return old if resource.kind in _RETURNED else _success(resource, old)
            new = self._terminating(resource, old, body, policy)
            return self._store(resource, (namespace, name), old, new)

    def _terminating(self, resource: Resource, old: Json, body: Json, policy: str | None) -> Json:
        metadata = dict(old["metadata"])
        finalizers = list(metadata.get("finalizers") or ())
        for mark, name in ((FOREGROUND, "Foreground"), (ORPHAN, "Orphan")):
            if policy == name and mark not in finalizers:
                finalizers.append(mark)
        if finalizers:
            metadata["finalizers"] = finalizers
        grace = _grace(resource, old, body.get("gracePeriodSeconds"))
        current = metadata.get("deletionGracePeriodSeconds")
        if metadata.get("deletionTimestamp") is None:
            if resource.counted:
                metadata["generation"] = metadata.get("generation", 1) + 1
        elif current is None or grace >= current:
            return old | {"metadata": metadata}
        moment = self.store.clock() + timedelta(seconds=grace)
        metadata["deletionTimestamp"] = timestamp(moment)
        if resource.kind != "Namespace":
            metadata["deletionGracePeriodSeconds"] = grace
            return old | {"metadata": metadata}
        status = (old.get("status") or {}) | {"phase": "Terminating"}
        return old | {"metadata": metadata, "status": status}

    def _store(self, resource: Resource, place: tuple[str, str], old: Json, new: Json) -> Json:
        if self.machinery.is_held(resource, new):
            if new == old:
                return old
            return self.store.put(resource.store_key, place, new)
        if resource.kind == "Pod" and new != old:
            # Its watchers see a pod marked before they see it gone.
            new = self.store.put(resource.store_key, place, new)
        last = new if resource.kind == "Pod" else old
        self.store.remove(resource.store_key, place, last)
        if resource.kind == "CustomResourceDefinition":
            self.machinery.registry.remove_definition(old)
        for listener in self.machinery.on_deleted:
            listener(resource, new)
        return new if resource.kind in _RETURNED else _success(resource, old)

    def delete_collection(
        self,
        resource: Resource,
        namespace: str,
        match: Match | None,
        body: Json | None = None,
        options: Options | None = None,
    ) -> list[Json]:
        """Delete the selected objects; returns them as they were."""
        objects = [
            obj
            for obj in self.store.objects(resource.store_key, namespace)
            if match is None or match(obj)
        ]
        for obj in objects:
            metadata = obj["metadata"]
            place = metadata.get("namespace", "")
            self.delete(resource, place, metadata["name"], body, options)
        return objects


def _grace(resource: Resource, obj: Json, wish: int | None) -> int:
    if resource.kind != "Pod":
        return 0
    # A pod that no kubelet holds, or that has ended, goes at once.
    ended = (obj.get("status") or {}).get("phase") in ("Failed", "Succeeded")
    if ended or not obj["spec"].get("nodeName"):
        return 0
    default = obj["spec"].get("terminationGracePeriodSeconds", 30)
    return int(default if wish is None else wish)


def _check_preconditions(resource: Resource, obj: Json, conditions: Json) -> None:
    metadata = obj["metadata"]
    texts = (
        ("uid", "UID", "The object might have been deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "The object might have been modified"),
    )
    for key, title, why in texts:
        wish = conditions.get(key)
        if wish is not None and wish != metadata[key]:
            text = (
                f"the {title} in the precondition ({wish}) does not match the {title} in record "
                f"({metadata[key]}). {why}"
            )
            failure = conflict("", resource.kind, metadata["name"], text)
            if resource.group:
                failure = conflict(resource.group, resource.kind, metadata["name"], text)
            raise failure


def _success(resource: Resource, obj: Json) -> Json:
    parts = {
        "name": obj["metadata"]["name"],
        "group": resource.group,
        "kind": resource.plural,
        "uid": obj["metadata"]["uid"],
    }
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in parts.items() if value},
    }
