"""The objects of the node agents in a cluster, as YAML for `kubectl apply`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

PORT: Final = 7480
CACHE_FOLDER: Final = "/var/lib/atom/packs"
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


def agent_yaml(order: AgentOrder) -> str:
    """Return a namespace, an account, and a DaemonSet that runs an agent on each node."""
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
    return yaml.dump_all([namespace, account, daemon_set], Dumper=_Dumper, sort_keys=False)


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
        ],
    }


def _token_source(order: AgentOrder) -> dict[str, Any]:
    source = {"audience": order.audience, "expirationSeconds": _TOKEN_LIFE_S, "path": "token"}
    return {"serviceAccountToken": source}


def _container(order: AgentOrder) -> dict[str, Any]:
    return {
        "name": "agent",
        "image": order.image,
        "command": ["atom-agent", "run"],
        "env": _environment(order),
        "ports": [{"name": "packs", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": PORT}},
        "securityContext": {
            # The kubelet makes the host's folder as root's own.
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "volumeMounts": [
            {"name": "packs", "mountPath": CACHE_FOLDER},
            {"name": "token", "mountPath": _TOKEN_FOLDER, "readOnly": True},
        ],
    }


def _environment(order: AgentOrder) -> list[dict[str, Any]]:
    values = {
        "ATOM_API_URL": order.api_url,
        "ATOM_AGENT_CLUSTER": order.cluster_id,
        "ATOM_AGENT_TOKEN_FILE": f"{_TOKEN_FOLDER}/token",
        "ATOM_AGENT_CACHE": CACHE_FOLDER,
        "ATOM_AGENT_PORT": str(PORT),
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
