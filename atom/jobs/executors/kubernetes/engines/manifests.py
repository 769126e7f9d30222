"""The objects of a run, or a build, in a cluster. Pure: the same order gives the same objects.

A run is one Indexed Job, and a headless Service that gives its pods names. The pods fulfil the
restricted pod security standard. They hold no secret: the runner inside exchanges the token of its
pod for the job. See `docs/kubernetes.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom.clusters.kubernetes.pod_identity import audience_of
from atom.clusters.registration.engines.profiles import PodProfile
from atom.jobs.executors.kubernetes.engines import names

Json = dict[str, Any]

# How long a finished Job stays if nobody removes it: no end may vanish unseen.
TTL_S = 7 * 24 * 3600
GRACE_S = 60
TOKEN_LIFE_S = 3600
# The user of a run's processes: not root, and in no image a person.
USER = 64_000
# Exit codes of a runner that was ended from outside; a program's own become others.
_ENDED_FROM_OUTSIDE = (137, 143)
# Link-local addresses, a cloud's metadata among them, are not for jobs.
_NOT_FOR_JOBS = {"0.0.0.0/0": ["169.254.0.0/16"], "::/0": ["fe80::/10"]}
READ_ONLY_PROFILE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}

POD_PROFILE = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, slots=True)
class InputVolume:
    """An input of a run as a volume of its pods; `version` is the version's UUID."""

    name: str
    alias: str
    version: str


@dataclass(frozen=True, slots=True)
class Order:
    """All that the objects of a placement, or a build of an environment, depend on."""

    # The id of its row.
    placement: str
    # "" for a build.
    run: str
    project: str
    installation: str
    namespace: str
    name: str
    image: str
    api_url: str
    runner_url: str
    runner_sha256: str
    bootstrap: str
    cpus: int
    memory_bytes: int
    # Accelerators by the resource's name, such as nvidia.com/gpu.
    accelerators: dict[str, int] = field(default_factory=dict)
    # Labels that a node of its pods must have, by name.
    node_selector: dict[str, str] = field(default_factory=dict)
    # Names of nodes that hold its data, with weights of 1 to 100.
    preferred_nodes: tuple[tuple[str, int], ...] = ()
    ranks: int = 1
    image_pull_secrets: tuple[str, ...] = ()
    # The runner's verb.
    verb: str = "pod"
    # Whether the pods have a folder for a Python environment.
    has_environment: bool = False
    # Whether the image has the runner that is asked for.
    has_runner: bool = False
    # The longest life of the Job; None for any.
    deadline_s: int | None = None
    # Priority, tolerations, RDMA devices and settings, from the cluster's profile.
    profile: PodProfile = field(default_factory=PodProfile)
    # Inputs that the node's agent shows to the pods.
    inputs: tuple[InputVolume, ...] = ()
    # The LocalQueue of Kueue that admits the Job, and the ClusterQueue that it leads to; "": none.
    queue: str = ""
    cluster_queue: str = ""
    # Whether the queue holds the Job back until its gate is removed.
    is_gated: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of all its objects."""
        run = {names.RUN: self.run} if self.run else {}
        return {
            names.MANAGED_BY: names.MANAGER,
            names.INSTALLATION: self.installation,
            **run,
            names.PLACEMENT: self.placement,
        }


def job_of(order: Order) -> Json:
    """Return the Job; its annotation has the digest of the rest."""
    spec: Json = {
        "completionMode": "Indexed",
        "completions": order.ranks,
        "parallelism": order.ranks,
        # A retry is another Job.
        "backoffLimit": 0,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {"rules": _failure_rules()},
        "ttlSecondsAfterFinished": TTL_S,
        "template": {"metadata": {"labels": order.labels}, "spec": _pod_spec(order)},
    }
    if order.deadline_s is not None:
        spec["activeDeadlineSeconds"] = order.deadline_s
    if order.queue:
        # Kueue expects it of Jobs that it manages, and takes it away at the admission.
        spec["suspend"] = True
    queue = {names.QUEUE: order.queue} if order.queue else {}
    gate = {names.GATES: names.DATA_GATE} if order.queue and order.is_gated else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": order.name,
            "namespace": order.namespace,
            "labels": {**order.labels, **queue},
            "annotations": {names.SPEC_SHA256: digest_of(spec), **gate},
        },
        "spec": spec,
    }


def digest_of(spec: Json) -> str:
    """Return the SHA-256 (hex) of a specification."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()


