"""A cluster of the stand-in, registered, with pods whose part a test plays."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from rest_framework.test import APIClient

from atom.clusters.kubernetes.pod_identity import audience_of, installation
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import (
    ClusterOptions,
    Credentials,
    register,
)
from atom.jobs import reconcile
from atom.jobs.attempts.actions.launch import launch
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.watching import sync_cluster
from atom.jobs.logs.actions import logs
from atom.jobs.models import Attempt, ClusterJob, Placement, Run
from tests.factories.accounts import make_user
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.fakes.kubernetes.nodes import set_node_condition
from tests.fakes.kubernetes.store import timestamp
from tests.jobs.live import wait_for

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

    def submit_again(self, attempt: Attempt) -> None:
        """Ask for an attempt's Job, whatever an earlier launch still claims."""
        Run.objects.filter(pk=attempt.run_id).update(claimed_until=None)
        launch(attempt.pk)

    def sync(self) -> None:
        """Let the watcher look."""
        sync_cluster(self.cluster)

    def tick(self, run: Run) -> str | None:
        """Let the watcher look and the run go on; return the run's state."""
        self.sync()
        for stream in logs.streams_due():
            logs.flush(stream.attempt_id)
        return reconcile.advance(run.pk)

    def until(self, run: Run, state: str) -> None:
        """Return once a run is in a state. Raises AssertionError when it is not in time."""
        wait_for(lambda: self.tick(run) == state)

    def pods(self, placement: ClusterJob) -> list[Json]:
        """Return the pods of a placement, by name."""
        found = self.stand_in.store.objects("pods.", placement.namespace)
        return [
            pod
            for pod in found
            if (pod["metadata"].get("labels") or {}).get(names.PLACEMENT) == str(placement.pk)
        ]

    def pod(self, placement: ClusterJob) -> Json:
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
        audiences = [audience or audience_of(installation())]
        made, _ = self.stand_in.access.signer.make(namespace, account, audiences=audiences, pod=pod)
        return made

    def join(self, placement: ClusterJob, of: Json, **claim: Any) -> Any:
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

    def bind(self, pod: Json, node: str = "n1") -> None:
        """Put a pod on a node."""
        metadata = pod["metadata"]
        self.stand_in.pods.bind(metadata["namespace"], metadata["name"], node)

    def set_running(self, pod: Json) -> None:
        """Let a kubelet say that the pod's main container runs."""
        state = {"name": names.MAIN, "ready": True, "state": {"running": {}}}
        self.set_status(pod, {"phase": "Running", "containerStatuses": [state]})

    def set_status(self, pod: Json, status: Json) -> None:
        """Let a kubelet write parts of a pod's status."""
        machinery, metadata = self.stand_in.machinery, pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        stored = self.stand_in.store.get("pods.", *place)
        assert stored is not None
        machinery.update_status(machinery.kind("pods."), *place, stored["status"] | status)

    def set_ready(self, node: str, status: str) -> None:
        """Let the node life cycle write a node's condition, before it sets any taint."""
        machinery = self.stand_in.machinery
        stored = machinery.get(machinery.kind("nodes."), "", node)
        changed = set_node_condition(
            stored["status"], {"type": "Ready", "status": status}, self.stand_in.store.now()
        )
        machinery.update_status(machinery.kind("nodes."), "", node, changed)

    def mark_deleted(self, pod: Json, ended_ago_s: float) -> None:
        """Mark a pod for deletion whose grace time ended so long ago, and that nobody ended."""
        store, metadata = self.stand_in.store, pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        stored = store.get("pods.", *place)
        assert stored is not None
        ends_at = timestamp(store.clock() - timedelta(seconds=ended_ago_s))
        marks = {"deletionTimestamp": ends_at, "deletionGracePeriodSeconds": 60}
        store.put("pods.", place, stored | {"metadata": stored["metadata"] | marks})
