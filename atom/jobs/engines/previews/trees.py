"""JSON and YAML as a tree of bounded depth and size."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Final

import yaml

MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 40
MAX_TEXT_CHARS: Final = 2000
_MAX_YAML_DEPTH: Final = 200
_CUT: Final = "…"
# libyaml's is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NotATreeError(ValueError):
    """The text is not the JSON or YAML that its name says."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What the file says; `truncated`: it says more than that."""

    value: Any
    truncated: bool


def read_json(text: str) -> Tree:
    """Return a JSON document as a tree. Raises NotATreeError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotATreeError(str(error)) from error
    return bounded(found)


def read_yaml(text: str) -> Tree:
    """Return a YAML document, or the list of several, as a tree. Raises NotATreeError.

    Only plain values are made, never objects. An alias that multiplies is cut where the tree has
    enough nodes.
    """
    try:
        _check_events(text)
        documents = list(yaml.load_all(text, Loader=_LOADER))  # a safe loader
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, OverflowError) as error:
        raise NotATreeError(str(error)) from error
    return bounded(documents[0] if len(documents) == 1 else documents)


def _check_events(text: str) -> None:
    """Refuse what would end the process while it is put together. Raises NotATreeError.

    libyaml builds nested nodes on the machine's stack, and merged mappings are copied, which
    doubles at every level.
    """
    depth, aliases, merges = 0, False, False
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        aliases = aliases or isinstance(event, yaml.AliasEvent)
        merges = merges or getattr(event, "value", None) == "<<"
        if depth > _MAX_YAML_DEPTH or (aliases and merges):
            raise NotATreeError("It nests too deeply, or merges what it repeats.")


def bounded(value: Any) -> Tree:
    """Return a value as JSON can hold it, without what is too deep or too much."""
    walk = _Walk()
    return Tree(walk.visit(value, 0), walk.truncated)


class _Walk:
    def __init__(self) -> None:
        self.left = MAX_NODES
        self.truncated = False

    def visit(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if isinstance(value, dict | list | tuple | set) and (depth >= MAX_DEPTH or self.left <= 0):
            self.truncated = True
            return _CUT
        if isinstance(value, dict):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple | set):
            return self._list(value, depth)
        return self._leaf(value)

    def _mapping(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, one in value.items():
            if self.left <= 0:
                self.truncated = True
                break
            found[self._text(str(key))] = self.visit(one, depth + 1)
        return found

    def _list(self, value: Any, depth: int) -> list[Any]:
        found = []
        for one in value:
            if self.left <= 0:
                self.truncated = True
                break
            found.append(self.visit(one, depth + 1))
        return found

    def _leaf(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, int):
            # Beyond that a browser's numbers are not exact.
            return value if abs(value) < 1 << 53 else self._text(_digits(value))
        return self._text(str(value))

    def _text(self, text: str) -> str:
        text = text.encode(errors="backslashreplace").decode()
        if len(text) <= MAX_TEXT_CHARS:
            return text
        self.truncated = True
        return text[:MAX_TEXT_CHARS] + _CUT


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return hex(value)
