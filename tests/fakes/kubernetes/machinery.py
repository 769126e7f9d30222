"""The verbs on objects: what the server does with a request once it is read.

Controllers inside the process use these verbs too. They own the bodies that they pass in and
never change what they got.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import apply as ssa
from .admission import check_namespace, check_quotas, check_security, namespace_warnings
from .cel import rule_causes
from .defaults import DEFAULTS, admit_pod, first_status, job, suffix
from .errors import (
    ApiError,
    absent,
    already_exists,
    bad_request,
    conflict,
    invalid,
    required,
    wrong,
)
from .normal import normalize
from .patches import copy
from .registry import Registry
from .resources import Resource
from .schemas import fill_defaults, schema_causes, shape_of
from .store import Event, Store
from .validation import creation_failure, update_failure

Json = dict[str, Any]

# Only the server writes these.
_KEPT = {
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
}


@dataclass
class Options:
    """How a write is done, and the warnings that it gives."""

    manager: str = ""
    dry_run: bool = False
    force: bool = False
    warnings: list[str] = field(default_factory=list)


class Machinery:
    """All verbs on all kinds."""

    def __init__(self, store: Store | None = None, registry: Registry | None = None) -> None:
        self.store = store or Store()
        self.registry = registry or Registry()
        # Called after a write, in the order of `subscribe`.
        self.on_deleted: list[Callable[[Resource, Json], None]] = []

    def kind(self, key: str) -> Resource:
        """Return a kind by its plural and group, such as `jobs.batch` or `pods.`."""
        return self.registry.by_key(key)

    def load_definitions(self, folder: Path) -> int:
        """Serve the custom kinds whose definitions a folder holds."""
        return self.registry.load_definitions(folder)

    # --- reads ---

    def get(self, resource: Resource, namespace: str, name: str) -> Json:
        """Return an object; raise 404 when it is absent."""
        obj = self.store.get(resource.store_key, namespace, name)
        if obj is None:
            raise absent(resource.group, resource.plural, name)
        return obj

    def list(self, resource: Resource, namespace: str = "") -> list[Json]:
        """Return the objects of a kind."""
        return self.store.objects(resource.store_key, namespace)

    def watch(self, resource: Resource, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` for each event of a kind; returns the end of it."""
        return self.store.subscribe(resource.store_key, listener)

    # --- create ---

    def create(
        self, resource: Resource, namespace: str, body: Json, options: Options | None = None
    ) -> Json:
        """Store a new object and return it."""
        options = options or Options()
        self.check_kind(resource, body)
        metadata = body.get("metadata") or {}
        body = body | {"metadata": metadata}
        self._name(resource, metadata)
        name = metadata["name"]
        if resource.namespaced and metadata.setdefault("namespace", namespace) != namespace:
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the "
                "request"
            )
        with self.store.lock:
            check_namespace(self.store, resource, namespace, name)
            obj = self._prepared(resource, body, options)
            self._admit(resource, obj, namespace, options)
            place = (namespace if resource.namespaced else "", name)
            if self.store.entry(resource.store_key, *place):
                raise already_exists(resource.group, resource.plural, name)
            if options.manager:
                self._track(resource, None, obj, options)
            if options.dry_run:
                return obj
            stored = self.store.put(resource.store_key, place, obj)
        if resource.kind == "CustomResourceDefinition":
            self.registry.add_definition(stored)
        return stored

    def check_kind(self, resource: Resource, body: Json) -> None:
        """Raise 400 unless the body is of the kind of its path."""
        kind = body.setdefault("kind", resource.kind)
        version = body.setdefault("apiVersion", resource.api_version)
        if kind != resource.kind:
            own = f"{version.rsplit('/', 1)[-1]}.{kind}"
            target = f"{resource.group.split('.', 1)[0]}.{resource.kind}"
            raise bad_request(
                f'{kind} in version "{version.rsplit("/", 1)[-1]}" cannot be handled as a '
                f"{resource.kind}: converting ({own}) to ({target}): unknown conversion"
            )
        if version != resource.api_version:
            raise bad_request(
                f"the API version in the data ({version}) does not match the expected API version "
                f"({resource.api_version})"
            )

    def _name(self, resource: Resource, metadata: Json) -> None:
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + suffix()
        if not metadata.get("name"):
            why = "name or generateName is required"
            raise invalid(resource.group, resource.kind, "", [required("metadata.name", why)])
        if metadata.get("resourceVersion"):
            raise ApiError(500, "resourceVersion should not be set on objects to be created")

    def _prepared(self, resource: Resource, body: Json, options: Options) -> Json:
        metadata = body["metadata"]
        for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"):
            metadata.pop(key, None)
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": self.store.now()}
        if resource.counted:
            metadata["generation"] = 1
        obj: Json = {"kind": resource.kind, "apiVersion": resource.api_version, **body}
        if resource.has_status:
            obj.pop("status", None)
        if resource.custom:
            fill_defaults(obj, resource.schema or {})
            return obj
        if resource.kind == "Job":
            job(obj, options.dry_run)
        elif fill := DEFAULTS.get(resource.kind):
            fill(obj)
        if resource.has_status:
            obj["status"] = first_status(obj)
        return obj

    def _admit(self, resource: Resource, obj: Json, namespace: str, options: Options) -> None:
        if resource.custom:
            self._check_custom(resource, None, obj)
            return
        if resource.kind == "Pod":
            admit_pod(obj, self.store)
        # The server checks the fields of controllers first, and admission of pods first.
        if resource.kind == "Pod":
            options.warnings += check_security(self.store, obj, namespace)
        if failure := creation_failure(resource, obj):
            raise failure
        if resource.kind != "Pod":
            options.warnings += check_security(self.store, obj, namespace)
        check_quotas(self.store, resource, obj, namespace)

    def _check_custom(self, resource: Resource, old: Json | None, new: Json) -> None:
        schema = resource.schema or {}
        causes = schema_causes(new, schema) or rule_causes(new, old, schema)
        if causes:
            name = new["metadata"]["name"]
            raise invalid(resource.group, resource.kind, name, causes)

    def _track(self, resource: Resource, old: Json | None, new: Json, options: Options) -> None:
        identity = (options.manager, "Update", resource.api_version, "")
        ssa.track_update(old, new, shape_of(resource), identity, self.store.now())

    # --- update ---

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Json,
        options: Options | None = None,
        part: str = "",
    ) -> Json:
        """Replace an object, or its status when `part` says so."""
        self.check_kind(resource, body)
        version = body["metadata"].get("resourceVersion")
        if not version and (resource.custom or resource.kind == "Lease"):
            cause = wrong("metadata.resourceVersion", "0", "must be specified for an update")
            raise invalid(resource.group, resource.plural, name, [cause])
        return self.replace(resource, (namespace, name), lambda _old: body, options, part)

    def update_status(self, resource: Resource, namespace: str, name: str, status: Json) -> Json:
        """Replace the status of an object."""

        def change(old: Json) -> Json:
            return old | {"status": status}

        return self.replace(resource, (namespace, name), change, None, "status")

    def replace(
        self,
        resource: Resource,
        place: tuple[str, str],
        change: Callable[[Json], Json],
        options: Options | None = None,
        part: str = "",
        managers: Callable[[Json], None] | None = None,
    ) -> Json:
        """Store what `change` makes of the current object; unchanged objects are not written."""
        options = options or Options()
        namespace, name = place
        with self.store.lock:
            old = self.get(resource, namespace, name)
            body = change(old)
            self._check_preconditions(resource, place, old, body)
            new = self._merged(resource, old, body, part)
            self._check_update(resource, old, new, part, options)
            if managers is not None:
                managers(new)
            elif options.manager:
                self._track_part(resource, old, new, options, part)
            return self._written(resource, place, old, new, options)

    def _check_preconditions(
        self, resource: Resource, place: tuple[str, str], old: Json, body: Json
    ) -> None:
        metadata, name = body.get("metadata") or {}, place[1]
        if metadata.get("name", name) != name:
            raise bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL "
                f"({name})"
            )
        current = old["metadata"]
        uid = metadata.get("uid", current["uid"])
        if uid != current["uid"]:
            key = "/".join(part for part in ("/registry", resource.plural, *place) if part)
            raise conflict(
                resource.group,
                resource.plural,
                name,
                f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, "
                f"UID in object meta: {current['uid']}",
            )
        version = metadata.get("resourceVersion")
        if version and version != current["resourceVersion"]:
            raise conflict(resource.group, resource.plural, name)

    def _merged(self, resource: Resource, old: Json, body: Json, part: str) -> Json:
        before = old["metadata"]
        after = {k: v for k, v in (body.get("metadata") or {}).items() if k not in _KEPT}
        after |= {key: value for key, value in before.items() if key in _KEPT}
        new: Json = {"kind": resource.kind, "apiVersion": resource.api_version, **body}
        if part == "status":
            after = before if resource.custom else after
            new = old | {"metadata": after, "status": normalize(body.get("status"), resource)}
        else:
            new["metadata"] = after
            if resource.has_status:
                new.pop("status", None)
                if "status" in old:
                    new["status"] = old["status"]
        return new

    def _check_update(
        self, resource: Resource, old: Json, new: Json, part: str, options: Options
    ) -> None:
        if resource.custom:
            if not part:
                fill_defaults(new, resource.schema or {})
            self._check_custom(resource, old, new)
        elif not part:
            if (fill := DEFAULTS.get(resource.kind)) and new != old:
                new["metadata"] = dict(new["metadata"])
                new |= copy({key: value for key, value in new.items() if key != "status"})
                fill(new)
            if failure := update_failure(resource, old, new):
                raise failure
            if resource.kind == "Namespace":
                options.warnings += namespace_warnings(self.store, old, new)
        if resource.counted and not part and _content(old) != _content(new):
            generation = old["metadata"].get("generation", 1) + 1
            new["metadata"] = new["metadata"] | {"generation": generation}

    def _track_part(
        self, resource: Resource, old: Json, new: Json, options: Options, part: str
    ) -> None:
        if old == new:
            return
        identity = (options.manager, "Update", resource.api_version, part)
        new["metadata"] = dict(new["metadata"])
        ssa.track_update(old, new, shape_of(resource), identity, self.store.now())

    def _written(
        self, resource: Resource, place: tuple[str, str], old: Json, new: Json, options: Options
    ) -> Json:
        if new == old or options.dry_run:
            return new
        if old["metadata"].get("deletionTimestamp") and not self.is_held(resource, new):
            self.store.remove(resource.store_key, place, new)
            for listener in self.on_deleted:
                listener(resource, new)
            return new
        return self.store.put(resource.store_key, place, new)

    def is_held(self, resource: Resource, obj: Json) -> bool:
        """Return whether something still keeps a deleted object."""
        metadata = obj["metadata"]
        if metadata.get("finalizers"):
            return True
        if resource.kind == "Namespace":
            return bool((obj.get("spec") or {}).get("finalizers"))
        return resource.kind == "Pod" and metadata.get("deletionGracePeriodSeconds") != 0

    # --- apply ---

    def apply(
        self,
        resource: Resource,
        place: tuple[str, str],
        config: Json,
        options: Options,
        part: str = "",
    ) -> tuple[Json, bool]:
        """Apply a configuration; returns the object and whether it is new."""
        shape = shape_of(resource)
        identity = (options.manager, "Apply", resource.api_version, part)
        own = {key: value for key, value in config.items() if part or key != "status"}
        with self.store.lock:
            if self.store.entry(resource.store_key, *place) is None:
                if part:
                    raise absent(resource.group, resource.plural, place[1])
                return self._applied_new(resource, place, own, options, identity), True
            version = (config.get("metadata") or {}).get("resourceVersion")
            managers: list[ssa.Manager] = []

            def change(old: Json) -> Json:
                if version and version != old["metadata"]["resourceVersion"]:
                    raise conflict(resource.group, resource.plural, place[1])
                ssa.check_configuration(resource, own, shape)
                merged, entries = ssa.apply(old, own, shape, identity, options.force)
                managers[:] = entries
                metadata = {
                    key: value
                    for key, value in merged["metadata"].items()
                    if key != "resourceVersion"
                }
                return merged | {"metadata": metadata}

            def write(new: Json) -> None:
                new["metadata"] = dict(new["metadata"])
                ssa.write_managers(new, managers, self.store.now())

            return self.replace(resource, place, change, options, part, write), False

    def _applied_new(
        self,
        resource: Resource,
        place: tuple[str, str],
        config: Json,
        options: Options,
        identity: tuple[str, str, str, str],
    ) -> Json:
        shape = shape_of(resource)
        ssa.check_configuration(resource, config, shape)
        metadata = config.setdefault("metadata", {})
        metadata.setdefault("name", place[1])
        entries: list[ssa.Manager] = []
        _merged, entries = ssa.apply({"metadata": {}}, copy(config), shape, identity, False)
        quiet = Options(dry_run=True, warnings=options.warnings)
        with self.store.lock:
            obj = self.create(resource, place[0], config, quiet)
            ssa.write_managers(obj, entries, self.store.now())
            if options.dry_run:
                return obj
            stored = self.store.put(
                resource.store_key, (obj["metadata"].get("namespace", ""), place[1]), obj
            )
        return stored


def _content(obj: Json) -> Json:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}
