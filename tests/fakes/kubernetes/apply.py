"""Server-side apply: who manages which field, and conflicts between managers."""

from __future__ import annotations

import json
from typing import Any

from .errors import ApiError
from .fields import (
    Path,
    Paths,
    difference,
    from_fields,
    in_order,
    item_key,
    owned,
    readable,
    to_fields,
)
from .resources import Resource
from .shapes import ANY, Shape

Json = dict[str, Any]


class Manager:
    """One entry of managedFields."""

    def __init__(self, entry: Json) -> None:
        self.name: str = entry["manager"]
        self.operation: str = entry["operation"]
        self.version: str = entry["apiVersion"]
        self.part: str = entry.get("subresource", "")
        self.time: str = entry.get("time", "")
        self.before = from_fields(entry.get("fieldsV1") or {})
        self.paths: Paths = set(self.before)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return what tells this entry from another."""
        return self.name, self.operation, self.version, self.part

    def entry(self, now: str) -> Json:
        """Return the entry as the object carries it."""
        body = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.version,
            "time": self.time if self.paths == self.before and self.time else now,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields(self.paths),
        }
        return body | ({"subresource": self.part} if self.part else {})

    def title(self) -> str:
        """Return the manager as a conflict names it."""
        text = f'"{self.name}"'
        if self.part:
            text += f' with subresource "{self.part}"'
        return text + (f" using {self.version}" if self.operation == "Update" else "")


def managers_of(obj: Json) -> list[Manager]:
    """Return the entries of an object."""
    return [Manager(entry) for entry in obj["metadata"].get("managedFields") or ()]


def write_managers(obj: Json, managers: list[Manager], now: str) -> None:
    """Store the entries in an object; entries without fields are dropped."""
    kept = [manager for manager in managers if manager.paths]
    kept.sort(key=lambda manager: (manager.operation, manager.name, manager.part))
    metadata = obj["metadata"]
    if kept:
        metadata["managedFields"] = [manager.entry(now) for manager in kept]
    else:
        metadata.pop("managedFields", None)


def _claim(managers: list[Manager], identity: tuple[str, str, str, str]) -> Manager:
    for manager in managers:
        if manager.identity == identity:
            return manager
    name, operation, version, part = identity
    entry = {"manager": name, "operation": operation, "apiVersion": version, "subresource": part}
    manager = Manager(entry)
    managers.append(manager)
    return manager


def track_update(
    old: Json | None, new: Json, shape: Shape | None, identity: tuple[str, str, str, str], now: str
) -> None:
    """Give the fields that a write changed to its manager."""
    managers = managers_of(old) if old else []
    changed, removed = difference(old, new, shape)
    lost = changed | removed
    for manager in managers:
        manager.paths -= lost
    own = _claim(managers, identity)
    own.paths |= changed
    write_managers(new, managers, now)


def check_configuration(resource: Resource, body: Json, shape: Shape | None) -> None:
    """Raise the recorded failures of a configuration that cannot be applied."""
    metadata = body.get("metadata") or {}
    if metadata.get("managedFields"):
        raise ApiError(400, "metadata.managedFields must be nil", "BadRequest")
    if unknown := _undeclared(body, shape):
        place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        kind = f"{resource.api_version}, Kind={resource.kind}"
        why = f"{unknown}: field not declared in schema"
        raise ApiError(500, f"failed to create typed patch object ({place}; {kind}): {why}")


def _undeclared(value: Any, shape: Shape | None, path: str = "") -> str:
    if isinstance(value, dict) and shape is not None:
        for key, child in value.items():
            if shape.kind == "struct" and key not in shape.fields:
                return f"{path}.{key}"
            if fault := _undeclared(child, shape.child(key), f"{path}.{key}"):
                return fault
    if isinstance(value, list) and shape is not None and shape.item is not None:
        for item in value:
            place = readable((item_key(item, shape.keys),)) if shape.keys else ""
            if fault := _undeclared(item, shape.item, path + place):
                return fault
    return ""


def merge(live: Any, config: Any, shape: Shape | None) -> Any:
    """Return the live value with a configuration laid over it."""
    shape = shape or ANY
    if shape.atomic and shape.kind != "any":
        return config
    if isinstance(config, dict) and isinstance(live, dict):
        result = dict(live)
        for key, value in config.items():
            result[key] = merge(live.get(key), value, shape.child(key))
        return result
    if isinstance(config, list) and isinstance(live, list) and shape.keys:
        items = {item_key(item, shape.keys): item for item in live}
        for item in config:
            key = item_key(item, shape.keys)
            items[key] = merge(items.get(key), item, shape.item)
        return list(items.values())
    if isinstance(config, list) and isinstance(live, list) and shape.kind == "set":
        return live + [item for item in config if item not in live]
    return config


def apply(
    live: Json, config: Json, shape: Shape | None, identity: tuple[str, str, str, str], force: bool
) -> tuple[Json, list[Manager]]:
    """Return the object after an apply and its managers; raise 409 on a conflict."""
    managers = managers_of(live)
    wanted_paths = owned(config, shape)
    merged = merge(live, config, shape)
    changed, _removed = difference(live, merged, shape)
    own = _claim(managers, identity)
    others = [manager for manager in managers if manager is not own]
    clashes = [(manager, manager.paths & changed & wanted_paths) for manager in others]
    clashes = [(manager, paths) for manager, paths in clashes if paths]
    if clashes and not force:
        raise _conflict(clashes)
    for manager, paths in clashes:
        manager.paths -= paths
    kept = wanted_paths.union(*(manager.paths for manager in others))
    for path in sorted(own.paths - kept, key=len, reverse=True):
        if not any(other[: len(path)] == path for other in kept):
            merged = _without(merged, path, shape or ANY)
    own.paths = wanted_paths
    return merged, managers


def _without(value: Any, path: Path, shape: Shape) -> Any:
    mark, rest = path[0], path[1:]
    if isinstance(value, dict):
        key = mark[2:]
        if key not in value:
            return value
        child = _without(value[key], rest, shape.child(key) or ANY) if rest else None
        result = {name: item for name, item in value.items() if name != key}
        return result | {key: child} if rest and child not in ({}, []) else result
    if isinstance(value, list) and mark.startswith("k:"):
        item_shape = shape.item or ANY
        if rest:
            return [
                _without(item, rest, item_shape) if item_key(item, shape.keys) == mark else item
                for item in value
            ]
        return [item for item in value if item_key(item, shape.keys) != mark]
    if isinstance(value, list):
        return [item for item in value if f"v:{json.dumps(item)}" != mark]
    return value


def _conflict(clashes: list[tuple[Manager, Paths]]) -> ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {manager.title()}",
            "field": readable(path),
        }
        for manager, paths in clashes
        for path in in_order(paths)
    ]
    if len(causes) == 1:
        text = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        groups = [
            f"conflicts with {manager.title()}:\n"
            + "\n".join(f"- {readable(path)}" for path in in_order(paths))
            for manager, paths in sorted(clashes, key=lambda clash: clash[0].name)
        ]
        text = f"Apply failed with {len(causes)} conflicts: " + "\n".join(groups)
    return ApiError(409, text, "Conflict", {"causes": causes})
