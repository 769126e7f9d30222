"""JSON Patch (RFC 6902) over JSON Pointer (RFC 6901), with limits for patches of strangers."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from atom.core.bodies import MAX_DEPTH, is_deeper_than
from atom_sdk.sentences import Sentence

MAX_OPERATIONS: Final = 10_000
# Copies may double a document again and again.
MAX_COPIED_BYTES: Final = 4 << 20
# One less than a body has: the patched document can be sent whole.
MAX_DOCUMENT_DEPTH: Final = MAX_DEPTH - 1
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_END = "-"


class PatchError(ValueError):
    """A patch that does not fit its document; `operation` counts from 0."""

    def __init__(self, operation: int, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.operation = operation
        self.sentence = sentence


class _Misfit(Exception):
    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def apply_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return the patched document; `document` itself stays as it is.

    Raises PatchError, also for a result of more than MAX_DOCUMENT_DEPTH levels.
    """
    if is_deeper_than(document, MAX_DOCUMENT_DEPTH):
        raise PatchError(0, _too_deep())
    patching = _Patching(copy.deepcopy(document))
    for number, operation in enumerate(operations):
        try:
            patching.apply(operation)
        except _Misfit as misfit:
            raise PatchError(number, misfit.sentence) from misfit
    # Moves make a document deeper too, and a look after each would cost a walk of the whole.
    if is_deeper_than(patching.document, MAX_DOCUMENT_DEPTH):
        raise PatchError(max(len(operations) - 1, 0), _too_deep())
    return patching.document


class _Patching:
    def __init__(self, document: Any) -> None:
        self.document = document
        self._copied = 0

    def apply(self, operation: Mapping[str, Any]) -> None:
        verbs: Mapping[Any, Callable[[Mapping[str, Any]], None]] = {
            "add": lambda op: self._add(_path(op), copy.deepcopy(_value(op))),
            "remove": lambda op: self._remove(_path(op)),
            "replace": lambda op: self._replace(_path(op), copy.deepcopy(_value(op))),
            "move": self._move,
            "copy": self._copy,
            "test": self._test,
        }
        name = operation.get("op")
        if not isinstance(name, str) or name not in verbs:
            raise _Misfit(
                Sentence(
                    "labeling.patch_operation", "There is no operation {name}.", name=str(name)[:40]
                )
            )
        verbs[name](operation)

    def _move(self, operation: Mapping[str, Any]) -> None:
        source, target = _path(operation, "from"), _path(operation)
        if len(target) > len(source) and target[: len(source)] == source:
            raise _Misfit(Sentence("labeling.patch_move", "A value cannot move into itself."))
        value = self._get(source)
        self._remove(source)
        self._add(target, value)

    def _copy(self, operation: Mapping[str, Any]) -> None:
        value = self._get(_path(operation, "from"))
        if is_deeper_than(value, MAX_DOCUMENT_DEPTH):
            raise _Misfit(_too_deep())
        self._copied += len(json.dumps(value))
        if self._copied > MAX_COPIED_BYTES:
            raise _Misfit(Sentence("labeling.patch_copies", "The patch copies too much."))
        self._add(_path(operation), copy.deepcopy(value))

    def _test(self, operation: Mapping[str, Any]) -> None:
        if not _equal(self._get(_path(operation)), _value(operation)):
            raise _Misfit(
                Sentence("labeling.patch_test", "The document holds another value there.")
            )

    def _get(self, path: Sequence[str]) -> Any:
        at = self.document
        for step in path:
            at = _child(at, step)
        return at

    def _add(self, path: Sequence[str], value: Any) -> None:
        if not path:
            self.document = value
            return
        parent, step = self._get(path[:-1]), path[-1]
        if isinstance(parent, list):
            parent.insert(len(parent) if step == _END else _index(step, len(parent) + 1), value)
        elif isinstance(parent, dict):
            parent[step] = value
        else:
            raise _nowhere(step)

    def _remove(self, path: Sequence[str]) -> None:
        if not path:
            raise _Misfit(Sentence("labeling.patch_root", "The whole document cannot be removed."))
        parent, step = self._get(path[:-1]), path[-1]
        _child(parent, step)
        if isinstance(parent, list):
            del parent[int(step)]
        else:
            del parent[step]

    def _replace(self, path: Sequence[str], value: Any) -> None:
        if not path:
            self.document = value
            return
        parent, step = self._get(path[:-1]), path[-1]
        _child(parent, step)
        parent[int(step) if isinstance(parent, list) else step] = value


def _child(parent: Any, step: str) -> Any:
    if isinstance(parent, list):
        return parent[_index(step, len(parent))]
    if isinstance(parent, dict) and step in parent:
        return parent[step]
    raise _nowhere(step)


def _index(step: str, length: int) -> int:
    if not _INDEX.fullmatch(step) or int(step) >= length:
        raise _nowhere(step)
    return int(step)


def _path(operation: Mapping[str, Any], name: str = "path") -> list[str]:
    text = operation.get(name)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise _no_pointer(name)
    if re.search("~(?![01])", text):
        raise _no_pointer(name)
    steps = text.split("/")[1:]
    if len(steps) > MAX_DOCUMENT_DEPTH:
        raise _Misfit(_too_deep())
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _value(operation: Mapping[str, Any]) -> Any:
    if "value" not in operation:
        raise _Misfit(Sentence("labeling.patch_value", "The operation needs a value."))
    return operation["value"]


def _equal(one: Any, other: Any) -> bool:
    """Compare as JSON: true is not 1, but 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _no_pointer(name: str) -> _Misfit:
    return _Misfit(
        Sentence(
            "labeling.patch_pointer",
            "Give {name} as a JSON pointer, such as /objects/0.",
            name=name,
        )
    )


def _too_deep() -> Sentence:
    return Sentence(
        "labeling.patch_too_deep",
        "The document would be nested more than {levels} levels deep.",
        levels=MAX_DOCUMENT_DEPTH,
    )


def _nowhere(step: str) -> _Misfit:
    return _Misfit(
        Sentence("labeling.patch_nowhere", "There is nothing at {step}.", step=step[:80])
    )
