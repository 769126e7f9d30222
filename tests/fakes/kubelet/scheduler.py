"""The scheduler of a stand-in cluster: it binds pods to nodes that have room for them."""

from __future__ import annotations

from typing import Any

from tests.fakes.kubernetes.controllers.base import Controller
from tests.fakes.kubernetes.deletion import Deletion
from tests.fakes.kubernetes.errors import ApiError
from tests.fakes.kubernetes.machinery import Machinery
from tests.fakes.kubernetes.pods import Pods, set_condition
from tests.fakes.kubernetes.store import Event

from .fitting import misfit_of, words_of

Json = dict[str, Any]

_NAME = "default-scheduler"


class Scheduler(Controller):
    """Looks at all waiting pods whenever a pod or a node changes."""

    name = _NAME

    def __init__(self, machinery: Machinery, deletion: Deletion, pods: Pods) -> None:
        super().__init__(machinery, deletion)
        self._pods = pods

    def subscriptions(self) -> list[tuple[str, Any]]:
        """Return which kinds the scheduler listens to."""
        kinds = ("pods.", "nodes.", "persistentvolumeclaims.")
        return [(kind, self._on_change) for kind in kinds]

    def _on_change(self, _: Event) -> None:
        self.enqueue("all")

    def start(self) -> None:
        """Schedule the pods that wait, and those that come."""
        super().start()
        self.enqueue("all")

    def sync(self, _: tuple[str, ...]) -> None:
        """Bind each waiting pod, the oldest first, or say why not."""
        waiting = [pod for pod in self.store.objects("pods.") if _waits(pod)]
        waiting.sort(key=_turn)
        for pod in waiting:
            self._schedule(pod)

    def _schedule(self, pod: Json) -> None:
        words = self._missing_claim(pod)
        if not words:
            nodes = self.store.objects("nodes.")
            misfits = []
            for node in sorted(nodes, key=self._load):
                misfit = misfit_of(pod, node, self._on(node))
                if misfit is None:
                    self._bind(pod, node["metadata"]["name"])
                    return
                misfits.append(misfit)
            words = words_of(misfits)
        self._refuse(pod, words)

    def _on(self, node: Json) -> list[Json]:
        name = node["metadata"]["name"]
        return [
            pod
            for pod in self.store.objects("pods.")
            if pod["spec"].get("nodeName") == name
            and pod["status"].get("phase") not in ("Failed", "Succeeded")
        ]

    def _load(self, node: Json) -> tuple[int, str]:
        return len(self._on(node)), node["metadata"]["name"]

    def _missing_claim(self, pod: Json) -> str:
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if claim and self.store.get("persistentvolumeclaims.", namespace, claim) is None:
                total = len(self.store.objects("nodes."))
                missing = f'persistentvolumeclaim "{claim}" not found'
                return f"0/{total} nodes are available: {missing}. not found"
        return ""

    def _bind(self, pod: Json, node: str) -> None:
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        try:
            self._pods.bind(namespace, name, node)
        except ApiError as failure:
            # It is gone, or another scheduler was faster.
            if failure.code not in (404, 409):
                raise
            return
        words = f"Successfully assigned {namespace}/{name} to {node}"
        self.recorder.record(self._pods.resource, pod, "Normal", "Scheduled", words)

    def _refuse(self, pod: Json, words: str) -> None:
        metadata = pod["metadata"]
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": words,
            "observedGeneration": metadata.get("generation", 1),
        }
        known = pod["status"].get("conditions") or ()
        if any(item["type"] == "PodScheduled" and item.get("message") == words for item in known):
            return
        self.recorder.record(self._pods.resource, pod, "Warning", "FailedScheduling", words)

        def change(old: Json) -> Json:
            return old | {"status": set_condition(old["status"], condition, self.store.now())}

        place = (metadata["namespace"], metadata["name"])
        try:
            self.machinery.replace(self._pods.resource, place, change, None, "status")
        except ApiError as failure:
            if failure.code != 404:
                raise


def _waits(pod: Json) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and not spec.get("schedulingGates")
        and spec.get("schedulerName", _NAME) == _NAME
        and not pod["metadata"].get("deletionTimestamp")
        and pod["status"].get("phase") == "Pending"
    )


def _turn(pod: Json) -> tuple[int, str, str]:
    metadata = pod["metadata"]
    return -pod["spec"].get("priority", 0), metadata["creationTimestamp"], metadata["name"]
