"""The rules of pods and of their templates."""

from __future__ import annotations

from typing import Any

from .errors import Cause, required, unsupported, wrong
from .words import LABEL, name_fault

Json = dict[str, Any]

# The real server prints its internal struct here, which no client reads.
INTERNAL = "{...}"


def is_extended(name: str) -> bool:
    """Return whether a resource belongs to no unit that nodes divide, such as a GPU."""
    return "/" in name and not name.startswith("kubernetes.io/")


def pod_spec_causes(spec: Json, path: str) -> list[Cause]:
    """Return what is wrong with a pod's spec."""
    causes: list[Cause] = []
    if not spec.get("containers"):
        causes.append(required(f"{path}.containers"))
    for group in ("initContainers", "containers"):
        for at, item in enumerate(spec.get(group) or ()):
            causes += _container_causes(item, f"{path}.{group}[{at}]")
    for key in ("hostname", "subdomain"):
        if spec.get(key) and (fault := name_fault(spec[key], LABEL)):
            causes.append(wrong(f"{path}.{key}", f'"{spec[key]}"', fault))
    return causes + _affinity_causes(spec.get("affinity") or {}, f"{path}.affinity")


def _container_causes(item: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    if not item.get("name"):
        causes.append(required(f"{path}.name"))
    if not item.get("image"):
        causes.append(required(f"{path}.image"))
    policy = item.get("imagePullPolicy")
    if policy not in (None, "Always", "IfNotPresent", "Never"):
        known = ["Always", "IfNotPresent", "Never"]
        causes.append(unsupported(f"{path}.imagePullPolicy", str(policy), known))
    return causes + _resource_causes(item.get("resources") or {}, f"{path}.resources")


def _resource_causes(resources: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        if is_extended(name) and not str(value).isdigit():
            place = f"{path}.limits[{name}]"
            causes.append(wrong(place, f'"{value}"', "must be an integer"))
    for name, value in requests.items():
        if not is_extended(name):
            continue
        if name not in limits:
            why = "Limit must be set for non overcommitable resources"
            causes.append(required(f"{path}.limits", why))
        elif str(limits[name]) != str(value):
            why = f"must be equal to {name} limit of {limits[name]}"
            causes.append(wrong(f"{path}.requests", f'"{value}"', why))
    return causes


def _affinity_causes(affinity: Json, path: str) -> list[Cause]:
    key = "preferredDuringSchedulingIgnoredDuringExecution"
    terms = (affinity.get("nodeAffinity") or {}).get(key) or []
    return [
        wrong(f"{path}.nodeAffinity.{key}[{at}].weight", str(weight), "must be in the range 1-100")
        for at, term in enumerate(terms)
        if not 1 <= (weight := term.get("weight", 0)) <= 100
    ]


_MUTABLE = (
    "image",
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


def pod_update_causes(old: Json, new: Json) -> list[Cause]:
    """Return what an update of a pod may not change."""
    before, after = old["spec"], new["spec"]
    known = {gate["name"] for gate in before.get("schedulingGates") or ()}
    causes = [
        Cause(
            f"spec.schedulingGates[{at}].name",
            "FieldValueForbidden",
            f"Forbidden: only deletion is allowed, but found new scheduling gate '{gate['name']}'",
        )
        for at, gate in enumerate(after.get("schedulingGates") or ())
        if gate["name"] not in known
    ]
    if causes:
        return causes
    if _fixed(before, gated=bool(known)) != _fixed(after, gated=bool(known)):
        text = f"Forbidden: pod updates may not change fields other than {_MUTABLE[1]}"
        return [Cause("spec", "FieldValueForbidden", text)]
    return []


def _fixed(spec: Json, *, gated: bool) -> Json:
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if gated:
        free |= {"nodeSelector", "affinity"}
    fixed = {key: value for key, value in spec.items() if key not in free}
    for group in ("containers", "initContainers"):
        if group in fixed:
            fixed[group] = [item | {"image": ""} for item in fixed[group]]
    return fixed
