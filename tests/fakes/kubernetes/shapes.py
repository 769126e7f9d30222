"""The form of each kind: its fields, and which of them form one unit for field managers.

Built-in kinds take their form from the official client's models, custom ones from their schema.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import kubernetes.client

from .lists import SETS, UNITS, merge_keys

Json = dict[str, Any]

_LIST = re.compile(r"[lL]ist\[(.*)\]$")
_MAP = re.compile(r"[dD]ict[(\[]str, (.*)[)\]]$")
_SCALARS = {
    "str": str,
    "bytes": str,
    "int": int,
    "bool": bool,
    "float": (int, float),
    "datetime": str,
}
# Values of these are quantities, or numbers in the place of text.
_QUANTITIES = {"V1ResourceRequirements", "V1ResourceQuotaSpec", "V1NodeStatus", "V1LimitRangeItem"}


class Shape:
    """The form of one value; `fields`, `item` and `keys` are empty where they do not apply."""

    __slots__ = ("atomic", "fields", "item", "keys", "kind", "name", "pointer", "type")

    def __init__(self, kind: str, *, atomic: bool = False) -> None:
        # scalar, struct, map, list, set or any
        self.kind = kind
        self.atomic = atomic
        self.fields: dict[str, Shape] = {}
        self.item: Shape | None = None
        self.keys: tuple[str, ...] = ()
        self.type: Any = None
        self.name = ""
        # An absent pointer differs from an empty struct, so managers own it by itself.
        self.pointer = False

    def child(self, key: str) -> Shape | None:
        """Return the form of a field or of a value of a map; None when it is unknown."""
        if self.kind == "struct":
            return self.fields.get(key)
        return self.item if self.kind == "map" else ANY


ANY = Shape("any", atomic=True)

# Structs that are present even when they are empty.
_INLINE = {
    "V1ObjectMeta",
    "V1PodTemplateSpec",
    "V1PodSpec",
    "V1ResourceRequirements",
    "V1ContainerState",
}
# Lists that are present even when they are empty.
_PRESENT_LISTS = {"containers"}


def model_shape(model: str) -> Shape | None:
    """Return the form of a built-in kind by the name of its model, such as V1Pod."""
    return _struct(model) if hasattr(kubernetes.client, model) else None


@cache
def _struct(model: str) -> Shape:
    class_ = getattr(kubernetes.client, model)
    shape = Shape("struct")
    shape.name = re.sub(r"^(V\d+(alpha\d+|beta\d+)?|Core|Events|Rbac)+", "", model)
    shape.pointer = model not in _INLINE and not model.endswith(("Spec", "Status"))
    _PENDING[model] = shape
    for attribute, type_ in class_.openapi_types.items():
        key = class_.attribute_map[attribute]
        shape.fields[key] = _typed(type_, key, model)
    return shape


_PENDING: dict[str, Shape] = {}


def _typed(type_: str, key: str, owner: str) -> Shape:
    if match := _LIST.match(type_):
        shape = Shape("set" if key in SETS else "list")
        shape.item = _typed(match[1], "", owner)
        shape.keys = merge_keys(f"containers.{key}" if owner == "V1Container" else key)
        if owner == "V1PodSpec" and key == "tolerations":
            shape.keys = ()
        shape.atomic = shape.kind == "list" and not shape.keys
        shape.pointer = key not in _PRESENT_LISTS
        return shape
    if match := _MAP.match(type_):
        shape = Shape("map", atomic=key in UNITS)
        shape.item = _quantity() if owner in _QUANTITIES else _typed(match[1], "", owner)
        shape.pointer = True
        return shape
    if type_ in _SCALARS:
        shape = Shape("scalar")
        shape.type = _SCALARS[type_]
        shape.name = type_
        return shape
    if type_ == "object":
        return ANY
    shape = _PENDING[type_] if type_ in _PENDING else _struct(type_)
    if key in UNITS and not shape.atomic:
        unit = Shape("struct", atomic=True)
        unit.fields, unit.name, unit.pointer = shape.fields, shape.name, True
        return unit
    return shape


@cache
def _quantity() -> Shape:
    shape = Shape("scalar")
    shape.type = (str, int, float)
    shape.name = "quantity"
    return shape


def custom_shape(schema: Json, api_metadata: bool = True) -> Shape:
    """Return the form of a custom kind by its schema."""
    shape = _from_schema(schema)
    if api_metadata:
        for key in ("apiVersion", "kind"):
            shape.fields.setdefault(key, Shape("scalar"))
        shape.fields["metadata"] = _struct("V1ObjectMeta")
    return shape


def _from_schema(schema: Json) -> Shape:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        shape = Shape("any", atomic=schema.get("x-kubernetes-map-type") == "atomic")
        shape.fields = {k: _from_schema(v) for k, v in schema.get("properties", {}).items()}
        return shape
    type_ = schema.get("type")
    if type_ == "array":
        shape = Shape("list", atomic=True)
        shape.pointer = True
        shape.item = _from_schema(schema.get("items") or {})
        list_type = schema.get("x-kubernetes-list-type")
        if list_type == "map":
            shape.keys, shape.atomic = tuple(schema["x-kubernetes-list-map-keys"]), False
        elif list_type == "set":
            shape.kind, shape.atomic = "set", False
        return shape
    if type_ == "object":
        return _object(schema)
    shape = Shape("scalar" if type_ or schema.get("x-kubernetes-int-or-string") else "any")
    return shape


def _object(schema: Json) -> Shape:
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        shape = Shape("map", atomic=atomic)
        shape.item = _from_schema(extra)
        shape.pointer = True
        return shape
    shape = Shape("struct", atomic=atomic)
    shape.fields = {k: _from_schema(v) for k, v in schema.get("properties", {}).items()}
    shape.pointer = True
    return shape
