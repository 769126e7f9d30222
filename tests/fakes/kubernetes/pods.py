"""The parts of pods that are verbs: binding to a node and eviction under budgets."""

from __future__ import annotations

from typing import Any

from .deletion import Deletion
from .errors import ApiError, conflict, internal
from .machinery import Machinery
from .selectors import matches, selector_requirements

Json = dict[str, Any]

_POLICY = "poddisruptionbudgets.policy"


def set_condition(status: Json, condition: Json, now: str) -> Json:
    """Return a status with a condition, whose time changes when its status does."""
    conditions = list(status.get("conditions") or ())
    at = next((n for n, old in enumerate(conditions) if old["type"] == condition["type"]), None)
    fresh = {"lastProbeTime": None, "lastTransitionTime": now} | condition
    if at is None:
        conditions.append(fresh)
    else:
        if conditions[at]["status"] == condition["status"]:
            fresh["lastTransitionTime"] = conditions[at].get("lastTransitionTime", now)
        conditions[at] = fresh
    return status | {"conditions": conditions}


class Pods:
    """The verbs on pods beside storing them."""

    def __init__(self, machinery: Machinery, deletion: Deletion) -> None:
        self.machinery = machinery
        self.deletion = deletion
        self.resource = machinery.kind("pods.")

    def bind(self, namespace: str, name: str, node: str) -> None:
        """Put a pod on a node, as a scheduler does."""
        store = self.machinery.store
        with store.lock:
            pod = self.machinery.get(self.resource, namespace, name)
            if pod["spec"].get("nodeName"):
                why = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
                raise conflict("", "pods/binding", name, why)
            node_obj = store.get("nodes.", "", node)
            labels = dict(pod["metadata"].get("labels") or {})
            for key in ("topology.kubernetes.io/zone", "topology.kubernetes.io/region"):
                value = ((node_obj or {}).get("metadata") or {}).get("labels", {}).get(key)
                if value:
                    labels[key] = value
            condition = {"type": "PodScheduled", "status": "True"}
            status = set_condition(pod["status"], condition, store.now())
            status.pop("nominatedNodeName", None)
            metadata = pod["metadata"] | ({"labels": labels} if labels else {})
            spec = pod["spec"] | {"nodeName": node}
            new = pod | {"metadata": metadata, "spec": spec, "status": status}
            store.put(self.resource.store_key, (namespace, name), new)

    def evict(self, namespace: str, name: str, body: Json) -> Json:
        """Evict a pod unless a budget forbids it; returns the answer."""
        store = self.machinery.store
        options = dict(body.get("deleteOptions") or {})
        dry = "All" in (options.pop("dryRun", None) or [])
        with store.lock:
            pod = self.machinery.get(self.resource, namespace, name)
            terminating = bool(pod["metadata"].get("deletionTimestamp"))
            if pod["status"]["phase"] in ("Pending", "Running") and not terminating:
                self._check_budgets(pod)
            if not dry:
                self._disrupt(pod)
                self.deletion.delete(self.resource, namespace, name, options)
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "code": 201,
        }

    def _disrupt(self, pod: Json) -> None:
        metadata = pod["metadata"]
        conditions = pod["status"].get("conditions") or ()
        if any(item["type"] == "DisruptionTarget" for item in conditions):
            return
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        }
        status = set_condition(pod["status"], condition, self.machinery.store.now())
        place = (metadata["namespace"], metadata["name"])
        self.machinery.update_status(self.resource, *place, status)

    def _check_budgets(self, pod: Json) -> None:
        store, namespace = self.machinery.store, pod["metadata"]["namespace"]
        budgets = [
            budget
            for budget in store.objects(_POLICY, namespace)
            if matches(selector_requirements(budget["spec"].get("selector")) or [], pod)
        ]
        if len(budgets) > 1:
            raise internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support."
            )
        if not budgets or pod["status"]["phase"] == "Pending":
            return
        budget, status = budgets[0], budgets[0]["status"]
        name = budget["metadata"]["name"]
        if status["disruptionsAllowed"] < 1:
            raise over_budget(name, status)
        place = (namespace, name)
        allowed = status["disruptionsAllowed"] - 1
        disrupted = (status.get("disruptedPods") or {}) | {pod["metadata"]["name"]: store.now()}
        changed = status | {"disruptionsAllowed": allowed, "disruptedPods": disrupted}
        self.machinery.update_status(self.machinery.kind(_POLICY), *place, changed)


def over_budget(name: str, status: Json) -> ApiError:
    """Return the 429 of an eviction that a budget forbids."""
    text = (
        f"The disruption budget {name} needs {status['desiredHealthy']} healthy pods and has "
        f"{status['currentHealthy']} currently"
    )
    return ApiError(
        429,
        "Cannot evict pod as it would violate the pod's disruption budget.",
        "TooManyRequests",
        {"causes": [{"reason": "DisruptionBudget", "message": text}]},
    )
