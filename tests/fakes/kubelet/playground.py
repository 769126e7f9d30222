"""A cluster with nodes and a kubelet, and short ways to run a pod in it."""

from __future__ import annotations

import itertools
from types import TracebackType
from typing import Any

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.patches import merge_patch

from .kubelet import Kubelet
from .scheduler import Scheduler
from .waiting import until

Json = dict[str, Any]

_ENDED = ("Failed", "Succeeded")
_numbers = itertools.count(1)


class Playground:
    """One cluster; each pod has a namespace of its own."""

    def __init__(self, *, isolated: bool | None = None) -> None:
        self.cluster = Cluster()
        self.kubelet = Kubelet(self.cluster, isolated=isolated, backoff_seconds=0.02)
        self.cluster.kubelet = self.kubelet
        parts = self.cluster.machinery, self.cluster.deletion, self.cluster.pods
        self.cluster.controllers += [Scheduler(*parts), self.kubelet]
        for name in ("n1", "n2"):
            self.cluster.nodes.add(name, {"nvidia.com/gpu": "4"})

    def __enter__(self) -> Playground:
        self.cluster.jobs.batch_seconds = 0.06
        self.cluster.start()
        return self

    def __exit__(
        self,
        type_: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cluster.stop()

    def namespace(self) -> str:
        """Return a new namespace that has its default account."""
        name = f"space-{next(_numbers)}"
        self.cluster.create("namespaces.", {"metadata": {"name": name}})
        store = self.cluster.store
        kinds = ("serviceaccounts.", "configmaps.")
        until(store, lambda: store.get("serviceaccounts.", name, "default"), kinds)
        until(store, lambda: store.get("configmaps.", name, "kube-root-ca.crt"), kinds)
        return name

    def pod(self, script: str, namespace: str = "", *, name: str = "p", **spec: Any) -> Json:
        """Make a pod whose one container runs a shell script; `spec` is merged into its own.

        The key `main` is merged into the container.
        """
        main = {"name": "main", "image": "train:1", "command": ["sh", "-c", script]}
        container = merge_patch(main, spec.pop("main", {}))
        whole: Json = {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 20,
            "automountServiceAccountToken": False,
            "containers": [container],
        } | spec
        body = {"metadata": {"name": name, "labels": {"app": "test"}}, "spec": whole}
        return self.cluster.create("pods.", body, namespace or self.namespace())

    def current(self, pod: Json) -> Json | None:
        """Return a pod as it is stored now."""
        metadata = pod["metadata"]
        stored = self.cluster.store.get("pods.", metadata["namespace"], metadata["name"])
        return stored if stored and stored["metadata"]["uid"] == metadata["uid"] else None

    def until(self, pod: Json, *phases: str) -> Json:
        """Return a pod once it is in one of the phases."""

        def look() -> Json | None:
            stored = self.current(pod)
            return stored if stored and stored["status"].get("phase") in phases else None

        return until(self.cluster.store, look, ("pods.",))

    def until_ended(self, pod: Json) -> Json:
        """Return a pod once its containers have ended."""
        return self.until(pod, *_ENDED)

    def until_gone(self, pod: Json) -> None:
        """Wait until a pod is removed."""
        until(self.cluster.store, lambda: self.current(pod) is None, ("pods.",))

    def until_waiting(self, pod: Json, reason: str) -> Json:
        """Return the waiting state of a pod's container once it has this reason."""

        def look() -> Json | None:
            stored = self.current(pod) or pod
            for status in stored["status"].get("containerStatuses") or ():
                waiting = status["state"].get("waiting") or {}
                if waiting.get("reason") == reason:
                    return dict(waiting)
            return None

        return until(self.cluster.store, look, ("pods.",))

    def output(self, pod: Json, container: str = "main", attempt: str = "") -> str:
        """Return what a container has written."""
        log = self.cluster.logs.of(pod["metadata"]["uid"], container, attempt)
        return b"".join(data for _, data in log.chunks).decode() if log else ""

    def run(self, script: str, namespace: str = "", **spec: Any) -> str:
        """Run a pod to its end and return its output; assert that it succeeded."""
        pod = self.until_ended(self.pod(script, namespace, **spec))
        output = self.output(pod)
        assert pod["status"]["phase"] == "Succeeded", (output, pod["status"])
        return output

    def events(self, pod: Json) -> list[tuple[str, str]]:
        """Return reason and message of the Events about a pod."""
        return [
            (event["reason"], event["message"])
            for event in self.cluster.store.objects("events.", pod["metadata"]["namespace"])
            if event["involvedObject"].get("uid") == pod["metadata"]["uid"]
        ]


def state_of(pod: Json, container: str = "main") -> Json:
    """Return the state of a container in a pod's status."""
    status = pod["status"]
    items = [*(status.get("initContainerStatuses") or ()), *status["containerStatuses"]]
    return dict(next(item["state"] for item in items if item["name"] == container))


def conditions_of(pod: Json) -> dict[str, tuple[str, str]]:
    """Return status and reason of a pod's conditions, by their types."""
    return {
        item["type"]: (item["status"], item.get("reason", ""))
        for item in pod["status"]["conditions"]
    }
