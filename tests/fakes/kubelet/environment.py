"""The environment of a container, its references resolved and its variables expanded."""

from __future__ import annotations

import base64
import math
import re
from typing import Any

from tests.fakes.kubernetes.quantities import parse_quantity
from tests.fakes.kubernetes.store import Store

Json = dict[str, Any]

_VARIABLE = re.compile(r"\$(\$|\(([A-Za-z_.-][A-Za-z0-9_.-]*)\))")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class ConfigError(Exception):
    """A reference leads nowhere; the text is the kubelet's."""


def config_data(store: Store, namespace: str, name: str) -> dict[str, bytes] | None:
    """Return the entries of a ConfigMap, or None when it is absent."""
    obj = store.get("configmaps.", namespace, name)
    if obj is None:
        return None
    data = {key: str(value).encode() for key, value in (obj.get("data") or {}).items()}
    return data | {key: base64.b64decode(v) for key, v in (obj.get("binaryData") or {}).items()}


def secret_data(store: Store, namespace: str, name: str) -> dict[str, bytes] | None:
    """Return the entries of a Secret, or None when it is absent."""
    obj = store.get("secrets.", namespace, name)
    if obj is None:
        return None
    data = {key: base64.b64decode(value) for key, value in (obj.get("data") or {}).items()}
    return data | {key: str(v).encode() for key, v in (obj.get("stringData") or {}).items()}


_SOURCES = {
    "secret": (secret_data, "Secret", "secret"),
    "configMap": (config_data, "ConfigMap", "configmap"),
}


def field_of(pod: Json, path: str) -> str:
    """Return a field of a pod as the downward API writes it; raise ConfigError for others."""
    if match := _KEYED.fullmatch(path):
        return str((pod["metadata"].get(match[1]) or {}).get(match[2], ""))
    value: Any = pod
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, dict) else ""
    if path in ("metadata.labels", "metadata.annotations"):
        return "\n".join(f'{key}="{text}"' for key, text in sorted((value or {}).items()))
    if path == "status.podIPs":
        return ",".join(item["ip"] for item in value or ())
    if not isinstance(value, str):
        raise ConfigError(f"unsupported fieldPath: {path}")
    return value


def resource_of(pod: Json, container: str, reference: Json) -> str:
    """Return an amount of a container, in units of the reference's divisor, rounded up."""
    name = reference.get("containerName") or container
    group, _, resource = reference["resource"].partition(".")
    spec = next(item for item in pod["spec"]["containers"] if item["name"] == name)
    amount = ((spec.get("resources") or {}).get(group) or {}).get(resource, "0")
    divisor = reference.get("divisor") or "1"
    return str(math.ceil(parse_quantity(amount) / (parse_quantity(divisor) or 1000)))


def expand(text: str, variables: dict[str, str]) -> str:
    """Replace `$(NAME)`; `$$` is one dollar, and unknown names stay as they are."""

    def replace(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        return variables.get(match[2], match[0])

    return _VARIABLE.sub(replace, text)


def environment_of(store: Store, pod: Json, container: Json) -> dict[str, str]:
    """Return the variables that a container's spec sets; raise ConfigError."""
    namespace = pod["metadata"]["namespace"]
    variables: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        variables |= _all_of(store, namespace, source)
    for item in container.get("env") or ():
        if (source := item.get("valueFrom")) is None:
            variables[item["name"]] = expand(item.get("value", ""), variables)
        elif (value := _value_of(store, pod, container["name"], source)) is not None:
            variables[item["name"]] = value
    return variables


def _all_of(store: Store, namespace: str, source: Json) -> dict[str, str]:
    for kind, (read, _, word) in _SOURCES.items():
        if (reference := source.get(f"{kind}Ref")) is None:
            continue
        data = read(store, namespace, reference["name"])
        if data is None and not reference.get("optional"):
            raise ConfigError(f'{word} "{reference["name"]}" not found')
        prefix = source.get("prefix", "")
        return {f"{prefix}{key}": value.decode() for key, value in (data or {}).items()}
    return {}


def _value_of(store: Store, pod: Json, container: str, source: Json) -> str | None:
    if field := source.get("fieldRef"):
        return field_of(pod, field["fieldPath"])
    if resource := source.get("resourceFieldRef"):
        return resource_of(pod, container, resource)
    namespace = pod["metadata"]["namespace"]
    for kind, (read, title, word) in _SOURCES.items():
        if (reference := source.get(f"{kind}KeyRef")) is None:
            continue
        name, key = reference["name"], reference["key"]
        data = read(store, namespace, name)
        if data is not None and key in data:
            return data[key].decode()
        if reference.get("optional"):
            return None
        if data is None:
            raise ConfigError(f'{word} "{name}" not found')
        raise ConfigError(f"couldn't find key {key} in {title} {namespace}/{name}")
    raise ConfigError(f"unsupported source of a variable: {', '.join(source)}")
