"""Checks before an object is stored: its namespace, pod security, quotas."""

from __future__ import annotations

from typing import Any

from .errors import ApiError, absent, forbidden
from .quantities import parse_quantity, show_quantity
from .resources import Resource
from .security import level, offences, sentence
from .store import Store

Json = dict[str, Any]

_CONTROLLERS = {"DaemonSet", "Deployment", "Job", "StatefulSet"}


def check_namespace(store: Store, resource: Resource, namespace: str, name: str) -> None:
    """Raise unless the namespace takes new objects."""
    if not resource.namespaced:
        return
    obj = store.get("namespaces.", "", namespace)
    if obj is None:
        raise absent("", "namespaces", namespace)
    if obj["metadata"].get("deletionTimestamp"):
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        failure = forbidden(resource.group, resource.plural, name, why)
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        failure.details = (failure.details or {}) | {"causes": [cause]}
        raise failure


def check_security(store: Store, obj: Json, namespace: str) -> list[str]:
    """Refuse a pod below its namespace's level; return the warnings of a controller."""
    space = store.get("namespaces.", "", namespace)
    if obj["kind"] in _CONTROLLERS:
        return _warnings(level(space, "warn"), obj["spec"]["template"]["spec"])
    if obj["kind"] != "Pod":
        return []
    enforced = level(space, "enforce")
    if broken := offences(obj["spec"], enforced):
        why = f'violates PodSecurity "{enforced}:latest": {sentence(broken)}'
        raise forbidden("", "pods", obj["metadata"]["name"], why)
    return _warnings(level(space, "warn"), obj["spec"])


def _warnings(name: str, spec: Json) -> list[str]:
    broken = offences(spec, name)
    return [f'would violate PodSecurity "{name}:latest": {sentence(broken)}'] if broken else []


def namespace_warnings(store: Store, old: Json, new: Json) -> list[str]:
    """Return the warnings about running pods that a namespace's new level would refuse."""
    name, enforced = new["metadata"]["name"], level(new, "enforce")
    if enforced == level(old, "enforce"):
        return []
    groups: dict[str, list[str]] = {}
    for pod in store.objects("pods.", name):
        if broken := offences(pod["spec"], enforced):
            rules = ", ".join(rule for rule, _detail in broken)
            groups.setdefault(rules, []).append(pod["metadata"]["name"])
    if not groups:
        return []
    title = f'existing pods in namespace "{name}" violate the new PodSecurity enforce level'
    lines = [f'{title} "{enforced}:latest"']
    for rules, pods in groups.items():
        more = len(pods) - 1
        others = f" (and {more} other pod{'s' if more > 1 else ''})" if more else ""
        lines.append(f"{pods[0]}{others}: {rules}")
    return lines


# --- quotas ---


def _usage(obj: Json) -> dict[str, int]:
    """Return how much of each quota an object uses, in thousandths."""
    used: dict[str, int] = {}
    if obj["kind"] != "Pod":
        return used
    used["pods"] = 1000
    for item in obj["spec"]["containers"]:
        resources = item.get("resources") or {}
        for part in ("requests", "limits"):
            for name, value in (resources.get(part) or {}).items():
                key = f"{part}.{name}"
                used[key] = used.get(key, 0) + parse_quantity(value)
                if part == "requests" and name in ("cpu", "memory"):
                    used[name] = used.get(name, 0) + parse_quantity(value)
    return used


def _is_counted(obj: Json) -> bool:
    return (obj.get("status") or {}).get("phase") not in ("Failed", "Succeeded")


def check_quotas(store: Store, resource: Resource, obj: Json, namespace: str) -> None:
    """Raise 403 when an object would exceed a quota of its namespace."""
    if resource.kind != "Pod":
        return
    asked_for = _usage(obj)
    for quota in store.objects("resourcequotas.", namespace):
        hard = (quota.get("spec") or {}).get("hard") or {}
        totals = quota_usage(store, namespace, hard)
        over = [
            name
            for name in sorted(hard)
            if name in asked_for and totals[name] + asked_for[name] > parse_quantity(hard[name])
        ]
        if over:
            raise _exceeded(obj, quota["metadata"]["name"], over, (asked_for, totals, hard))


def quota_usage(store: Store, namespace: str, hard: Json) -> dict[str, int]:
    """Return how much of a quota the pods of a namespace use."""
    totals = dict.fromkeys(hard, 0)
    for pod in store.objects("pods.", namespace):
        if _is_counted(pod):
            for name, value in _usage(pod).items():
                if name in totals:
                    totals[name] += value
    return totals


def _exceeded(
    obj: Json, quota: str, over: list[str], numbers: tuple[dict[str, int], dict[str, int], Json]
) -> ApiError:
    asked_for, totals, hard = numbers

    def shown(values: dict[str, int]) -> str:
        return ",".join(f"{name}={show_quantity(values[name])}" for name in over)

    limited = ",".join(f"{name}={hard[name]}" for name in over)
    why = (
        f"exceeded quota: {quota}, requested: {shown(asked_for)}, used: {shown(totals)}, "
        f"limited: {limited}"
    )
    return forbidden("", "pods", obj["metadata"]["name"], why)
