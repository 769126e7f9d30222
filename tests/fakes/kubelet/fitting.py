"""Whether a pod fits a node, and the scheduler's words for why it does not. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.kubernetes.quantities import parse_quantity

Json = dict[str, Any]
Amounts = Counter[str]

_TAINTS = "node(s) had untolerated taint(s)"
_CORDONED = "node(s) were unschedulable"
_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_NO_HELP = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"
_CORDON = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True)
class Misfit:
    """Why a pod does not fit a node, and whether it could if other pods went."""

    reasons: tuple[str, ...]
    is_final: bool = True


def amounts_of(pod: Json) -> Amounts:
    """Return what a pod asks for, in thousandths, such as of a CPU."""
    spec = pod["spec"]
    total: Amounts = Counter()
    for container in spec["containers"]:
        total.update(_requests(container))
    for container in spec.get("initContainers") or ():
        total |= _requests(container)
    total.update(_parsed(spec.get("overhead") or {}))
    return total


def _requests(container: Json) -> Amounts:
    return _parsed((container.get("resources") or {}).get("requests") or {})


def _parsed(amounts: Json) -> Amounts:
    return Counter({name: parse_quantity(value) for name, value in amounts.items()})


def misfit_of(pod: Json, node: Json, others: Iterable[Json]) -> Misfit | None:
    """Return why a pod does not fit beside the other pods of a node, or None."""
    spec, tolerations = node.get("spec") or {}, pod["spec"].get("tolerations") or []
    if spec.get("unschedulable") and not _tolerates(
        tolerations, {"key": _CORDON, "effect": "NoSchedule"}
    ):
        return Misfit((_CORDONED,))
    hard = [item for item in spec.get("taints") or () if item["effect"] != "PreferNoSchedule"]
    if not all(_tolerates(tolerations, taint) for taint in hard):
        return Misfit((_TAINTS,))
    if not _matches_affinity(pod, node):
        return Misfit((_AFFINITY,))
    return _lacking(pod, node, others)


def _lacking(pod: Json, node: Json, others: Iterable[Json]) -> Misfit | None:
    status = node.get("status") or {}
    room = _parsed(status.get("allocatable") or {})
    used: Amounts = Counter()
    count = 0
    for other in others:
        used.update(amounts_of(other))
        count += 1
    reasons, final = [], False
    if "pods" in room and (count + 1) * 1000 > room["pods"]:
        reasons.append("Too many pods")
    for name, amount in amounts_of(pod).items():
        if amount and used[name] + amount > room[name]:
            reasons.append(f"Insufficient {name}")
            final = final or amount > room[name]
    return Misfit(tuple(reasons), final) if reasons else None


def _tolerates(tolerations: list[Json], taint: Json) -> bool:
    return any(_covers(item, taint) for item in tolerations)


def _covers(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    same = toleration.get("value", "") == taint.get("value", "")
    return bool(toleration.get("key") and same)


def _matches_affinity(pod: Json, node: Json) -> bool:
    labels = node["metadata"].get("labels") or {}
    selector = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_meets(term, node, labels) for term in required["nodeSelectorTerms"])


def _meets(term: Json, node: Json, labels: Json) -> bool:
    expressions = term.get("matchExpressions") or []
    fields = term.get("matchFields") or []
    names = {"metadata.name": node["metadata"]["name"]}
    # An empty term matches nothing.
    return bool(expressions or fields) and (
        all(_holds(item, labels) for item in expressions)
        and all(_holds(item, names) for item in fields)
    )


def _holds(expression: Json, labels: Json) -> bool:
    value, operator = labels.get(expression["key"]), expression["operator"]
    values = expression.get("values") or []
    if operator in ("Exists", "DoesNotExist"):
        return bool((value is not None) == (operator == "Exists"))
    if operator in ("Gt", "Lt"):
        try:
            number, bound = int(value or ""), int(values[0])
        except ValueError:
            return False
        return number > bound if operator == "Gt" else number < bound
    return bool((value in values) == (operator == "In"))


def words_of(misfits: list[Misfit]) -> str:
    """Return the scheduler's sentence about all nodes."""
    if not misfits:
        return "no nodes available to schedule pods"
    total = len(misfits)
    reasons = _counted(reason for misfit in misfits for reason in misfit.reasons)
    helps = _counted(_NO_HELP if misfit.is_final else _NO_VICTIMS for misfit in misfits)
    return (
        f"0/{total} nodes are available: {reasons}. no new claims to deallocate, preemption: "
        f"0/{total} nodes are available: {helps}."
    )


def _counted(reasons: Iterable[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in Counter(reasons).items()))
