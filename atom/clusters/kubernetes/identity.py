"""Which cluster answers: the uid of its namespace kube-system, made once with the cluster."""

from __future__ import annotations

import re

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import (
    ClusterAnswerWrong,
    ClusterFails,
    ClusterForbids,
    ClusterIsAnother,
)
from atom_sdk.sentences import Sentence

_NAMESPACE = "/api/v1/namespaces/kube-system"
_UID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_NOT_FOUND = 404


def read_identity(api: ClusterConnection) -> str:
    """Return the identity of a cluster; "" if it shows none. Raises ClusterFailure."""
    try:
        metadata = api.get(_NAMESPACE).body.get("metadata")
    except ClusterForbids:
        return ""
    except ClusterFails as failure:
        if failure.status_code == _NOT_FOUND:
            return ""
        raise
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    if not isinstance(uid, str) or not _UID.fullmatch(uid):
        raise ClusterAnswerWrong(
            Sentence("clusters.identity_wrong", "Its namespace kube-system has no valid uid.")
        )
    return uid


def check_identity(known: str, now: str) -> None:
    """Raise ClusterIsAnother unless a cluster is the one that is known; "" is not known yet."""
    if known and not now:
        raise ClusterIsAnother(
            Sentence(
                "clusters.identity_hidden",
                "It shows its namespace kube-system no more, so it cannot be told from another.",
            )
        )
    if known and now != known:
        raise ClusterIsAnother(
            Sentence(
                "clusters.identity_differs",
                "Its namespace kube-system has the uid {now}; at registration it was {known}.",
                now=now,
                known=known,
            )
        )
