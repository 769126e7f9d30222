"""The disruption controller: how many pods of a budget may be evicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..selectors import matches, selector_requirements
from ..store import Event
from .base import Controller, Key, owner_of

Json = dict[str, Any]

_KIND = "poddisruptionbudgets.policy"


class Budgets(Controller):
    """Keeps the status of budgets."""

    name = "controllermanager"

    def subscriptions(self) -> list[tuple[str, Callable[[Event], None]]]:
        """Listen to budgets and pods."""
        return [(_KIND, self._budget), ("pods.", self._pod)]

    def _budget(self, event: Event) -> None:
        if event.type != "DELETED":
            self.enqueue(*event.place)

    def _pod(self, event: Event) -> None:
        for place, _entry in self.store.entries(_KIND, event.place[0]):
            self.enqueue(*place)

    def sync(self, key: Key) -> None:
        """Count the pods of a budget."""
        namespace, name = key
        budget = self.store.get(_KIND, namespace, name)
        if budget is None:
            return
        spec, resource = budget["spec"], self.machinery.kind(_KIND)
        wanted_labels = selector_requirements(spec.get("selector")) or []
        pods = [
            pod
            for pod in self.store.objects("pods.", namespace)
            if matches(wanted_labels, pod) and pod["status"]["phase"] in ("Pending", "Running")
        ]
        if "maxUnavailable" in spec and any(_unscalable(pod) for pod in pods):
            text = (
                "Failed to calculate the number of expected pods: jobs.batch does not implement "
                "the scale subresource"
            )
            self.recorder.record(
                resource, budget, "Warning", "CalculateExpectedPodCountFailed", text
            )
            return
        healthy = sum(_is_healthy(pod) for pod in pods)
        wish = spec.get("minAvailable", 0)
        allowed = max(0, healthy - wish) if pods else 0
        generation = budget["metadata"]["generation"]
        status = {
            "conditions": [_condition(budget, allowed > 0, generation, self.store.now())],
            "currentHealthy": healthy,
            "desiredHealthy": wish,
            "disruptionsAllowed": allowed,
            "expectedPods": len(pods),
            "observedGeneration": generation,
        }
        self.machinery.update_status(resource, namespace, name, status)


def _unscalable(pod: Json) -> bool:
    owner = owner_of(pod)
    return owner is not None and owner["kind"] == "Job"


def _is_healthy(pod: Json) -> bool:
    if pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = pod["status"].get("conditions") or ()
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _condition(budget: Json, allowed: bool, generation: int, now: str) -> Json:
    status = "True" if allowed else "False"
    for old in budget["status"].get("conditions") or ():
        if old["status"] == status:
            now = old["lastTransitionTime"]
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "observedGeneration": generation,
        "lastTransitionTime": now,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
    }
