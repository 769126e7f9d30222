"""Selectors of labels and of fields: their grammar, their faults and whether an object matches."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import ApiError, bad_request
from .resources import Resource

Json = dict[str, Any]
Match = Callable[[Json], bool]

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")
_KEY = re.compile(
    r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$"
)
_SYMBOLS = {"=", "==", "!=", "!", ",", "(", ")", "<", ">"}


class Requirement(NamedTuple):
    """One condition on one label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: dict[str, str]) -> bool:
        """Return whether labels meet the condition."""
        value = labels.get(self.key)
        if self.operator in ("in", "="):
            return value in self.values
        if self.operator in ("notin", "!="):
            return value not in self.values
        if self.operator == "exists":
            return value is not None
        return value is None


class _Tokens:
    def __init__(self, text: str) -> None:
        self.tokens = [match[1] for match in _TOKEN.finditer(text)]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token


def parse_labels(text: str) -> list[Requirement]:
    """Return the conditions of a label selector; raise 400 if it cannot be read."""
    tokens = _Tokens(text)
    requirements: list[Requirement] = []
    while tokens.peek():
        requirements.append(_requirement(tokens))
        token = tokens.take()
        if token and token != ",":
            raise bad_request(f"found '{token}', expected: ',' or 'end of string'")
        if token == "," and not tokens.peek():
            raise bad_request("found '', expected: identifier after ','")
    return requirements


def _requirement(tokens: _Tokens) -> Requirement:
    if tokens.peek() == "!":
        tokens.take()
        return Requirement(_key(tokens), "absent")
    key = _key(tokens)
    operator = tokens.peek()
    if operator in ("", ","):
        return Requirement(key, "exists")
    if operator in ("=", "==", "!="):
        tokens.take()
        value = "" if tokens.peek() in ("", ",") else tokens.take()
        return Requirement(key, "!=" if operator == "!=" else "=", (value,))
    if operator in ("in", "notin"):
        tokens.take()
        return Requirement(key, operator, _values(tokens))
    raise bad_request(
        f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=, gt, lt"
    )


def _key(tokens: _Tokens) -> str:
    key = tokens.take()
    if not key or key in _SYMBOLS or not _KEY.match(key):
        raise bad_request(f"unable to parse requirement: found '{key}', expected: identifier")
    return key


def _values(tokens: _Tokens) -> tuple[str, ...]:
    if (token := tokens.take()) != "(":
        raise bad_request(f"found '{token}' expected: '('")
    values: list[str] = []
    while (token := tokens.take()) != ")":
        if not token:
            raise bad_request("found '', expected: ',', ')' or identifier")
        if token != ",":
            values.append(token)
    return tuple(values)


def label_match(text: str) -> Match | None:
    """Return the test of a label selector, or None when it selects all."""
    requirements = parse_labels(text)
    if not requirements:
        return None
    return lambda obj: matches(requirements, obj)


def matches(requirements: list[Requirement], obj: Json) -> bool:
    """Return whether an object's labels meet all conditions."""
    labels = obj["metadata"].get("labels") or {}
    return all(requirement.holds(labels) for requirement in requirements)


def selector_requirements(selector: Json | None) -> list[Requirement] | None:
    """Return the conditions of a LabelSelector object; None selects nothing."""
    if selector is None:
        return None
    requirements = [
        Requirement(key, "=", (value,))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    names = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}
    requirements += [
        Requirement(item["key"], names[item["operator"]], tuple(item.get("values") or ()))
        for item in selector.get("matchExpressions") or []
    ]
    return requirements


# --- fields ---

_COMMON = ("metadata.name", "metadata.namespace")
_FIELDS: dict[str, tuple[str, ...]] = {
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Namespace": ("status.phase",),
    "Node": ("spec.unschedulable",),
    "Job": ("status.successful",),
    "Secret": ("type",),
    "ResourceSlice": ("spec.driver", "spec.nodeName"),
}


def field_match(text: str, resource: Resource) -> Match | None:
    """Return the test of a field selector, or None when it selects all."""
    tests: list[tuple[list[str], bool, str]] = []
    known = _COMMON + _FIELDS.get(resource.kind, ())
    for part in filter(None, text.split(",")):
        path, equal, value = _split(part)
        if path not in known:
            raise _unknown_field(path)
        tests.append((path.split("."), equal, value))
    if not tests:
        return None
    return lambda obj: all((_value(obj, path) == value) is equal for path, equal, value in tests)


def _unknown_field(path: str) -> ApiError:
    supported = ", ".join(f'"{name}"' for name in _COMMON)
    return bad_request(f'"{path}" is not a known field selector: only {supported}')


def _split(part: str) -> tuple[str, bool, str]:
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        if sign in part:
            path, value = part.split(sign, 1)
            return path.strip(), equal, value.strip()
    raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")


def _value(obj: Json, path: list[str]) -> str:
    value: Any = obj
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if value is None or value is False:
        return "false" if path[-1] in ("hostNetwork", "unschedulable") else ""
    return "true" if value is True else str(value)


def both(first: Match | None, second: Match | None) -> Match | None:
    """Return the test that holds where both hold."""
    if first is None or second is None:
        return first or second
    return lambda obj: first(obj) and second(obj)
