"""Strict reading of bodies: unknown and duplicate fields, wrong types, schemas of custom kinds."""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import ApiError, Cause, bad_request, required, unsupported, wrong
from .resources import Resource
from .shapes import Shape, custom_shape, model_shape

Json = dict[str, Any]

_MODELS = {
    "Event": "CoreV1Event",
    "ResourceClaim": "ResourceV1ResourceClaim",
    "TokenRequest": "AuthenticationV1TokenRequest",
    "Subject": "RbacV1Subject",
}


def shape_of(resource: Resource) -> Shape | None:
    """Return the form of a kind, or None when nothing is known about it."""
    if resource.custom:
        return _custom(resource)
    version = resource.version[0].upper() + resource.version[1:]
    return model_shape(_MODELS.get(resource.kind, f"{version}{resource.kind}"))


_CUSTOM: dict[int, Shape] = {}


def _custom(resource: Resource) -> Shape:
    key = id(resource)
    if key not in _CUSTOM:
        _CUSTOM[key] = custom_shape(resource.schema or {})
    return _CUSTOM[key]


class _Pairs(dict[str, Any]):
    """A JSON object that notes keys which came twice."""

    twice: tuple[str, ...] = ()


def _noted(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    noted = _Pairs(result)
    keys = [key for key, _value in pairs]
    noted.twice = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1))
    return noted


def parse_json(body: bytes, kind: str) -> Any:
    """Return the body; raise the recorded 400 when it is no JSON."""
    try:
        return json.loads(body, object_pairs_hook=_noted)
    except ValueError as failure:
        text = body.decode(errors="replace")
        why = "unexpected end of JSON input" if _is_cut(text) else str(failure)
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): "
            f"couldn't get version/kind; json parse error: {why} ({text[:1024]})"
        ) from failure


def _is_cut(text: str) -> bool:
    depth = text.count("{") + text.count("[") - text.count("}") - text.count("]")
    return not text.strip() or depth > 0


def duplicates(value: Any, path: str = "") -> list[str]:
    """Return the paths of fields that a body names twice."""
    paths: list[str] = []
    if isinstance(value, dict):
        if isinstance(value, _Pairs):
            paths += [f"{path}.{key}".lstrip(".") for key in value.twice]
        for key, child in value.items():
            paths += duplicates(child, f"{path}.{key}")
    elif isinstance(value, list):
        for at, child in enumerate(value):
            paths += duplicates(child, f"{path}[{at}]")
    return paths


def unknown(value: Any, shape: Shape | None, path: str = "") -> list[str]:
    """Remove the fields that the form does not have, and return their paths."""
    if shape is None or value is None:
        return []
    paths: list[str] = []
    if isinstance(value, dict) and shape.kind in ("struct", "map", "any"):
        for key in list(value):
            child = shape.fields.get(key) if shape.kind != "map" else shape.item
            place = f"{path}.{key}".lstrip(".")
            if child is None and shape.kind == "struct":
                paths.append(place)
                del value[key]
            else:
                paths += unknown(value[key], child, place)
    elif isinstance(value, list) and shape.item is not None:
        for at, child_value in enumerate(value):
            paths += unknown(child_value, shape.item, f"{path}[{at}]")
    return paths


_GO = {"int": "int32", "bool": "bool", "str": "string", "datetime": "v1.Time"}


def check_types(value: Any, shape: Shape, owner: str = "", path: str = "") -> str:
    """Return how a built-in body misses the types of its form, or nothing."""
    if value is None or shape.kind == "any":
        return ""
    if shape.kind == "scalar":
        if shape.name == "datetime" and isinstance(value, str):
            return _time_fault(value, path)
        if shape.type is None or _is_a(value, shape.type):
            return ""
        go = _GO.get(shape.name, shape.name)
        return _misfit(value, owner, path, go)
    if shape.kind in ("list", "set"):
        if not isinstance(value, list):
            return _misfit(value, owner, path, "[]v1")
        return _first(check_types(item, shape.item, owner, path) for item in value if shape.item)
    if not isinstance(value, dict):
        return _misfit(
            value, owner, path, f"v1.{shape.name}" if shape.name else "map[string]string"
        )
    owner = owner or shape.name
    return _first(
        check_types(child_value, child, owner, f"{path}.{key}".lstrip("."))
        for key, child_value in value.items()
        if (child := shape.child(key)) is not None
    )


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")
_MICRO = ("acquireTime", "renewTime", "eventTime")


def _time_fault(value: str, path: str) -> str:
    if _TIME.match(value):
        return ""
    micro = ".000000" if path.rsplit(".", 1)[-1] in _MICRO else ""
    form = f"2006-01-02T15:04:05{micro}Z07:00"
    return f'parsing time "{value}" as "{form}": cannot parse "{value}" as "2006"'


def _is_a(value: Any, type_: Any) -> bool:
    if isinstance(value, bool):
        return type_ is bool
    return isinstance(value, type_)


def _misfit(value: Any, owner: str, path: str, go: str) -> str:
    name = _json_name(value)
    return f"json: cannot unmarshal {name} into Go struct field {owner}.{path} of type {go}"


