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
# All of a tree: keys on the way to a number may be long, and the numbers many.
MAX_POINTER_CHARS: Final = 256 << 10
_MAX_YAML_DEPTH: Final = 200
_CUT: Final = "…"
# As JSON's writers and readers that know them do.
_NO_NUMBERS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
# libyaml's is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NotATreeError(ValueError):
    """The text is not the JSON or YAML that its name promises."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The value in a JSON or YAML file; `truncated` if the file holds more.

    `numbers` are JSON pointers (RFC 6901) to texts that stand for numbers that no browser can hold.
    """

    value: Any
    truncated: bool
    numbers: list[str]


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
    found = walk.visit(value, ())
    return Tree(found, walk.truncated, walk.numbers)


class _Walk:
    def __init__(self) -> None:
        self.left = MAX_NODES
        self.truncated = False
        self.numbers: list[str] = []
        self.pointer_chars = 0

    def visit(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return the value at a path; `path` has the keys and places that lead to it."""
        self.left -= 1
        if isinstance(value, dict | list | tuple | set) and (
            len(path) >= MAX_DEPTH or self.left <= 0
        ):
            self.truncated = True
            return _CUT
        if isinstance(value, dict):
            return self._mapping(value, path)
        if isinstance(value, list | tuple | set):
            return self._list(value, path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value, path)
        return value if value is None or isinstance(value, bool) else self._text(str(value))

    def _mapping(self, value: dict[Any, Any], path: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, one in value.items():
            if self.left <= 0:
                self.truncated = True
                break
            name = self._text(str(key))
            found[name] = self.visit(one, (*path, name))
        return found

    def _list(self, value: Any, path: tuple[str, ...]) -> list[Any]:
        found: list[Any] = []
        for at, one in enumerate(value):
            if self.left <= 0:
                self.truncated = True
                break
            found.append(self.visit(one, (*path, str(at))))
        return found

    def _number(self, value: float, path: tuple[str, ...]) -> Any:
        # Beyond that a browser's numbers are not exact.
        if isinstance(value, int) and abs(value) < 1 << 53:
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        pointer = _pointer(path)
        self.pointer_chars += len(pointer)
        if self.pointer_chars <= MAX_POINTER_CHARS:
            self.numbers.append(pointer)
        digits = _digits(value)
        return _NO_NUMBERS.get(digits) or self._text(digits)

    def _text(self, text: str) -> str:
        text = text.encode(errors="backslashreplace").decode()
        if len(text) <= MAX_TEXT_CHARS:
            return text
        self.truncated = True
        return text[:MAX_TEXT_CHARS] + _CUT


def _digits(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return hex(value)


def _pointer(path: tuple[str, ...]) -> str:
    return "".join(f"/{one.replace('~', '~0').replace('/', '~1')}" for one in path)
