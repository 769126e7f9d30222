"""How a recorded answer and one of today are compared: by value, and by form where chance rules."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

Json = dict[str, Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_GENERATED = re.compile(r"(.*-)[a-z0-9]{5}$")
# Fields whose values belong to one build, one cluster or one moment.
_BY_FORM = {
    "buildDate",
    "ca.crt",
    "containerID",
    "gitCommit",
    "gitVersion",
    "goVersion",
    "ip",
    "platform",
    "podIP",
    "serverAddress",
    "storageVersionHash",
    "token",
}
# The recording replaced tokens and certificates, and one distribution adds these.
_FOREIGN = "openshift-service-ca.crt"
# Go prints its internal struct, or the whole object, as the value that it refuses.
_DUMP = re.compile(r'Invalid value: (?:\{.*\}|"\{.*\}"): ', re.S)


class Names:
    """Which name, UID and version of today stands for a recorded one."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    def learn(self, recorded: Any, actual: Any) -> None:
        """Note what differs by chance alone."""
        if isinstance(recorded, dict) and isinstance(actual, dict):
            for key, value in recorded.items():
                if key in actual:
                    self._learn_field(key, value, actual[key])
        elif isinstance(recorded, list) and isinstance(actual, list):
            for old, new in zip(recorded, actual, strict=False):
                self.learn(old, new)

    def _learn_field(self, key: str, old: Any, new: Any) -> None:
        if not isinstance(old, str) or not isinstance(new, str):
            self.learn(old, new)
        elif key == "resourceVersion":
            self.versions[old] = new
        elif (key == "uid" and _UID.match(old)) or (key == "name" and _same_prefix(old, new)):
            self.texts[old] = new

    def text(self, value: str) -> str:
        """Return a recorded text with the names of today."""
        for old in sorted(self.texts, key=len, reverse=True):
            if old in value:
                value = value.replace(old, self.texts[old])
        return value

    def today(self, value: Any, key: str = "") -> Any:
        """Return a recorded body with the names and versions of today."""
        if isinstance(value, str):
            if key == "resourceVersion":
                return self.versions.get(value, value)
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.today(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.today(item) for item in value]
        return value


def _same_prefix(old: str, new: str) -> bool:
    first, second = _GENERATED.match(old), _GENERATED.match(new)
    return old != new and first is not None and second is not None and first[1] == second[1]


def differences(
    recorded: Any, actual: Any, names: Names, *, part: bool = False, path: str = ""
) -> list[str]:
    """Return where an answer differs; with `part`, the recording is a shortened one."""
    if recorded is None and part:
        return []
    if isinstance(recorded, dict):
        if not isinstance(actual, dict):
            return [f"{path}: {actual!r} is no object"]
        return _dicts(recorded, actual, names, part, path)
    if isinstance(recorded, list):
        if not isinstance(actual, list):
            return [f"{path}: {actual!r} is no list"]
        return _lists(recorded, actual, names, part, path)
    if isinstance(recorded, str) and isinstance(actual, str):
        return _texts(recorded, actual, names, path)
    return [] if recorded == actual else [f"{path}: {recorded!r} was recorded, now {actual!r}"]


def _dicts(recorded: Json, actual: Json, names: Names, part: bool, path: str) -> list[str]:
    renamed = {names.text(key): value for key, value in recorded.items()}
    missing = [key for key in renamed if key not in actual]
    if part:
        # A shortened item of a list was given its kind by the recorder.
        item = path.endswith("]")
        missing = [
            key for key in missing if renamed[key] is not None and not (item and key == "kind")
        ]
    extra = [] if part else [key for key in actual if key not in renamed]
    # The recording shows who manages fields only in answers to an apply.
    extra = [key for key in extra if key != "managedFields"]
    result = [f"{path}: {key} is missing" for key in missing]
    result += [f"{path}: {key} = {actual[key]!r} was not recorded" for key in extra]
    for key, value in renamed.items():
        if key in actual:
            place = f"{path}.{key}"
            result += differences(value, actual[key], names, part=part, path=place)
    return result


def _lists(
    recorded: list[Any], actual: list[Any], names: Names, part: bool, path: str
) -> list[str]:
    if path.endswith(".sources"):
        recorded = [item for item in recorded if _FOREIGN not in json.dumps(item)]
    if path == ".resources":
        # The recording names the kinds that matter here; a server may have more.
        listed = [item["name"] for item in recorded]
        actual = [item for item in actual if item["name"] in listed]
        actual.sort(key=lambda item: str(item["name"]))
        recorded = sorted(recorded, key=lambda item: str(item["name"]))
    if path.endswith(".causes"):
        # The real server walks a map: the order of conflicts is chance.
        recorded = sorted(recorded, key=lambda item: str(item.get("field")))
        actual = sorted(actual, key=lambda item: str(item.get("field")))
    if len(recorded) != len(actual):
        shown = json.dumps(actual)[:300]
        return [f"{path}: {len(recorded)} items were recorded, now {len(actual)}: {shown}"]
    return [
        text
        for at, (old, new) in enumerate(zip(recorded, actual, strict=True))
        for text in differences(old, new, names, part=part, path=f"{path}[{at}]")
    ]


def _texts(recorded: str, actual: str, names: Names, path: str) -> list[str]:
    key = path.rsplit(".", 1)[-1]
    if key == "crt" or key in _BY_FORM:
        return [] if bool(actual) == bool(recorded) else [f"{path}: {actual!r}"]
    for pattern in (_TIME, _UID):
        if pattern.match(recorded):
            return [] if pattern.match(actual) else [f"{path}: {actual!r} has another form"]
    if key == "resourceVersion":
        return [] if actual.isdigit() else [f"{path}: {actual!r} is no version"]
    if key == "continue":
        return _tokens(recorded, actual, path)
    expected = _plain(names.text(recorded))
    if expected == _plain(actual):
        return []
    return [f"{path}: {expected[:600]!r} was recorded, now {_plain(actual)[:600]!r}"]


_PLACES = (
    (re.compile(r"too old resource version: (\d+) \(\d+\)"), r"too old resource version: \1 (n)"),
    (re.compile(r"resource version: \d+, current: \d+"), "resource version: n, current: n"),
)


def _plain(text: str) -> str:
    for pattern, form in _PLACES:
        text = pattern.sub(form, text)
    return _DUMP.sub("Invalid value: {...}: ", text)


def _tokens(recorded: str, actual: str, path: str) -> list[str]:
    forms = []
    for text in (recorded, actual):
        body = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        forms.append((sorted(body), body["start"], body["rv"] == -1))
    return [] if forms[0] == forms[1] else [f"{path}: {forms[0]} was recorded, now {forms[1]}"]
