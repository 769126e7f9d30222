"""Proof of which pod asks to start: the cluster itself says it, not the pod."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from atom.clusters.engines.documents import rows, text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong
from atom.clusters.kubernetes.pod_identity import TokenRefusedError, read_pod, review_token
from atom.clusters.registration.engines.nodes import is_node_name
from atom.jobs.executors.base import Claim, JoinRefusedError, Proven
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.observations import POD_ENDS
from atom.jobs.models import ClusterJob


def prove(api: ClusterConnection, placement: ClusterJob, claim: Claim) -> Proven:
    """Return which rank of the placement the token's pod is.

    Raises JoinRefusedError if it is none or claims to be another, ClusterFailure.
    """
    name, uid = _reviewed(api, placement, claim.token)
    if (name, uid) != (claim.pod, claim.pod_uid):
        raise JoinRefusedError("The token is that of another pod.")
    pod = read_pod(api, placement.namespace, name)
    if pod is None or text(pod, "metadata", "uid") != uid:
        raise JoinRefusedError("The cluster does not know this pod any more.")
    owners = rows(pod, "metadata", "ownerReferences")
    if not any(one.get("controller") and one.get("uid") == placement.job_uid for one in owners):
        raise JoinRefusedError("The pod is none of this run's Job.")
    if text(pod, "metadata", "annotations", names.JOB_INDEX) != str(claim.rank):
        raise JoinRefusedError(f"The pod claims to be rank {claim.rank}, and is not.")
    node = text(pod, "spec", "nodeName")
    # No node of the database has another name, and not every text can be stored.
    node = node if is_node_name(node) else ""
    identity = {"pod": name, "pod_uid": uid, "node": node}
    if address := _address_of(pod):
        identity["address"] = address
    return Proven(claim.rank, identity, node)


def _address_of(pod: Mapping[str, Any]) -> str:
    """Return the address by which other pods reach it, "" if the cluster names none that is one."""
    try:
        return str(ip_address(text(pod, "status", "podIP")))
    except ValueError:
        return ""


def _reviewed(api: ClusterConnection, placement: ClusterJob, token: str) -> tuple[str, str]:
    """Return the name and the uid of the pod that a token was made for."""
    try:
        return review_token(api, placement.namespace, names.ACCOUNT, token)
    except TokenRefusedError as error:
        raise JoinRefusedError(str(error)) from error


def is_gone(api: ClusterConnection, namespace: str, identity: Mapping[str, Any]) -> bool:
    """Return whether the cluster says that a pod runs no more. Raises ClusterFailure."""
    pod = read_pod(api, namespace, str(identity.get("pod")))
    if pod is None:
        return True
    uid = text(pod, "metadata", "uid")
    if not uid:
        raise ClusterAnswerWrong()
    return uid != identity.get("pod_uid") or text(pod, "status", "phase") in POD_ENDS
