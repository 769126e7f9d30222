"""The part of CEL that rules of custom kinds use; a rule beyond it is noted and not checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from .errors import Cause

Json = dict[str, Any]
Scope = dict[str, Any]
Node = Callable[[Scope], Any]

_TOKEN = re.compile(
    r"\s*(?:(\d+\.\d+|\d+)|('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|([A-Za-z_]\w*)"
    r"|(&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]]))"
)
# Rules that this reader does not know: they are not checked.
UNREAD: set[str] = set()


class CelError(Exception):
    """A rule that cannot be read or whose value does not exist."""


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at, text = 0, text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise CelError(text)
            kinds = ("number", "string", "name", "sign")
            kind = kinds[(match.lastindex or 1) - 1]
            self.tokens.append((kind, match[match.lastindex or 1]))
            at = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> tuple[str, str]:
        if self.at >= len(self.tokens) or (expected and self.peek() != expected):
            raise CelError(expected)
        self.at += 1
        return self.tokens[self.at - 1]

    def rule(self) -> Node:
        node = self.ternary()
        if self.peek():
            raise CelError(self.peek())
        return node

    def ternary(self) -> Node:
        test = self.either()
        if self.peek() != "?":
            return test
        self.take()
        yes = self.ternary()
        self.take(":")
        no = self.ternary()
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def either(self) -> Node:
        left = self.both()
        while self.peek() == "||":
            self.take()
            left = _or(left, self.both())
        return left

    def both(self) -> Node:
        left = self.relation()
        while self.peek() == "&&":
            self.take()
            left = _and(left, self.relation())
        return left

    def relation(self) -> Node:
        left = self.sum()
        while self.peek() in _RELATIONS:
            left = _binary(_RELATIONS[self.take()[1]], left, self.sum())
        return left

    def sum(self) -> Node:
        left = self.unary()
        while self.peek() in _SUMS:
            left = _binary(_SUMS[self.take()[1]], left, self.unary())
        return left

    def unary(self) -> Node:
        if self.peek() == "!":
            self.take()
            inner = self.unary()
            return lambda scope: not inner(scope)
        if self.peek() == "-":
            self.take()
            inner = self.unary()
            return lambda scope: -inner(scope)
        return self.postfix(self.primary())

    def postfix(self, node: Node) -> Node:
        while self.peek() in (".", "["):
            if self.take()[1] == "[":
                index = self.ternary()
                self.take("]")
                node = _indexed(node, index)
                continue
            name = self.take()[1]
            node = self.method(node, name) if self.peek() == "(" else _field(node, name)
        return node

    def primary(self) -> Node:
        kind, text = self.take()
        if kind == "number":
            number = float(text) if "." in text else int(text)
            return lambda _scope: number
        if kind == "string":
            value = text[1:-1].replace("\\\\", "\\").replace("\\'", "'").replace('\\"', '"')
            return lambda _scope: value
        if text == "(":
            node = self.ternary()
            self.take(")")
            return node
        if text == "[":
            return self.literal_list()
        if text in _CONSTANTS:
            constant = _CONSTANTS[text]
            return lambda _scope: constant
        if kind == "name":
            return self.function(text) if self.peek() == "(" else _variable(text)
        raise CelError(text)

    def literal_list(self) -> Node:
        items = []
        while self.peek() != "]":
            items.append(self.ternary())
            if self.peek() == ",":
                self.take()
        self.take("]")
        return lambda scope: [item(scope) for item in items]

    def arguments(self) -> list[Node]:
        self.take("(")
        items = []
        while self.peek() != ")":
            items.append(self.ternary())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return items

    def function(self, name: str) -> Node:
        arguments = self.arguments()
        if name == "has":
            return _has(arguments[0])
        if name == "size":
            return lambda scope: len(arguments[0](scope))
        raise CelError(name)

    def method(self, node: Node, name: str) -> Node:
        if name in _MACROS:
            self.take("(")
            variable = self.take()[1]
            self.take(",")
            body = self.ternary()
            self.take(")")
            return _macro(_MACROS[name], node, variable, body)
        arguments = self.arguments()
        if name not in _METHODS:
            raise CelError(name)
        run = _METHODS[name]
        return lambda scope: run(node(scope), *(argument(scope) for argument in arguments))


def _or(left: Node, right: Node) -> Node:
    return lambda scope: left(scope) or right(scope)


def _and(left: Node, right: Node) -> Node:
    return lambda scope: left(scope) and right(scope)


def _binary(run: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    return lambda scope: run(left(scope), right(scope))


def _indexed(node: Node, index: Node) -> Node:
    def read(scope: Scope) -> Any:
        try:
            return node(scope)[index(scope)]
        except (KeyError, IndexError, TypeError) as failure:
            raise CelError from failure

    return read


def _field(node: Node, name: str) -> Node:
    def read(scope: Scope) -> Any:
        value = node(scope)
        if not isinstance(value, dict) or name not in value:
            raise CelError(name)
        return value[name]

    return read


def _variable(name: str) -> Node:
    def read(scope: Scope) -> Any:
        if name not in scope:
            raise CelError(name)
        return scope[name]

    return read


def _has(node: Node) -> Node:
    def test(scope: Scope) -> bool:
        try:
            return node(scope) is not None
        except CelError:
            return False

    return test


def _macro(run: Callable[[Any, Any], Any], node: Node, variable: str, body: Node) -> Node:
    return lambda scope: run(node(scope), lambda item: body({**scope, variable: item}))


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "in": lambda left, right: left in right,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
}
_CONSTANTS = {"true": True, "false": False, "null": None}
_MACROS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda items, test: all(test(item) for item in items),
    "exists": lambda items, test: any(test(item) for item in items),
    "exists_one": lambda items, test: sum(bool(test(item)) for item in items) == 1,
    "filter": lambda items, test: [item for item in items if test(item)],
    "map": lambda items, make: [make(item) for item in items],
}
_METHODS: dict[str, Callable[..., Any]] = {
    "contains": lambda text, part: part in text,
    "endsWith": lambda text, part: text.endswith(part),
    "matches": lambda text, pattern: re.search(pattern, text) is not None,
    "size": len,
    "startsWith": lambda text, part: text.startswith(part),
}


@cache
def _compiled(rule: str) -> Node | None:
    try:
        return _Parser(rule).rule()
    except CelError:
        UNREAD.add(rule)
        return None


def rule_causes(new: Any, old: Any, schema: Json, path: str = "") -> list[Cause]:
    """Return the rules of a schema that a value breaks."""
    causes = [
        Cause(path, "FieldValueInvalid", f"Invalid value: {rule.get('message') or rule['rule']}")
        for rule in schema.get("x-kubernetes-validations") or ()
        if _is_broken(rule["rule"], new, old)
    ]
    if isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        extra = schema.get("additionalProperties")
        for key, value in new.items():
            child = (schema.get("properties") or {}).get(key, extra)
            if isinstance(child, dict):
                place = f"{path}.{key}".lstrip(".")
                causes += rule_causes(value, before.get(key), child, place)
    elif isinstance(new, list) and isinstance(schema.get("items"), dict):
        for at, item in enumerate(new):
            causes += rule_causes(item, None, schema["items"], f"{path}[{at}]")
    return causes


def _is_broken(rule: str, new: Any, old: Any) -> bool:
    if "oldSelf" in rule and old is None:
        return False
    node = _compiled(rule)
    if node is None:
        return False
    try:
        return not node({"self": new, "oldSelf": old})
    except (CelError, TypeError):
        UNREAD.add(rule)
        return False
