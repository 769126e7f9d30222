"""The objects of the node agents in a cluster, as YAML for `kubectl apply`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

PORT: Final = 7480
CACHE_FOLDER: Final = "/var/lib/atom/packs"
KUBELET_FOLDER: Final = "/var/lib/kubelet"
DRIVER: Final = "csi.atom.dev"
_TOKEN_FOLDER = "/var/run/atom"
_TOKEN_LIFE_S = 3600
_LABELS = {"app.kubernetes.io/name": "atom-agent"}


class _Dumper(yaml.SafeDumper):
    """Writes each value out where it stands."""

    def ignore_aliases(self, data: Any) -> bool:
        """Make no anchors, which people find hard to read."""
        return True


@dataclass(frozen=True, slots=True)
class AgentOrder:
    """The needs of one cluster's agents: `name` is that of account and DaemonSet."""

    name: str
    cluster_id: str
    namespace: str
    image: str
    api_url: str
    audience: str
    # Whether the agents have the driver of volumes: their containers are privileged then.
    has_volumes: bool = False


def agent_yaml(order: AgentOrder) -> str:
    """Return a namespace, an account, and a DaemonSet that runs an agent on each node.

    With volumes, the driver's object comes before the DaemonSet.
    """
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": order.namespace}}
    meta = {"name": order.name, "namespace": order.namespace, "labels": _LABELS}
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": meta,
        "automountServiceAccountToken": False,
    }
    daemon_set = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": meta,
        "spec": {
            "selector": {"matchLabels": _LABELS},
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {"metadata": {"labels": _LABELS}, "spec": _pod_spec(order)},
        },
    }
    driver = [driver_object()] if order.has_volumes else []
    objects = [namespace, account, *driver, daemon_set]
    return yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False)


def driver_object() -> dict[str, Any]:
    """Return the object by which a cluster knows the driver of volumes."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {
            "name": DRIVER,
            # Where inline volumes are admitted by profile, restricted pods may have these.
            "labels": {
                **_LABELS,
                "security.openshift.io/csi-ephemeral-volume-profile": "restricted",
            },
        },
        "spec": {
            "attachRequired": False,
            # The driver checks whose pod asks.
            "podInfoOnMount": True,
            "volumeLifecycleModes": ["Ephemeral"],
            # The volumes are read-only: no owner can be set.
            "fsGroupPolicy": "None",
            "requiresRepublish": False,
            "seLinuxMount": False,
        },
    }


def _pod_spec(order: AgentOrder) -> dict[str, Any]:
    return {
        "serviceAccountName": order.name,
        "automountServiceAccountToken": False,
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 30,
        "containers": [_container(order)],
        "volumes": [
            {
                "name": "packs",
                "hostPath": {"path": CACHE_FOLDER, "type": "DirectoryOrCreate"},
            },
            {"name": "token", "projected": {"sources": [_token_source(order)]}},
            *(
                {"name": name, "hostPath": {"path": path, "type": kind}}
                for name, path, kind in _kubelet_folders(order)
            ),
        ],
    }


def _kubelet_folders(order: AgentOrder) -> list[tuple[str, str, str]]:
    """Return the kubelet's folders that the driver needs: name, path and kind."""
    if not order.has_volumes:
        return []
    return [
        ("plugin", f"{KUBELET_FOLDER}/plugins/{DRIVER}", "DirectoryOrCreate"),
        ("registration", f"{KUBELET_FOLDER}/plugins_registry", "Directory"),
        ("pods", f"{KUBELET_FOLDER}/pods", "Directory"),
    ]


def _token_source(order: AgentOrder) -> dict[str, Any]:
    source = {"audience": order.audience, "expirationSeconds": _TOKEN_LIFE_S, "path": "token"}
    return {"serviceAccountToken": source}


def _container(order: AgentOrder) -> dict[str, Any]:
    health = {"path": "/healthz", "port": PORT}
    return {
        "name": "agent",
        "image": order.image,
        "command": ["atom-agent", "run"],
        "env": _environment(order),
        "ports": [{"name": "packs", "containerPort": PORT}],
        "readinessProbe": {"httpGet": health},
        "livenessProbe": {"httpGet": health, "timeoutSeconds": 5, "failureThreshold": 6},
        "securityContext": _security(order),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "volumeMounts": [
            {"name": "packs", "mountPath": CACHE_FOLDER},
            {"name": "token", "mountPath": _TOKEN_FOLDER, "readOnly": True},
            *(
                {"name": name, "mountPath": path, **_propagation(name)}
                for name, path, _ in _kubelet_folders(order)
            ),
        ],
    }


def _security(order: AgentOrder) -> dict[str, Any]:
    # The kubelet makes the host's folder as root's own.
    security: dict[str, Any] = {"runAsUser": 0, "readOnlyRootFilesystem": True}
    if order.has_volumes:
        # Kubernetes lets privileged containers alone mount for other pods.
        return security | {"privileged": True}
    return security | {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def _propagation(name: str) -> dict[str, str]:
    """Let mounts below the pods' folders reach the pods."""
    return {"mountPropagation": "Bidirectional"} if name == "pods" else {}


def _environment(order: AgentOrder) -> list[dict[str, Any]]:
    values = {
        "ATOM_API_URL": order.api_url,
        "ATOM_AGENT_CLUSTER": order.cluster_id,
        "ATOM_AGENT_TOKEN_FILE": f"{_TOKEN_FOLDER}/token",
        "ATOM_AGENT_CACHE": CACHE_FOLDER,
        "ATOM_AGENT_PORT": str(PORT),
        **({"ATOM_AGENT_KUBELET": KUBELET_FOLDER} if order.has_volumes else {}),
    }
    fields = {
        "ATOM_AGENT_NODE": "spec.nodeName",
        "ATOM_AGENT_POD": "metadata.name",
        "ATOM_AGENT_POD_UID": "metadata.uid",
        "ATOM_AGENT_POD_IP": "status.podIP",
    }
    return [
        *({"name": name, "value": value} for name, value in values.items()),
        *(
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in fields.items()
        ),
    ]
