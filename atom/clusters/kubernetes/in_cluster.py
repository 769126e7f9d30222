"""The account of the pod that this server runs in."""

from __future__ import annotations

import os
from pathlib import Path

from atom.clusters.kubernetes.errors import InClusterAccountMissing
from atom.clusters.kubernetes.kubeconfig import ClusterAccess, checked_server

# Kubernetes mounts it there for every pod with an account.
FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def in_cluster_access() -> ClusterAccess:
    """Return the pod's own access, read anew: the kubelet replaces the token every hour.

    Raises InClusterAccountMissing.
    """
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "")
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        token = (FOLDER / "token").read_text(encoding="ascii").strip()
        authority = (FOLDER / "ca.crt").read_text(encoding="ascii")
        namespace = (FOLDER / "namespace").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        host = ""
    if not host:
        raise InClusterAccountMissing
    shown = f"[{host}]" if ":" in host else host
    return ClusterAccess(
        server=checked_server(f"https://{shown}:{port}"),
        context="in-cluster",
        namespace=namespace,
        authority_pem=authority,
        token=token,
        is_in_cluster=True,
    )
