"""Where objects stand in a cluster's API, and which of its failures say nothing about a run."""

from __future__ import annotations

from atom.clusters.errors import ClusterSecretLost
from atom.clusters.kubernetes.errors import ClusterAddressRefused, ClusterFailure
from atom.core.errors import AtomError

# The cluster cannot be asked now; it is asked again.
AWAY = (ClusterFailure, ClusterAddressRefused, ClusterSecretLost)
_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "Service": "/api/v1/namespaces/{}/services",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
}


def path_of(kind: str, namespace: str = "") -> str:
    """Return the path of all objects of a kind, in a namespace if it has any."""
    return _PATHS[kind].format(namespace)


def sentence_of(error: AtomError) -> str:
    """Return the sentence of a failure."""
    return str(error.detail or error.title)
