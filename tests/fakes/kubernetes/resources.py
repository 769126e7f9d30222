"""The kinds that the stand-in serves, and the documents by which a client discovers them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, eq=False)
class Resource:
    """One kind of object: its names, its place in the paths and its parts."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    verbs: tuple[str, ...] = VERBS
    # Subresource: (kind, verbs), in the order of discovery.
    parts: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    singular: str = ""
    custom: bool = False
    # Kinds with a generation count the changes of their spec.
    counted: bool = False
    schema: Json | None = None
    # Virtual kinds answer a question and are not stored.
    stored: bool = True

    @property
    def api_version(self) -> str:
        """Return the `apiVersion` of objects of this kind."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def store_key(self) -> str:
        """Return the name under which all versions of this kind are stored."""
        return f"{self.plural}.{self.group}"

    @property
    def has_status(self) -> bool:
        """Return whether the status has its own door."""
        return "status" in self.parts

    def documents(self) -> Iterable[Json]:
        """Yield the kind and its parts as discovery lists them."""
        main: Json = {
            "name": self.plural,
            "singularName": self.singular or self.kind.lower(),
            "namespaced": self.namespaced,
            "kind": self.kind,
            "verbs": list(self.verbs),
        }
        if self.short:
            main["shortNames"] = list(self.short)
        if self.categories:
            main["categories"] = list(self.categories)
        if self.stored:
            digest = hashlib.sha256(f"{self.api_version}/{self.kind}".encode()).digest()
            main["storageVersionHash"] = base64.b64encode(digest[:8]).decode()
        yield main
        for part, (kind, verbs) in self.parts.items():
            yield {
                "name": f"{self.plural}/{part}",
                "singularName": "",
                "namespaced": self.namespaced,
                "kind": kind,
                "verbs": list(verbs),
            } | EXTRA.get(kind, {})


EXTRA: dict[str, Json] = {
    "Eviction": {"group": "policy", "version": "v1"},
    "TokenRequest": {"group": "authentication.k8s.io", "version": "v1"},
    "Scale": {"group": "autoscaling", "version": "v1"},
}


def _status(kind: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {"status": (kind, STATUS_VERBS)}


_PROXY = ("create", "delete", "get", "patch", "update")
_POD_PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "attach": ("PodAttachOptions", ("create", "get")),
    "binding": ("Binding", ("create",)),
    "ephemeralcontainers": ("Pod", STATUS_VERBS),
    "eviction": ("Eviction", ("create",)),
    "exec": ("PodExecOptions", ("create", "get")),
    "log": ("Pod", ("get",)),
    "portforward": ("PodPortForwardOptions", ("create", "get")),
    "proxy": ("PodProxyOptions", _PROXY),
    "resize": ("Pod", STATUS_VERBS),
    "status": ("Pod", STATUS_VERBS),
}
_NAMESPACE_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")


def _core() -> list[Resource]:
    def make(kind: str, plural: str, **options: Any) -> Resource:
        return Resource("", "v1", kind, plural, **options)

    return [
        make("ConfigMap", "configmaps", short=("cm",)),
        make("Event", "events", short=("ev",)),
        make(
            "Namespace",
            "namespaces",
            namespaced=False,
            short=("ns",),
            verbs=_NAMESPACE_VERBS,
            parts={"finalize": ("Namespace", ("update",))} | _status("Namespace"),
        ),
        make(
            "Node",
            "nodes",
            namespaced=False,
            short=("no",),
            parts={"proxy": ("NodeProxyOptions", _PROXY)} | _status("Node"),
        ),
        make(
            "PersistentVolumeClaim",
            "persistentvolumeclaims",
            short=("pvc",),
            parts=_status("PersistentVolumeClaim"),
        ),
        make(
            "PersistentVolume",
            "persistentvolumes",
            namespaced=False,
            short=("pv",),
            parts=_status("PersistentVolume"),
        ),
        make(
            "Pod",
            "pods",
            short=("po",),
            categories=("all",),
            parts=_POD_PARTS,
            counted=True,
        ),
        make(
            "ResourceQuota",
            "resourcequotas",
            short=("quota",),
            parts=_status("ResourceQuota"),
        ),
        make("LimitRange", "limitranges", short=("limits",)),
        make("Secret", "secrets"),
        make(
            "Service",
            "services",
            short=("svc",),
            categories=("all",),
            parts={"proxy": ("ServiceProxyOptions", _PROXY)} | _status("Service"),
        ),
        make(
            "ServiceAccount",
            "serviceaccounts",
            short=("sa",),
            parts={"token": ("TokenRequest", ("create",))},
        ),
    ]


def _grouped() -> list[Resource]:
    def review(group: str, kind: str, plural: str, namespaced: bool = False) -> Resource:
        return Resource(
            group, "v1", kind, plural, namespaced=namespaced, verbs=("create",), stored=False
        )

    access, claims = "authorization.k8s.io", "resource.k8s.io"
    roles, flow = "rbac.authorization.k8s.io", "flowcontrol.apiserver.k8s.io"

    def make(group: str, kind: str, plural: str, **options: Any) -> Resource:
        return Resource(group, "v1", kind, plural, **options)

    return [
        make(
            "apps",
            "Deployment",
            "deployments",
            short=("deploy",),
            categories=("all",),
            counted=True,
            parts={"scale": ("Scale", STATUS_VERBS)} | _status("Deployment"),
        ),
        make(
            "apps",
            "DaemonSet",
            "daemonsets",
            short=("ds",),
            categories=("all",),
            counted=True,
            parts=_status("DaemonSet"),
        ),
        make(
            "apps",
            "StatefulSet",
            "statefulsets",
            short=("sts",),
            categories=("all",),
            counted=True,
            parts={"scale": ("Scale", STATUS_VERBS)} | _status("StatefulSet"),
        ),
        review("authentication.k8s.io", "TokenReview", "tokenreviews"),
        review("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews"),
        review(access, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
        review(access, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
        review(access, "SubjectAccessReview", "subjectaccessreviews"),
        make(
            "batch",
            "Job",
            "jobs",
            categories=("all",),
            counted=True,
            parts=_status("Job"),
        ),
        make("coordination.k8s.io", "Lease", "leases"),
        Resource(
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            short=("hpa",),
            categories=("all",),
            parts=_status("HorizontalPodAutoscaler"),
        ),
        make(
            "networking.k8s.io",
            "Ingress",
            "ingresses",
            short=("ing",),
            counted=True,
            parts=_status("Ingress"),
        ),
        make(
            "networking.k8s.io",
            "NetworkPolicy",
            "networkpolicies",
            short=("netpol",),
            counted=True,
        ),
        make(
            "policy",
            "PodDisruptionBudget",
            "poddisruptionbudgets",
            short=("pdb",),
            counted=True,
            parts=_status("PodDisruptionBudget"),
        ),
        make(roles, "Role", "roles"),
        make(roles, "RoleBinding", "rolebindings"),
        make(roles, "ClusterRole", "clusterroles", namespaced=False),
        make(roles, "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
        make(
            "storage.k8s.io",
            "StorageClass",
            "storageclasses",
            namespaced=False,
            short=("sc",),
        ),
        make("storage.k8s.io", "CSIDriver", "csidrivers", namespaced=False),
        make(
            "scheduling.k8s.io",
            "PriorityClass",
            "priorityclasses",
            namespaced=False,
            short=("pc",),
            counted=True,
        ),
        make(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            namespaced=False,
            short=("crd", "crds"),
            counted=True,
            parts=_status("CustomResourceDefinition"),
        ),
        make(claims, "DeviceClass", "deviceclasses", namespaced=False, counted=True),
        make(claims, "ResourceClaim", "resourceclaims", parts=_status("ResourceClaim")),
        make(claims, "ResourceClaimTemplate", "resourceclaimtemplates"),
        make(claims, "ResourceSlice", "resourceslices", namespaced=False, counted=True),
        make(
            flow,
            "FlowSchema",
            "flowschemas",
            namespaced=False,
            counted=True,
            parts=_status("FlowSchema"),
        ),
        make(
            flow,
            "PriorityLevelConfiguration",
            "prioritylevelconfigurations",
            namespaced=False,
            counted=True,
            parts=_status("PriorityLevelConfiguration"),
        ),
    ]


def built_in() -> list[Resource]:
    """Return the kinds that every cluster has."""
    return _core() + _grouped()
