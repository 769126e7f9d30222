"""A cluster of the stand-in, whose nodes have pods of the agents' DaemonSet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rest_framework.test import APIClient

from atom.accounts.models import User
from atom.clusters.kubernetes.pod_identity import audience_of, installation
from atom.clusters.models import Cluster, Node
from atom.clusters.registration.actions.registering import ClusterOptions, Credentials, register
from tests.factories.accounts import make_user
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.live import wait_for

Json = dict[str, Any]
DISK = {
    **{"total_bytes": 1 << 40, "free_bytes": 1 << 39, "cache_bytes": 0, "limit_bytes": None},
    **{"is_read_only": False, "problem": ""},
}


@dataclass(frozen=True)
class JoinedAgent:
    """An agent as its program speaks."""

    token: str

    def post(self, name: str, body: Json) -> Any:
        """Send a request of the protocol."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return APIClient().post(f"/api/v1/agent/{name}/", body, format="json", headers=headers)

    def report(self, packs: dict[str, list[str]] | None) -> Any:
        """Report a sound disk."""
        body = {"sequence": 1, "disk": DISK, "packs": packs, "gpus": [], "xid_events": []}
        return self.post("report", body)

    def work(self, room: int, **lists: list[Json]) -> Any:
        """Ask for work."""
        names = ("done", "failed", "progress", "removed", "verified")
        return self.post("work", {"room": room, **{name: lists.get(name, []) for name in names}})


class AgentWorld:
    """One stand-in, registered as `east` unless it is registered already."""

    def __init__(self, stand_in: StandIn, *nodes: str, cluster: Cluster | None = None) -> None:
        self.stand_in = stand_in
        self.cluster: Cluster = cluster or _register(stand_in)
        for name in nodes:
            Node.objects.get_or_create(
                cluster=self.cluster, name=name, defaults={"cpu_count": 8, "memory_bytes": 1 << 36}
            )
        namespace = {"metadata": {"name": self.cluster.namespace}}
        stand_in.create("namespaces.", namespace)
        for account in ("atom-agent", "another"):
            body = {"metadata": {"name": account}}
            stand_in.create("serviceaccounts.", body, self.cluster.namespace)

    def client(self, user: User) -> APIClient:
        """Return a session of a person."""
        client = APIClient()
        client.force_login(user)
        return client

    def pod(
        self,
        node: str,
        owner: str = "atom-agent",
        account: str = "atom-agent",
        name: str = "",
        address: str = "127.0.0.1",
    ) -> Json:
        """Return a new pod on a node; "" has no address yet."""
        reference = {
            **{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner, "uid": f"of-{owner}"},
            "controller": True,
        }
        body = {
            "metadata": {
                "name": name or f"atom-agent-{node}-{owner}-{account}",
                "ownerReferences": [reference],
            },
            "spec": {
                "nodeName": node,
                "serviceAccountName": account,
                # Where a kubelet runs pods it lasts as long as the test.
                "containers": [
                    {"name": "agent", "image": "atom-agent", "command": ["sleep", "3600"]}
                ],
            },
        }
        pod = self.stand_in.create("pods.", body, self.cluster.namespace)
        place = self.cluster.namespace, pod["metadata"]["name"]
        status = {**pod["status"], "podIP": address, "podIPs": [{"ip": address}]}
        if not address:
            return pod
        kind = self.stand_in.machinery.kind("pods.")
        self.stand_in.machinery.update_status(kind, *place, status)
        return {**pod, "status": status}

    def started_pod(self, node: str) -> Json:
        """Return a new pod on a node once the stand-in's kubelet has given it an address."""
        pod = self.pod(node, address="")
        place = self.cluster.namespace, pod["metadata"]["name"]

        def shown() -> Json:
            return self.stand_in.store.get("pods.", *place) or pod

        wait_for(lambda: bool(shown()["status"].get("podIP")))
        return shown()

    def token(self, pod: Json) -> str:
        """Return the token that a kubelet would give the pod."""
        namespace = self.cluster.namespace
        named = pod["spec"]["serviceAccountName"]
        account = self.stand_in.store.get("serviceaccounts.", namespace, named)
        assert account is not None
        audiences = [self.audience()]
        made, _ = self.stand_in.access.signer.make(namespace, account, audiences=audiences, pod=pod)
        return made

    def audience(self) -> str:
        """Return for whom the tokens of pods are made."""
        return audience_of(installation())

    def join(self, pod: Json, node: str, /, **claim: str) -> Any:
        """Ask to join as the agent in a pod does; return the answer."""
        token = claim.pop("token", None) or self.token(pod)
        body = {
            "cluster": str(self.cluster.pk),
            "node": node,
            "pod": pod["metadata"]["name"],
            "pod_uid": pod["metadata"]["uid"],
            "address": "http://127.0.0.1:7480",
            "version": "1",
            **claim,
        }
        headers = {"Authorization": f"Bearer {token}"}
        return APIClient().post("/api/v1/agent/join/", body, format="json", headers=headers)

    def agent_of(self, pod: Json, node: str) -> JoinedAgent:
        """Return the agent in a pod, joined."""
        answer = self.join(pod, node)
        assert answer.status_code == 200, answer.content
        return JoinedAgent(answer.json()["token"])

    def joined(self, node: str, pod: str = "") -> JoinedAgent:
        """Return an agent in a new pod of a node, joined."""
        return self.agent_of(self.pod(node, name=pod), node)


def _register(stand_in: StandIn) -> Cluster:
    actor = make_user("admin-of-east", is_superuser=True)
    credentials = Credentials(kubeconfig=stand_in.kubeconfig())
    return register("east", credentials, ClusterOptions(), actor)


@contextmanager
def agent_world(settings: Any, *nodes: str) -> Iterator[AgentWorld]:
    """Yield a registered cluster with these nodes."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with StandIn(tls=True) as stand_in:
        for name in nodes:
            stand_in.nodes.add(name)
        yield AgentWorld(stand_in, *nodes)
