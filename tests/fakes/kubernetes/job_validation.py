"""The rules of Jobs: what is refused, and what may change while one runs or is suspended."""

from __future__ import annotations

import json
from typing import Any

from .errors import Cause, required, unsupported, wrong
from .pod_validation import INTERNAL, pod_spec_causes
from .words import LABEL, label_value_causes, name_fault

Json = dict[str, Any]


def job_causes(obj: Json, *, update: bool = False) -> list[Cause]:
    """Return what is wrong with a Job, in the order of the real server."""
    spec, name = obj["spec"], obj["metadata"]["name"]
    template = spec["template"]
    indexed = spec["completionMode"] == "Indexed"
    causes = label_value_causes(
        (template.get("metadata") or {}).get("labels"), "spec.template.labels"
    )
    modes = ["NonIndexed", "Indexed"]
    if spec["completionMode"] not in modes:
        causes.append(unsupported("spec.completionMode", spec["completionMode"], modes))
        indexed = True
    if indexed and spec.get("completions") is None:
        why = 'when completion mode is "Indexed"'
        causes.append(required("spec.completions", why))
    if spec.get("backoffLimitPerIndex") is not None and not indexed:
        value = str(spec["backoffLimitPerIndex"])
        causes.append(wrong("spec.backoffLimitPerIndex", value, "requires indexed completion mode"))
    causes += _policy_causes(spec)
    causes += _replacement_causes(spec)
    causes += _restart_causes(spec)
    causes += pod_spec_causes(template["spec"], "spec.template.spec")
    if indexed and not update:
        causes += _index_name(name, spec.get("completions") or 1)
    return causes


def _index_name(name: str, completions: int) -> list[Cause]:
    last = f"{name}-{completions - 1}"
    if name_fault(last, LABEL):
        why = f"will not able to create pod with invalid DNS label: {last}"
        return [wrong("metadata.name", f'"{name}"', why)]
    return []


def _replacement_causes(spec: Json) -> list[Cause]:
    policy = spec["podReplacementPolicy"]
    known = ["Failed"] if spec.get("podFailurePolicy") else ["Failed", "TerminatingOrFailed"]
    if policy in known:
        return []
    return [unsupported("spec.podReplacementPolicy", policy, known)]


def _restart_causes(spec: Json) -> list[Cause]:
    policy, path = spec["template"]["spec"]["restartPolicy"], "spec.template.spec.restartPolicy"
    if policy == "Always":
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [unsupported(path, policy, ["OnFailure", "Never"])]
    if policy == "OnFailure" and spec.get("podFailurePolicy"):
        why = 'only "Never" is supported when podFailurePolicy is specified'
        return [wrong(path, f'"{policy}"', why)]
    return []


_ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"]


def _policy_causes(spec: Json) -> list[Cause]:
    pods = spec["template"]["spec"]
    names = {
        item.get("name")
        for group in ("containers", "initContainers")
        for item in pods.get(group) or ()
    }
    causes: list[Cause] = []
    for at, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or ()):
        path = f"spec.podFailurePolicy.rules[{at}]"
        if rule.get("action") not in _ACTIONS:
            causes.append(unsupported(f"{path}.action", str(rule.get("action")), _ACTIONS))
        if exits := rule.get("onExitCodes"):
            causes += _exit_causes(exits, names, f"{path}.onExitCodes")
    return causes


def _exit_causes(exits: Json, names: set[Any], path: str) -> list[Cause]:
    causes: list[Cause] = []
    name = exits.get("containerName")
    if name is not None and name not in names:
        why = "must be one of the container or initContainer names in the pod template"
        causes.append(wrong(f"{path}.containerName", f'"{name}"', why))
    for at, value in enumerate(exits.get("values") or ()):
        if value == 0 and exits.get("operator") == "In":
            why = "must not be 0 for the In operator"
            causes.append(wrong(f"{path}.values[{at}]", "0", why))
    return causes


_FIXED = (
    "completionMode",
    "selector",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)


def job_update_causes(old: Json, new: Json) -> list[Cause]:
    """Return what an update of a Job may not change."""
    before, after = old["spec"], new["spec"]
    causes = [
        wrong(f"spec.{key}", json.dumps(after.get(key)), "field is immutable")
        for key in _FIXED
        if before.get(key) != after.get(key)
    ]
    indexed = after["completionMode"] == "Indexed"
    changed = before.get("completions") != after.get("completions")
    if changed and not (indexed and after.get("completions") == after.get("parallelism")):
        value = json.dumps(after.get("completions"))
        causes.append(wrong("spec.completions", value, "field is immutable"))
    # An update checks this policy twice.
    return causes + _replacement_causes(after) + _template_causes(old, new)


_FREE_WHILE_SUSPENDED = (
    "affinity",
    "nodeSelector",
    "tolerations",
    "schedulingGates",
)


def _template_causes(old: Json, new: Json) -> list[Cause]:
    before, after = old["spec"]["template"], new["spec"]["template"]
    # A Job that was never started, or whose pods are gone, may move to other nodes.
    active = (old.get("status") or {}).get("active", 0)
    free = old["spec"]["suspend"] and not active
    if not free:
        if before != after:
            return [wrong("spec.template", INTERNAL, "field is immutable")]
        return []
    if _fixed(before["spec"]) != _fixed(after["spec"]):
        return [wrong("spec.template.spec", INTERNAL, "field is immutable")]
    return []


def _fixed(spec: Json) -> Json:
    fixed = {key: value for key, value in spec.items() if key not in _FREE_WHILE_SUSPENDED}
    for group in ("containers", "initContainers"):
        if group in fixed:
            fixed[group] = [item | {"resources": {}} for item in fixed[group]]
    return fixed
