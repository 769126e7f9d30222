"""The values that a real server fills in: defaults, labels of Jobs, admission of pods."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .store import Store

Json = dict[str, Any]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def suffix() -> str:
    """Return the five letters that follow a `generateName`."""
    return "".join(random.choices(_ALPHABET, k=5))


def pull_policy(image: str) -> str:
    """Return when an image is pulled: always where its tag may move."""
    name, _, digest = image.partition("@")
    tag = name.rsplit("/", 1)[-1].partition(":")[2]
    return "Always" if not digest and tag in ("", "latest") else "IfNotPresent"


def container(spec: Json) -> None:
    """Fill in a container."""
    spec.setdefault("resources", {})
    spec.setdefault("terminationMessagePath", "/dev/termination-log")
    spec.setdefault("terminationMessagePolicy", "File")
    spec.setdefault("imagePullPolicy", pull_policy(spec.get("image", "")))
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in spec.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in spec:
            _probe(spec[probe])


def _probe(probe: Json) -> None:
    defaults = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1}
    for key, value in (defaults | {"failureThreshold": 3}).items():
        probe.setdefault(key, value)


def pod_spec(spec: Json, restart: str = "Always") -> None:
    """Fill in a pod's spec, in a template too."""
    spec.setdefault("restartPolicy", restart)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    if account := spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", account)
    for item in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        container(item)
    for volume in spec.get("volumes") or ():
        _volume(volume)


def _volume(volume: Json) -> None:
    for source, key in (("projected", "defaultMode"), ("secret", "defaultMode")):
        if source in volume:
            volume[source].setdefault(key, 420)
    if "configMap" in volume:
        volume["configMap"].setdefault("defaultMode", 420)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")


def job(obj: Json, dry_run: bool = False) -> None:
    """Fill in a Job: its selector and the labels of its pods.

    A Job without labels takes its template's. Then the real server adds the generated ones to both,
    since they are one map; a dry run was recorded without them.
    """
    spec, metadata = obj.setdefault("spec", {}), obj["metadata"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2147483647 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    policy = "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", policy)
    spec.setdefault("manualSelector", False)
    for rule in (spec.get("podFailurePolicy") or {}).get("rules", ()):
        for condition in rule.get("onPodConditions") or ():
            condition.setdefault("status", "True")
    template = spec.setdefault("template", {})
    labels = (template.get("metadata") or {}).get("labels")
    if labels and not metadata.get("labels") and "resourceVersion" not in metadata:
        metadata["labels"] = dict(labels) if dry_run else labels
    pod_spec(template.setdefault("spec", {}))
    if not spec["manualSelector"]:
        _job_labels(spec, template, metadata)


def _job_labels(spec: Json, template: Json, metadata: Json) -> None:
    uid, name = metadata["uid"], metadata["name"]
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels |= {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    spec.setdefault("selector", {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}})


def _deployment(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("progressDeadlineSeconds", 600)
    spec.setdefault("revisionHistoryLimit", 10)
    rolling = {"maxSurge": "25%", "maxUnavailable": "25%"}
    spec.setdefault("strategy", {"type": "RollingUpdate", "rollingUpdate": rolling})
    pod_spec(spec.setdefault("template", {}).setdefault("spec", {}))


def _workload(obj: Json) -> None:
    pod_spec(obj.setdefault("spec", {}).setdefault("template", {}).setdefault("spec", {}))


def pod(obj: Json) -> None:
    """Fill in a pod."""
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for item in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        limits = item["resources"].get("limits") or {}
        if limits:
            requests = item["resources"].setdefault("requests", {})
            for key, value in limits.items():
                requests.setdefault(key, value)


def _namespace(obj: Json) -> None:
    labels = obj["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = obj["metadata"]["name"]
    obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])


def _service(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    for key, value in (
        ("type", "ClusterIP"),
        ("sessionAffinity", "None"),
        ("internalTrafficPolicy", "Cluster"),
        ("ipFamilyPolicy", "SingleStack"),
        ("ipFamilies", ["IPv4"]),
    ):
        spec.setdefault(key, value)
    address = f"10.96.{random.randrange(256)}.{random.randrange(1, 255)}"
    spec.setdefault("clusterIP", address)
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port["port"])


def _secret(obj: Json) -> None:
    obj.setdefault("type", "Opaque")


