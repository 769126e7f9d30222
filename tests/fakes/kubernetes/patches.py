"""The patches: merge (RFC 7386), JSON (RFC 6902) and strategic merge."""

from __future__ import annotations

import json
from typing import Any

from .errors import ApiError, bad_request
from .lists import merge_keys

Json = dict[str, Any]


def copy(value: Any) -> Any:
    """Return a deep copy of plain data."""
    return json.loads(json.dumps(value))


def merge_patch(target: Any, patch: Any) -> Any:
    """Return the target after a merge patch; unchanged parts are shared."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_merge(target: Any, patch: Any, path: str = "") -> Any:
    """Return the target after a strategic merge patch: lists with a key are merged by it."""
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch") == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        place = f"{path}.{key}" if path else key
        if value is None or (isinstance(value, dict) and value.get("$patch") == "delete"):
            result.pop(key, None)
        elif isinstance(value, list) and (keys := merge_keys(place)):
            result[key] = _merged_list(result.get(key) or [], value, keys[0], place)
        else:
            result[key] = strategic_merge(result.get(key), value, place)
    return result


def _merged_list(current: list[Any], patch: list[Any], key: str, path: str) -> list[Any]:
    if not all(isinstance(item, dict) for item in patch):
        return patch
    places = {item.get(key): at for at, item in enumerate(current)}
    named = {item.get(key) for item in patch}
    changed = [
        strategic_merge(current[places[item[key]]], item, path) if item[key] in places else item
        for item in patch
        if item.get("$patch") != "delete"
    ]
    left = [item for item in current if item.get(key) not in named]
    # The server's order: new items stand before those that the patch does not name.
    result: list[Any] = []
    while changed and left:
        first = places.get(changed[0][key], -1) < places[left[0][key]]
        result.append(changed.pop(0) if first else left.pop(0))
    return result + changed + left


class _PatchFailedError(Exception):
    """An operation of a JSON patch that cannot be done."""


def json_patch(target: Any, operations: Any) -> Any:
    """Return the target after a JSON patch; an operation that fails answers 422."""
    if not isinstance(operations, list):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "jsonpatch.Patch"
        )
    holder = {"root": copy(target)}
    try:
        for operation in operations:
            _operate(holder, operation)
    except (_PatchFailedError, KeyError, IndexError, ValueError, TypeError) as failure:
        text = "the server rejected our request due to an error in our request"
        raise ApiError(422, text, "Invalid", {}) from failure
    return holder["root"]


def _operate(holder: Json, operation: Json) -> None:
    op, path = operation["op"], _pointer(operation["path"])
    if op in ("move", "copy"):
        _carry(holder, _pointer(operation["from"]), path, move=op == "move")
    elif op == "add":
        _add(holder, path, operation["value"])
    elif op == "remove":
        _remove(holder, path)
    elif op == "replace":
        _replace(holder, path, operation["value"])
    elif op != "test" or _read(holder, path) != operation.get("value"):
        raise _PatchFailedError(path)


def _carry(holder: Json, source: list[str], path: list[str], *, move: bool) -> None:
    value = copy(_read(holder, source))
    if move:
        _remove(holder, source)
    _add(holder, path, value)


def _replace(holder: Json, path: list[str], value: Any) -> None:
    # The server's library lets a field that is absent be replaced.
    if isinstance(_read(holder, path[:-1]), list):
        _remove(holder, path)
    _add(holder, path, value)


def _pointer(text: str) -> list[str]:
    parts = text.split("/")[1:] if text else []
    return ["root", *(part.replace("~1", "/").replace("~0", "~") for part in parts)]


def _read(value: Any, path: list[str]) -> Any:
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def _add(holder: Json, path: list[str], value: Any) -> None:
    parent = _read(holder, path[:-1])
    if isinstance(parent, list):
        at = len(parent) if path[-1] == "-" else int(path[-1])
        if at > len(parent):
            raise _PatchFailedError(path)
        parent.insert(at, value)
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise _PatchFailedError(path)


def _remove(holder: Json, path: list[str]) -> None:
    parent = _read(holder, path[:-1])
    if isinstance(parent, list):
        del parent[int(path[-1])]
    else:
        del parent[path[-1]]