def _first(texts: Any) -> str:
    return next((text for text in texts if text), "")


def _json_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def decode_failure(resource: Resource, why: str) -> ApiError:
    """Return the failure of a body that does not fit its kind."""
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a '
        f"{resource.kind}: {why}"
    )


# --- custom kinds ---

_JSON_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def fill_defaults(value: Any, schema: Json) -> None:
    """Add the defaults of a custom kind's schema in place."""
    if isinstance(value, dict):
        _fill_fields(value, schema.get("properties") or {})
        extra = schema.get("additionalProperties")
        children, schema_below = list(value.values()), extra
    elif isinstance(value, list):
        children, schema_below = value, schema.get("items")
    else:
        return
    if isinstance(schema_below, dict):
        for child in children:
            fill_defaults(child, schema_below)


def _fill_fields(value: Json, properties: Json) -> None:
    for key, child in properties.items():
        if key not in value and "default" in child:
            value[key] = json.loads(json.dumps(child["default"]))
        if key in value:
            fill_defaults(value[key], child)


def schema_causes(value: Any, schema: Json, path: str = "") -> list[Cause]:
    """Return how a value breaks a custom kind's schema."""
    if value is None and schema.get("nullable"):
        return []
    if (type_ := schema.get("type")) and not _fits(value, type_):
        name = "null" if value is None else _schema_name(value)
        text = f'Invalid value: "{name}": {path} in body must be of type {type_}: "{name}"'
        return [Cause(path, "FieldValueTypeInvalid", text)]
    causes = _scalar_causes(value, schema, path)
    if isinstance(value, dict):
        causes += _object_causes(value, schema, path)
    elif isinstance(value, list):
        causes += _list_causes(value, schema, path)
    return causes


def _fits(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    return isinstance(value, _JSON_TYPES[type_])


def _schema_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def _scalar_causes(value: Any, schema: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    if isinstance(value, str):
        causes += _text_causes(value, schema, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        for key, sign, fits in (
            ("minimum", "greater", value >= schema.get("minimum", value)),
            ("maximum", "less", value <= schema.get("maximum", value)),
        ):
            if not fits:
                rule = f"should be {sign} than or equal to {schema[key]}"
                causes.append(wrong(path, str(value), f"{path} in body {rule}"))
    if "enum" in schema and value not in schema["enum"]:
        causes.append(unsupported(path, str(value), [str(item) for item in schema["enum"]]))
    return causes


def _text_causes(value: str, schema: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    shown = json.dumps(value)
    if len(value) < schema.get("minLength", 0):
        rule = f"should be at least {schema['minLength']} chars long"
        causes.append(wrong(path, shown, f"{path} in body {rule}"))
    if len(value) > schema.get("maxLength", len(value)):
        text = f"Too long: may not be more than {schema['maxLength']} bytes"
        causes.append(Cause(path, "FieldValueTooLong", text))
    if "pattern" in schema and not re.search(schema["pattern"], value):
        rule = f"should match '{schema['pattern']}'"
        causes.append(wrong(path, shown, f"{path} in body {rule}"))
    return causes


def _object_causes(value: Json, schema: Json, path: str) -> list[Cause]:
    properties = schema.get("properties") or {}
    extra = schema.get("additionalProperties")
    causes = [
        required(f"{path}.{key}".lstrip("."))
        for key in schema.get("required", ())
        if key not in value
    ]
    if len(value) < schema.get("minProperties", 0):
        rule = f"should have at least {schema['minProperties']} properties"
        causes.append(wrong(path, str(len(value)), f"{path} in body {rule}"))
    if len(value) > schema.get("maxProperties", len(value)):
        rule = f"must have at most {schema['maxProperties']} items"
        causes.append(Cause(path, "FieldValueTooMany", f"Too many: {len(value)}: {rule}"))
    for key, child_value in value.items():
        child = properties.get(key, extra)
        if isinstance(child, dict):
            causes += schema_causes(child_value, child, f"{path}.{key}".lstrip("."))
    return causes


def _list_causes(value: list[Any], schema: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    if len(value) < schema.get("minItems", 0):
        rule = f"should have at least {schema['minItems']} items"
        causes.append(wrong(path, str(len(value)), f"{path} in body {rule}"))
    if len(value) > schema.get("maxItems", len(value)):
        rule = f"must have at most {schema['maxItems']} items"
        causes.append(Cause(path, "FieldValueTooMany", f"Too many: {len(value)}: {rule}"))
    if keys := schema.get("x-kubernetes-list-map-keys"):
        seen: list[Json] = []
        for at, item in enumerate(value):
            known = {key: item.get(key) for key in keys} if isinstance(item, dict) else {}
            if known in seen:
                shown = json.dumps(known, separators=(",", ":"))
                text = f"Duplicate value: {shown}"
                causes.append(Cause(f"{path}[{at}]", "FieldValueDuplicate", text))
            seen.append(known)
    for at, item in enumerate(value):
        if isinstance(schema.get("items"), dict):
            causes += schema_causes(item, schema["items"], f"{path}[{at}]")
    return causes
