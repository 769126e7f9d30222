"""The rights that Atom needs in a cluster: the one table, and the YAML that grants them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

READ = ("get", "list", "watch")
WRITE = ("create", "patch", "delete")
_ACCOUNT = "system:serviceaccount:"
_ACCOUNT_PARTS = 4


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource."""

    group: str
    resource: str
    verb: str
    # Inside the namespace of Atom's jobs, or in the whole cluster.
    namespaced: bool

    @property
    def attributes(self) -> dict[str, str]:
        """Return what a SelfSubjectAccessReview asks about, without the namespace."""
        resource, _, part = self.resource.partition("/")
        asked = {"group": self.group, "resource": resource, "verb": self.verb}
        return {**asked, "subresource": part} if part else asked

    def as_json(self) -> dict[str, Any]:
        """Return it as evidence."""
        return {
            "group": self.group,
            "resource": self.resource,
            "verb": self.verb,
            "namespaced": self.namespaced,
        }


@dataclass(frozen=True, slots=True)
class _Row:
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespaced: bool = False
    # Needed only where the cluster serves the group.
    optional: bool = False


# Each row with its reason. Nothing else says which rights Atom needs.
_TABLE = (
    # Each project has a namespace, with an account and a network policy, made at its first run.
    _Row("", ("namespaces",), ("get", "create")),
    _Row("", ("serviceaccounts",), ("create",)),
    _Row("networking.k8s.io", ("networkpolicies",), ("create",)),
    # Credentials of registries. Atom never reads Secrets of these namespaces.
    _Row("", ("secrets",), ("create", "patch", "delete")),
    # The quota of a project, made and changed at each start.
    _Row("", ("resourcequotas",), ("create", "patch", "delete")),
    # Runs are jobs; their pods are watched, and their ends read, in all of these namespaces.
    _Row("batch", ("jobs",), READ + WRITE),
    _Row("", ("services",), ("create",)),
    _Row("", ("pods",), (*READ, "delete")),
    _Row("", ("pods/log",), ("get",)),
    _Row("", ("events",), READ),
    # One watcher at a time.
    _Row("coordination.k8s.io", ("leases",), ("get", "create", "update"), namespaced=True),
    # A job's specification and its token.
    _Row("", ("configmaps", "secrets"), ("get", "create", "patch", "delete"), namespaced=True),
    _Row("", ("persistentvolumeclaims",), READ + WRITE, namespaced=True),
    # Capacity: accelerators, taints, topology, storage.
    _Row("", ("nodes",), READ),
    _Row("storage.k8s.io", ("storageclasses",), ("get", "list")),
    # A profile may name the priority of runs; others may preempt them.
    _Row("scheduling.k8s.io", ("priorityclasses",), ("get", "list")),
    _Row("resource.k8s.io", ("resourceslices", "deviceclasses"), READ, optional=True),
    # A pod exchanges the token of its account for that of one attempt.
    _Row("authentication.k8s.io", ("tokenreviews",), ("create",)),
    # Quotas are compiled into queues; a workload says why a job waits.
    _Row("kueue.x-k8s.io", ("clusterqueues", "resourceflavors"), READ + WRITE, optional=True),
    _Row("kueue.x-k8s.io", ("cohorts", "workloadpriorityclasses"), READ + WRITE, optional=True),
    # The queue of a project, in its namespace.
    _Row("kueue.x-k8s.io", ("localqueues",), ("get", "create", "patch"), optional=True),
    _Row("kueue.x-k8s.io", ("workloads",), READ, optional=True),
    # Volumes of cached data.
    _Row("data.fluid.io", ("datasets", "dataloads"), READ + WRITE, namespaced=True, optional=True),
)


def needed_rights(groups: Iterable[str]) -> list[Right]:
    """Return the rights that Atom needs in a cluster that serves these API groups."""
    served = set(groups)
    return [
        Right(row.group, resource, verb, row.namespaced)
        for row in _TABLE
        if not row.optional or row.group in served
        for resource in row.resources
        for verb in row.verbs
    ]


def grant_yaml(missing: Sequence[Right], namespace: str, username: str) -> str:
    """Return the manifests that grant exactly these rights to an account.

    Their name depends on the rights: applied later, they replace no earlier grant.
    """
    documents: list[dict[str, Any]] = []
    for namespaced in (False, True):
        rights = [right for right in missing if right.namespaced == namespaced]
        if rights:
            documents += _role_and_binding(rights, namespace if namespaced else "", username)
    return yaml.safe_dump_all(documents, sort_keys=False) if documents else ""


def _role_and_binding(
    rights: Sequence[Right], namespace: str, username: str
) -> Iterator[dict[str, Any]]:
    digest = hashlib.sha256(repr(sorted(map(repr, rights))).encode()).hexdigest()[:8]
    name = f"atom-jobs-{digest}" if namespace else f"atom-{digest}"
    place = {"namespace": namespace} if namespace else {}
    version = "rbac.authorization.k8s.io/v1"
    yield {
        "apiVersion": version,
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules_of(rights),
    }
    yield {
        "apiVersion": version,
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name, **place},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": name,
        },
        "subjects": [_subject(username)],
    }


def rules_of(rights: Sequence[Right]) -> list[dict[str, list[str]]]:
    """Return the rules of a role that grants exactly these rights."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource), []).append(right.verb)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), names in verbs.items():
        together.setdefault((group, tuple(names)), []).append(resource)
    return [
        {"apiGroups": [group], "resources": resources, "verbs": list(names)}
        for (group, names), resources in together.items()
    ]


def _subject(username: str) -> dict[str, str]:
    parts = username.split(":")
    if username.startswith(_ACCOUNT) and len(parts) == _ACCOUNT_PARTS:
        return {"kind": "ServiceAccount", "namespace": parts[2], "name": parts[3]}
    return {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": username or "atom"}
