"""Proof of which pod asks to start: the cluster itself says it, not the pod."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails
from atom.clusters.registration.engines.nodes import is_node_name
from atom.jobs.executors.base import Claim, JoinRefusedError, Proven
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.documents import child, rows, text
from atom.jobs.executors.kubernetes.engines.observations import POD_ENDS
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.models import ClusterJob

_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"
_NOT_FOUND = 404


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
    audience = names.audience_of(installation())
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token, "audiences": [audience]},
    }
    review = api.post(_REVIEWS, asked).body
    status, user = child(review, "status"), child(review, "status", "user")
    account = f"system:serviceaccount:{placement.namespace}:{names.ACCOUNT}"
    audiences = status.get("audiences")
    good = isinstance(audiences, list) and audience in audiences
    if status.get("authenticated") is not True or not good or user.get("username") != account:
        raise JoinRefusedError("The cluster does not accept the pod's token.")
    extra = child(user, "extra")
    return _only(extra, _POD_NAME), _only(extra, _POD_UID)


def _only(extra: Mapping[str, Any], key: str) -> str:
    found = extra.get(key)
    if not isinstance(found, list) or len(found) != 1:
        raise JoinRefusedError("The token is bound to no pod.")
    return str(found[0])


def read_pod(api: ClusterConnection, namespace: str, name: str) -> dict[str, Any] | None:
    """Return a pod, None if there is none of this name. Raises ClusterFailure."""
    try:
        return api.get(f"/api/v1/namespaces/{namespace}/pods/{name}").body
    except ClusterFails as error:
        if error.status_code == _NOT_FOUND:
            return None
        raise


def is_gone(api: ClusterConnection, namespace: str, identity: Mapping[str, Any]) -> bool:
    """Return whether the cluster says that a pod runs no more. Raises ClusterFailure."""
    pod = read_pod(api, namespace, str(identity.get("pod")))
    if pod is None:
        return True
    uid = text(pod, "metadata", "uid")
    if not uid:
        raise ClusterAnswerWrong()
    return uid != identity.get("pod_uid") or text(pod, "status", "phase") in POD_ENDS
