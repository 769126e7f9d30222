"""Proof of which pod a token belongs to: the cluster itself says it, not the pod."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from atom.clusters.engines.documents import child
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails

_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"
_NOT_FOUND = 404
# A token of a service account is about 1 kB; one of a pod with long names is not much longer.
MAX_TOKEN_CHARACTERS = 8192


class TokenRefusedError(Exception):
    """The cluster does not accept a token as that of a pod; the message says why."""


def installation() -> str:
    """Return the id by which clusters know this installation: the same for its restored backup."""
    return hashlib.sha256(b"atom installation " + settings.SECRET_KEY.encode()).hexdigest()[:16]


def audience_of(installation_id: str) -> str:
    """Return for whom a pod's token is made: for this installation alone."""
    return f"atom.dev/{installation_id}"


def review_token(
    api: ClusterConnection, namespace: str, account: str, token: str
) -> tuple[str, str]:
    """Return the name and the uid of the pod that a token of the account was made for.

    Raises TokenRefusedError, ClusterFailure.
    """
    audience = audience_of(installation())
    document = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token, "audiences": [audience]},
    }
    review = api.post(_REVIEWS, document).body
    status, user = child(review, "status"), child(review, "status", "user")
    username = f"system:serviceaccount:{namespace}:{account}"
    audiences = status.get("audiences")
    good = isinstance(audiences, list) and audience in audiences
    if status.get("authenticated") is not True or not good or user.get("username") != username:
        raise TokenRefusedError("The cluster does not accept the pod's token.")
    extra = child(user, "extra")
    return _only(extra, _POD_NAME), _only(extra, _POD_UID)


def _only(extra: Mapping[str, Any], key: str) -> str:
    values = extra.get(key)
    if not isinstance(values, list) or len(values) != 1:
        raise TokenRefusedError("The token is bound to no pod.")
    return str(values[0])


def read_pod(api: ClusterConnection, namespace: str, name: str) -> dict[str, Any] | None:
    """Return a pod, None if there is none of this name. Raises ClusterFailure."""
    try:
        return api.get(f"/api/v1/namespaces/{namespace}/pods/{name}").body
    except ClusterFails as error:
        if error.status_code == _NOT_FOUND:
            return None
        raise