def _claim(obj: Json) -> None:
    _device_requests(obj.get("spec") or {})


def _claim_template(obj: Json) -> None:
    obj.setdefault("spec", {}).setdefault("metadata", {})
    _device_requests(obj["spec"].get("spec") or {})


def _device_requests(spec: Json) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        if exactly := request.get("exactly"):
            exactly.setdefault("allocationMode", "ExactCount")
            if exactly["allocationMode"] == "ExactCount":
                exactly.setdefault("count", 1)


def _priority_class(obj: Json) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _budget(obj: Json) -> None:
    obj.setdefault("spec", {})


def _reference_group(obj: Json) -> None:
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", "rbac.authorization.k8s.io")
    if "roleRef" in obj:
        obj["roleRef"].setdefault("apiGroup", "rbac.authorization.k8s.io")


DEFAULTS: dict[str, Callable[[Json], None]] = {
    "ClusterRoleBinding": _reference_group,
    "DaemonSet": _workload,
    "Deployment": _deployment,
    "Job": job,
    "Namespace": _namespace,
    "Pod": pod,
    "PodDisruptionBudget": _budget,
    "PriorityClass": _priority_class,
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _claim_template,
    "RoleBinding": _reference_group,
    "Secret": _secret,
    "Service": _service,
    "StatefulSet": _workload,
}

# The status of a new object, where it is not empty.
FIRST_STATUS: dict[str, Json] = {
    "Namespace": {"phase": "Active"},
    "PodDisruptionBudget": {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    },
    "PersistentVolumeClaim": {"phase": "Pending"},
    "PersistentVolume": {"phase": "Pending"},
}


def first_status(obj: Json) -> Json:
    """Return the status that a new object of a built-in kind has."""
    if obj["kind"] == "Pod":
        gated = bool(obj["spec"].get("schedulingGates"))
        status: Json = {"phase": "Pending", "qosClass": quality(obj["spec"])}
        if gated:
            status["conditions"] = [GATED]
        return status
    return dict(FIRST_STATUS.get(obj["kind"], {}))


GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
    "lastProbeTime": None,
    "lastTransitionTime": None,
}


def quality(spec: Json) -> str:
    """Return the quality-of-service class of a pod."""
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    basic = ("cpu", "memory")
    requests = [
        {key: value for key, value in (item["resources"].get(part) or {}).items() if key in basic}
        for item in containers
        for part in ("requests", "limits")
    ]
    if not any(requests):
        return "BestEffort"
    pairs = zip(requests[::2], requests[1::2], strict=True)
    if all(set(limits) == set(basic) and wishes == limits for wishes, limits in pairs):
        return "Guaranteed"
    return "Burstable"


_NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def admit_pod(obj: Json, store: Store) -> None:
    """Add what admission adds to a pod: account, token, priority and tolerations."""
    spec = obj["spec"]
    spec.setdefault("serviceAccountName", "default")
    spec["serviceAccount"] = spec["serviceAccountName"]
    if spec.get("automountServiceAccountToken") is not False:
        _mount_token(spec)
    class_name = spec.get("priorityClassName")
    class_ = store.get("priorityclasses.scheduling.k8s.io", "", class_name) if class_name else None
    spec["priority"] = class_["value"] if class_ else 0
    policy = class_["preemptionPolicy"] if class_ else "PreemptLowerPriority"
    spec.setdefault("preemptionPolicy", policy)
    tolerations = spec.setdefault("tolerations", [])
    for key in _NOT_READY:
        if not any(tolerates(item, key) for item in tolerations):
            tolerations.append(
                {"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300}
            )


def tolerates(toleration: Json, key: str) -> bool:
    """Return whether a toleration covers NoExecute of a key."""
    return toleration.get("effect", "") in ("", "NoExecute") and toleration.get("key", "") in (
        "",
        key,
    )


def _mount_token(spec: Json) -> None:
    name = f"kube-api-access-{suffix()}"
    mount = {
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "name": name,
        "readOnly": True,
    }
    for item in (*(spec.get("initContainers") or ()), *spec["containers"]):
        item.setdefault("volumeMounts", []).append(dict(mount))
    namespace = {
        "path": "namespace",
        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
    }
    authority = {"key": "ca.crt", "path": "ca.crt"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [authority], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    projected = {"defaultMode": 420, "sources": sources}
    spec.setdefault("volumes", []).append({"name": name, "projected": projected})