def service_of(order: Order, job_uid: str) -> Json:
    """Return the headless Service by which ranks find each other; it goes with its Job."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": order.name,
            "namespace": order.namespace,
            "labels": order.labels,
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": order.name, "uid": job_uid}
            ],
        },
        "spec": {
            "clusterIP": "None",
            # Ranks look for each other before any of them is ready.
            "publishNotReadyAddresses": True,
            "selector": {names.PLACEMENT: order.placement},
        },
    }


def namespace_objects(namespace: str, project: str, installation: str) -> list[Json]:
    """Return what a project's namespace needs before its first run, the namespace first."""
    labels = {
        names.MANAGED_BY: names.MANAGER,
        names.INSTALLATION: installation,
        names.PROJECT: project,
    }
    security = {"pod-security.kubernetes.io/enforce": "restricted"}
    inside: Json = {"namespace": namespace, "labels": labels}
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "labels": {**labels, **security}},
        },
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": names.ACCOUNT, **inside},
            "automountServiceAccountToken": False,
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "atom-runs", **inside},
            "spec": network_rules({}),
        },
    ]


def network_rules(pods: Json) -> Json:
    """Return: these pods hear from pods of their namespace, and reach all but link-local ones."""
    outside = [
        {"ipBlock": {"cidr": network, "except": without}}
        for network, without in _NOT_FOR_JOBS.items()
    ]
    return {
        "podSelector": pods,
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
        "egress": [{"to": outside}],
    }


def _failure_rules() -> list[Json]:
    """Return the policy; its order is proven on real controllers.

    A suspended Job's pods carry no DisruptionTarget: without the second rule its runners' 143 would
    fail the Job for good.
    """
    codes: Json = {"containerName": names.MAIN, "operator": "In"}
    return [
        {
            "action": "Count",
            "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
        },
        {"action": "Count", "onExitCodes": {**codes, "values": list(_ENDED_FROM_OUTSIDE)}},
        {
            "action": "FailJob",
            "onExitCodes": {**codes, "operator": "NotIn", "values": [0]},
        },
    ]


def _pod_spec(order: Order) -> Json:
    spec: Json = {
        "serviceAccountName": names.ACCOUNT,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "subdomain": order.name,
        "securityContext": POD_PROFILE,
        "containers": [_main(order)],
        "volumes": _volumes(order),
    }
    if not order.has_runner:
        spec["initContainers"] = [_runner_layer(order)]
    # Nodes with accelerators often keep other pods away by a taint of the resource's name.
    tolerations = [
        {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        for name in sorted(order.accelerators)
    ]
    spec |= profile_fields(order.profile, tolerations)
    if order.node_selector:
        spec["nodeSelector"] = order.node_selector
    if order.preferred_nodes:
        spec["affinity"] = affinity_of(order.preferred_nodes)
    if order.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in order.image_pull_secrets]
    return spec


def affinity_of(preferred: Iterable[tuple[str, int]]) -> Json:
    """Return the affinity of a pod for these nodes, {} for none."""
    terms = [
        {
            "weight": weight,
            "preference": {
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]
            },
        }
        for name, weight in preferred
    ]
    if not terms:
        return {}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def profile_fields(profile: PodProfile, tolerations: Sequence[Json] = ()) -> Json:
    """Return the fields of a pod that its profile sets, beside tolerations of its own."""
    fields: Json = {}
    if profile.priority_class:
        fields["priorityClassName"] = profile.priority_class
    if named := [*tolerations, *map(_toleration, profile.tolerations)]:
        fields["tolerations"] = named
    return fields


def _toleration(row: Mapping[str, str]) -> Json:
    """Return a toleration as Kubernetes has it, without the parts that are empty."""
    return {name: value for name, value in row.items() if value}


