"""The rules beyond types: names, labels, sizes, and what an update may change."""

from __future__ import annotations

import re
from typing import Any

from .errors import ApiError, Cause, invalid, required, too_long, unsupported, wrong
from .job_validation import job_causes, job_update_causes
from .pod_validation import pod_spec_causes, pod_update_causes
from .resources import Resource
from .store import encode
from .words import LABEL, SUBDOMAIN, label_value_causes, name_fault

Json = dict[str, Any]

ANNOTATIONS_LIMIT = 262_144
DATA_LIMIT = 1_048_576


def creation_failure(resource: Resource, obj: Json) -> ApiError | None:
    """Return why an object may not be created, or None."""
    causes = _metadata_causes(resource, obj) + _kind_causes(resource, obj)
    return (
        invalid(resource.group, resource.kind, obj["metadata"]["name"], causes) if causes else None
    )


def update_failure(resource: Resource, old: Json, new: Json) -> ApiError | None:
    """Return why an object may not be replaced by another, or None."""
    name = new["metadata"]["name"]
    causes = _metadata_causes(resource, new, update=True)
    if resource.kind == "Job":
        causes += job_causes(new, update=True) + job_update_causes(old, new)
    elif resource.kind == "Pod":
        causes += pod_update_causes(old, new)
    else:
        causes += _kind_causes(resource, new)
    return invalid(resource.group, resource.kind, name, causes) if causes else None


def _metadata_causes(resource: Resource, obj: Json, *, update: bool = False) -> list[Cause]:
    metadata = obj["metadata"]
    causes: list[Cause] = []
    if not update:
        pattern = LABEL if resource.kind in ("Namespace", "Service") else SUBDOMAIN
        if resource.group != "rbac.authorization.k8s.io":
            fault = name_fault(metadata["name"], pattern)
            if fault:
                causes.append(wrong("metadata.name", f'"{metadata["name"]}"', fault))
    causes += label_value_causes(metadata.get("labels"), "metadata.labels")
    annotations = metadata.get("annotations") or {}
    size = sum(len(key) + len(str(value)) for key, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        causes.append(too_long("metadata.annotations", ANNOTATIONS_LIMIT))
    return causes


def _kind_causes(resource: Resource, obj: Json) -> list[Cause]:
    rule = _RULES.get(resource.kind)
    return rule(obj) if rule else []


def _config_map(obj: Json) -> list[Cause]:
    data = {**(obj.get("data") or {}), **(obj.get("binaryData") or {})}
    size = sum(len(str(key)) + len(str(value)) for key, value in data.items())
    return [too_long("[]", DATA_LIMIT)] if size > DATA_LIMIT else []


def _lease(obj: Json) -> list[Cause]:
    duration = (obj.get("spec") or {}).get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        return [wrong("spec.leaseDurationSeconds", str(duration), "must be greater than 0")]
    return []


def _slice(obj: Json) -> list[Cause]:
    count = ((obj.get("spec") or {}).get("pool") or {}).get("resourceSliceCount", 0)
    if count <= 0:
        place = "spec.pool.resourceSliceCount"
        return [wrong(place, str(count), "must be greater than zero")]
    return []


def _claim(obj: Json) -> list[Cause]:
    return _request_causes(obj.get("spec") or {}, "spec.devices.requests")


def _claim_template(obj: Json) -> list[Cause]:
    return _request_causes((obj.get("spec") or {}).get("spec") or {}, "spec.spec.devices.requests")


def _request_causes(spec: Json, path: str) -> list[Cause]:
    why = "exactly one of `exactly` or `firstAvailable` is required"
    requests = (spec.get("devices") or {}).get("requests") or []
    return [
        required(f"{path}[{at}]", why)
        for at, request in enumerate(requests)
        if ("exactly" in request) == ("firstAvailable" in request)
    ]


def _deployment(obj: Json) -> list[Cause]:
    spec = obj.get("spec") or {}
    causes = [] if spec.get("selector") else [required("spec.selector")]
    return causes + pod_spec_causes(spec["template"]["spec"], "spec.template.spec")


def _budget(obj: Json) -> list[Cause]:
    spec = obj["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        why = "minAvailable and maxUnavailable cannot be both set"
        return [wrong("spec", encode(spec).decode(), why)]
    return []


_ENFORCED = re.compile(r"pod-security\.kubernetes\.io/(enforce|audit|warn)$")
_LEVELS = ["privileged", "baseline", "restricted"]


def _namespace(obj: Json) -> list[Cause]:
    labels = obj["metadata"].get("labels") or {}
    return [
        unsupported(f"metadata.labels[{key}]", value, _LEVELS)
        for key, value in labels.items()
        if _ENFORCED.match(key) and value not in _LEVELS
    ]


_RULES = {
    "ConfigMap": _config_map,
    "Secret": _config_map,
    "Deployment": _deployment,
    "Job": job_causes,
    "Lease": _lease,
    "Namespace": _namespace,
    "Pod": lambda obj: pod_spec_causes(obj["spec"], "spec"),
    "PodDisruptionBudget": _budget,
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _claim_template,
    "ResourceSlice": _slice,
}
