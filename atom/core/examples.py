"""OpenAPI: every JSON body and every JSON answer has an example, made from its schema.

Four hundred examples by hand would be wrong after the next change. So the values are shared
(`example_values`) and the shape is the schema's own. `BODIES` holds what a schema cannot express.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from atom.core.example_values import A_TIME, AN_ID, BODIES, PATTERNED, VALUES

Schema = dict[str, Any]

_METHODS = ("get", "post", "put", "patch", "delete")
_JSON = "application/json"
_PREFIX = "#/components/schemas/"
# Deeper than this, what may be left out is.
_MAX_DEPTH = 6
# A body without required fields shows this many fields.
_SHOWN_OPTIONAL = 3
_BY_FORMAT: dict[str, Any] = {
    "date-time": A_TIME,
    "date": A_TIME[:10],
    "uuid": AN_ID,
    "uri": "https://example.org/",
    "email": "lin@example.org",
    "double": 0.5,
}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular post-processing hook: an `example` beside each JSON schema."""
    examples = Examples(result["components"]["schemas"])
    for operation in _operations(result):
        body = operation.get("requestBody", {}).get("content", {}).get(_JSON)
        if body is not None:
            body.setdefault("example", examples.of_body(body["schema"]))
        for status, response in operation["responses"].items():
            answer = response.get("content", {}).get(_JSON) if status.startswith("2") else None
            if answer is not None and "schema" in answer:
                answer.setdefault("example", examples.of_answer(answer["schema"]))
    return result


def _operations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in result["paths"].values():
        yield from (path[method] for method in _METHODS if method in path)


class Examples:
    """Makes values of schemas, which may refer to each other by name."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self._schemas = schemas

    def of_body(self, schema: Schema) -> Any:
        """Return what a client might send: what is required, and a little more if nothing is."""
        name = schema.get("$ref", "").removeprefix(_PREFIX)
        if name in BODIES:
            return BODIES[name]
        whole = self._resolved(schema)
        if whole.get("type") != "object" or not whole.get("properties"):
            return self._value(whole, "", 0)
        properties = whole["properties"]
        shown = whole.get("required") or list(properties)[:_SHOWN_OPTIONAL]
        return {key: self._value(properties[key], key, 1) for key in shown if key in properties}

    def of_answer(self, schema: Schema) -> Any:
        """Return what the server might answer: every field."""
        return self._value(schema, "", 0)

    def _resolved(self, schema: Schema) -> Schema:
        """Return a schema whose own keys say all: references followed, `allOf` merged."""
        if "$ref" in schema:
            found = self._resolved(self._schemas[schema["$ref"].removeprefix(_PREFIX)])
            return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
        for key in ("allOf", "oneOf", "anyOf"):
            if key in schema:
                rest = {name: value for name, value in schema.items() if name != key}
                return {**self._resolved(schema[key][0]), **rest}
        return schema

    def _value(self, schema: Schema, name: str, depth: int) -> Any:
        schema = self._resolved(schema)
        for known in VALUES.get(name, ()):
            if _fits(known, schema):
                return known
        if schema.get("default") is not None:
            return schema["default"]
        if "enum" in schema:
            return schema["enum"][0]
        if depth >= _MAX_DEPTH and schema.get("nullable"):
            return None
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        return _scalar(schema)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        if properties:
            return {key: self._value(one, key, depth + 1) for key, one in properties.items()}
        inner = schema.get("additionalProperties")
        if isinstance(inner, dict) and inner:
            return {"loss": self._value(inner, "", depth + 1)}
        return {}

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        if depth >= _MAX_DEPTH and not schema.get("minItems"):
            return []
        singular = name.removesuffix("s")
        return [self._value(schema["items"], singular, depth + 1)] * schema.get("minItems", 1)


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a shared word is what the schema allows, as far as it matters here."""
    if value is None:
        return bool(schema.get("nullable"))
    expected = _TYPES.get(schema.get("type", ""))
    if expected is None or not isinstance(value, expected):
        return False
    if isinstance(value, bool) != (schema["type"] == "boolean"):
        return False
    if "enum" in schema:
        return value in schema["enum"]
    if isinstance(value, str):
        return _text_fits(value, schema)
    if isinstance(value, list):
        return "enum" not in schema.get("items", {}) and "$ref" not in schema.get("items", {})
    if isinstance(value, int | float):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


def _text_fits(text: str, schema: Schema) -> bool:
    form = schema.get("format")
    if "pattern" in schema and not re.search(schema["pattern"], text):
        return False
    if form in _BY_FORMAT:
        return form == "uuid" and text == AN_ID
    return bool(schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)))


def _scalar(schema: Schema) -> Any:
    kind, form = schema.get("type"), schema.get("format", "")
    if kind == "string" and "pattern" in schema:
        return next((one for one in PATTERNED if re.search(schema["pattern"], one)), "digits")
    if kind == "string":
        text = str(_BY_FORMAT.get(form, "digits"))
        return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", None)]
    if kind in {"integer", "number"}:
        number = _BY_FORMAT.get(form, 1)
        return min(max(number, schema.get("minimum", number)), schema.get("maximum", number))
    if kind == "boolean":
        return False
    return {}
