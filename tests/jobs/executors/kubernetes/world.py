"""A cluster of the stand-in, registered, with pods whose part a test plays."""

from __future__ import annotations

import time
from typing import Any

from rest_framework.test import APIClient

from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import (
    ClusterOptions,
    Credentials,
    register,
)
from atom.jobs import reconcile
from atom.jobs.attempts.actions.launch import launch
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.executors.kubernetes.watching import sync_cluster
from atom.jobs.models import Placement, Run
from tests.factories.accounts import make_user
from tests.fakes.kubernetes.cluster import Cluster as StandIn

Json = dict[str, Any]


class World:
    """One stand-in, registered under a name."""

    def __init__(self, stand_in: StandIn, name: str = "east") -> None:
        self.stand_in = stand_in
        actor = make_user(f"admin-of-{name}", is_superuser=True)
        credentials = Credentials(kubeconfig=stand_in.kubeconfig())
        self.cluster: Cluster = register(name, credentials, ClusterOptions(), actor)

    def submit(self, run: Run) -> Placement:
        """Place a queued run and have its Job made, whatever an earlier launch still claims."""
        Run.objects.filter(pk=run.pk).update(claimed_until=None)
        reconcile.advance(run.pk)
        attempt = run.attempts.order_by("-number").first()
        assert attempt is not None
        launch(attempt.pk)
        return run.placements.get(ended_at=None)

    def sync(self) -> None:
        """Let the watcher look."""
        sync_cluster(self.cluster)

    def pods(self, placement: Placement) -> list[Json]:
        """Return the pods of a placement, by name."""
        found = self.stand_in.store.objects("pods.", placement.namespace)
        return [
            pod
            for pod in found
            if (pod["metadata"].get("labels") or {}).get(names.PLACEMENT) == str(placement.pk)
        ]

    def pod(self, placement: Placement) -> Json:
        """Return the pod of a placement as soon as the Job's controller has made it."""
        ends_at = time.monotonic() + 20
        while not (found := self.pods(placement)):
            assert time.monotonic() < ends_at, "The Job got no pod."
            time.sleep(0.01)
        return found[0]

    def remove(self, pod: Json) -> None:
        """Let a pod vanish, as when its node's kubelet has ended it."""
        metadata = pod["metadata"]
        self.stand_in.store.remove("pods.", (metadata["namespace"], metadata["name"]))

    def twin(self, pod: Json) -> Json:
        """Return a second pod of the same index, as a Job controller is documented to make it.

        The stand-in's own would remove one of them: it does nothing from here on.
        """
        self.stand_in.jobs.stop()
        metadata = {
            key: pod["metadata"][key] for key in ("labels", "annotations", "ownerReferences")
        }
        body = {
            "metadata": {**metadata, "name": f"{pod['metadata']['name']}-b"},
            "spec": pod["spec"],
        }
        return self.stand_in.create("pods.", body, pod["metadata"]["namespace"])

    def token(self, pod: Json, audience: str = "") -> str:
        """Return the token that a kubelet would give the pod."""
        namespace = pod["metadata"]["namespace"]
        account = self.stand_in.store.get("serviceaccounts.", namespace, names.ACCOUNT)
        assert account is not None
        audiences = [audience or names.audience_of(installation())]
        made, _ = self.stand_in.access.signer.make(namespace, account, audiences=audiences, pod=pod)
        return made

    def join(self, placement: Placement, of: Json, **claim: Any) -> Any:
        """Ask to start as the runner in a pod does; return the answer."""
        token = claim.pop("token", None) or self.token(of)
        body = {
            "placement": str(placement.pk),
            "rank": 0,
            "pod": of["metadata"]["name"],
            "pod_uid": of["metadata"]["uid"],
            **claim,
        }
        headers = {"Authorization": f"Bearer {token}"}
        return APIClient().post("/api/v1/runner/join/", body, format="json", headers=headers)
