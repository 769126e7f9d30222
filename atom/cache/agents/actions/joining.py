"""How an agent joins: its cluster says which pod it is, and on which node."""

from __future__ import annotations

import base64
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now

from atom.cache.errors import AgentNotAccepted, ClusterAway
from atom.cache.models import NodeAgent, PackFetch
from atom.clusters.engines.documents import rows, text
from atom.clusters.errors import ClusterSecretLost
from atom.clusters.kubernetes.errors import ClusterAddressRefused, ClusterFailure
from atom.clusters.kubernetes.pod_identity import TokenRefusedError, read_pod, review_token
from atom.clusters.models import Cluster, Node
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.core.crypto import derive_key, hash_token
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

ACCOUNT: Final = "atom-agent"
DAEMON_SET: Final = "atom-agent"
TOKEN_PREFIX: Final = "atomagent_"
TOKEN_LIFE: Final = timedelta(hours=24)
_AWAY = (ClusterFailure, ClusterAddressRefused, ClusterSecretLost)


@dataclass(frozen=True, slots=True)
class AgentClaim:
    """An agent as it describes itself; `token` is its pod's, `address` a URL for its peers."""

    token: str
    cluster: UUID
    node: str
    pod: str
    pod_uid: str
    address: str
    version: str


@dataclass(frozen=True, slots=True)
class Joined:
    """An agent's token, good until `expires_at`, and its row."""

    token: str
    expires_at: datetime
    agent: NodeAgent


def join(claim: AgentClaim) -> Joined:
    """Give an agent a token for its node; the token before it ends.

    Raises AgentNotAccepted, ClusterAway.
    """
    cluster = Cluster.objects.present().registered().filter(pk=claim.cluster).first()
    if cluster is None:
        raise AgentNotAccepted
    try:
        _prove(cluster, claim)
    except TokenRefusedError as error:
        log.warning("agent_refused", cluster=cluster.name, node=claim.node, why=str(error))
        raise AgentNotAccepted from error
    except _AWAY as error:
        raise ClusterAway from error
    node = Node.objects.filter(cluster=cluster, name=claim.node).first()
    if node is None:
        # The watcher has not seen the node yet; the agent asks again.
        raise ClusterAway(
            Sentence("cache.node_not_seen", "The node {node} is not known yet.", node=claim.node)
        )
    return _accept(node, claim)


def _prove(cluster: Cluster, claim: AgentClaim) -> None:
    """Raise TokenRefusedError unless the claim is that of an agent's pod. ClusterFailure."""
    with open_cluster(cluster) as api:
        pod_name, uid = review_token(api, cluster.namespace, ACCOUNT, claim.token)
        if (pod_name, uid) != (claim.pod, claim.pod_uid):
            raise TokenRefusedError("The token is that of another pod.")
        pod = read_pod(api, cluster.namespace, pod_name)
    if pod is None or text(pod, "metadata", "uid") != uid:
        raise TokenRefusedError("The cluster does not know this pod any more.")
    if text(pod, "spec", "nodeName") != claim.node:
        raise TokenRefusedError("The pod is on another node.")
    owners = rows(pod, "metadata", "ownerReferences")
    if not any(
        owner.get("controller")
        and (owner.get("kind"), owner.get("name")) == ("DaemonSet", DAEMON_SET)
        for owner in owners
    ):
        raise TokenRefusedError("The pod is none of the agents' DaemonSet.")
    _check_address(pod, claim.address)


def _check_address(pod: Mapping[str, Any], address: str) -> None:
    """Raise TokenRefusedError for an address of another pod, ClusterAway while it has none.

    Peers would fetch packs from there.
    """
    addresses = [text(pod, "status", "podIP")]
    addresses += [text(row, "ip") for row in rows(pod, "status", "podIPs")]
    known = {ipaddress.ip_address(ip) for ip in addresses if ip}
    if not known:
        raise ClusterAway(
            Sentence("cache.pod_without_address", "The cluster tells no address of the pod yet.")
        )
    if ipaddress.ip_address(urlsplit(address).hostname or "") not in known:
        raise TokenRefusedError("The address is not that of the pod.")


def _accept(node: Node, claim: AgentClaim) -> Joined:
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    now = clock.now()
    values = {
        "address": claim.address,
        "version": claim.version,
        "pod": claim.pod,
        "pod_uid": claim.pod_uid,
        "token_hash": hash_token(token),
        "token_expires_at": now + TOKEN_LIFE,
        "joined_at": now,
        "needs_packs": True,
        "sequence": 0,
    }
    with transaction.atomic():
        before = NodeAgent.objects.select_for_update().filter(node=node).first()
        if before is None or before.pod_uid != claim.pod_uid:
            # A new process fetches nothing yet, and its kubelet may not know its driver.
            PackFetch.objects.filter(node=node).delete()
            values["has_volumes"] = False
        else:
            # Its process may be another: what the next request does not speak of is sent again.
            PackFetch.objects.filter(node=node).update(heard_at=now - TOKEN_LIFE)
        agent, _ = NodeAgent.objects.update_or_create(node=node, defaults=values)
    return Joined(token, now + TOKEN_LIFE, agent)


def agent_by_token(token: str) -> NodeAgent | None:
    """Return the agent whose token this is, None once it is over."""
    if not token.startswith(TOKEN_PREFIX):
        return None
    agents = NodeAgent.objects.select_related("node__cluster").exclude(
        node__cluster__state="removed"
    )
    return agents.filter(token_hash=hash_token(token), token_expires_at__gt=Now()).first()


def peer_key(agent: NodeAgent) -> bytes:
    """Return the key (32 bytes) by which the agent checks the tokens of its peers."""
    return derive_key(f"cache.peers.{agent.node_id}")


def peer_key_text(agent: NodeAgent) -> str:
    """Return `peer_key` as base64."""
    return base64.b64encode(peer_key(agent)).decode()