def _runner_layer(order: Order) -> Json:
    """Return the container that puts the runner beside the image: it changes no image."""
    small = {"cpu": "100m", "memory": "128Mi"}
    return {
        "name": names.RUNNER_LAYER,
        "image": order.image,
        "command": ["python3", "-c", order.bootstrap],
        "env": [
            {"name": "ATOM_RUNNER_URL", "value": order.runner_url},
            {"name": "ATOM_RUNNER_SHA256", "value": order.runner_sha256},
            {"name": "ATOM_LAYER_DIR", "value": names.LAYER_DIR},
        ],
        "resources": {"requests": small, "limits": small},
        "securityContext": READ_ONLY_PROFILE,
        "volumeMounts": [
            {"name": "layer", "mountPath": names.LAYER_DIR},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }


def _main(order: Order) -> Json:
    held = {
        "cpu": str(order.cpus),
        "memory": str(order.memory_bytes),
        **{name: str(count) for name, count in sorted(order.profile.devices.items())},
        **{name: str(count) for name, count in sorted(order.accelerators.items())},
    }
    return {
        "name": names.MAIN,
        "image": order.image,
        "command": ["python3", _runner_path(order), order.verb],
        "workingDir": names.WORK_DIR,
        "env": _environment(order),
        "resources": {"requests": held, "limits": held},
        "securityContext": READ_ONLY_PROFILE,
        "volumeMounts": [
            *_runner_folder(order, mountPath=names.LAYER_DIR, readOnly=True),
            {"name": "work", "mountPath": names.WORK_DIR},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "shm", "mountPath": "/dev/shm"},
            {"name": "token", "mountPath": names.TOKEN_DIR, "readOnly": True},
            *_environment_folder(order, mountPath=names.ENVIRONMENT_DIR),
            *(
                {"name": volume.name, "mountPath": names.volume_dir(volume.name), "readOnly": True}
                for volume in order.inputs
            ),
        ],
    }


def _environment(order: Order) -> list[Json]:
    index = f"metadata.annotations['{names.JOB_INDEX}']"
    return [
        {"name": "ATOM_API_URL", "value": order.api_url},
        {"name": "ATOM_PLACEMENT", "value": order.placement},
        {"name": "ATOM_POD_TOKEN_FILE", "value": names.TOKEN_FILE},
        {"name": "ATOM_WORK_DIR", "value": names.WORK_DIR},
        {"name": "ATOM_GRACE_S", "value": str(GRACE_S)},
        {"name": "ATOM_ENVIRONMENT_DIR", "value": names.ENVIRONMENT_DIR},
        _from_pod("ATOM_RANK", index),
        _from_pod("ATOM_POD_NAME", "metadata.name"),
        _from_pod("ATOM_POD_UID", "metadata.uid"),
        *_settings(order.profile),
    ]


def _settings(profile: PodProfile) -> list[Json]:
    return [{"name": name, "value": value} for name, value in sorted(profile.environment.items())]


def _from_pod(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _volumes(order: Order) -> list[Json]:
    token = {
        "serviceAccountToken": {
            "audience": audience_of(order.installation),
            "expirationSeconds": TOKEN_LIFE_S,
            "path": "token",
        }
    }
    # Shared memory counts as the pod's: loaders of pictures use it, up to half of what it has.
    shared = {"medium": "Memory", "sizeLimit": str(order.memory_bytes // 2)}
    return [
        *_runner_folder(order, emptyDir={}),
        {"name": "work", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shm", "emptyDir": shared},
        {"name": "token", "projected": {"sources": [token]}},
        *_environment_folder(order, emptyDir={}),
        *map(_input_volume, order.inputs),
    ]


def _input_volume(volume: InputVolume) -> Json:
    """Return the inline volume of an input; what is missing on the node is streamed."""
    attributes = {"version": volume.version, "input": volume.alias, "mode": "packs"}
    source = {"driver": names.VOLUME_DRIVER, "readOnly": True, "volumeAttributes": attributes}
    return {"name": volume.name, "csi": source}


def _runner_path(order: Order) -> str:
    return names.IMAGE_RUNNER if order.has_runner else f"{names.LAYER_DIR}/runner.pyz"


def _runner_folder(order: Order, **fields: Any) -> list[Json]:
    return [] if order.has_runner else [{"name": "layer", **fields}]


def _environment_folder(order: Order, **fields: Any) -> list[Json]:
    return [{"name": "environment", **fields}] if order.has_environment else []
