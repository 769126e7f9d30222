"""The ends of a Job: its failure policy, its limits, its deadline and its success."""

from __future__ import annotations

from typing import Any

from .job_pods import has_ended, index_of, parse_indexes

Json = dict[str, Any]


def failure_rule(job: Json, pod: Json) -> tuple[str, str]:
    """Return the action of the first rule that a failed pod meets, and its message."""
    rules = (job["spec"].get("podFailurePolicy") or {}).get("rules") or ()
    metadata = pod["metadata"]
    place = f"{metadata['namespace']}/{metadata['name']}"
    for at, rule in enumerate(rules):
        if exits := rule.get("onExitCodes"):
            hit = _exit_hit(exits, pod)
            if hit is not None:
                name, code = hit
                text = (
                    f"Container {name} for pod {place} failed with exit code {code} matching "
                    f"{rule['action']} rule at index {at}"
                )
                return rule["action"], text
        for pattern in rule.get("onPodConditions") or ():
            if _has_condition(pod, pattern):
                text = (
                    f"Pod {place} has condition {pattern['type']} matching {rule['action']} rule "
                    f"at index {at}"
                )
                return rule["action"], text
    return "Count", ""


def _exit_hit(exits: Json, pod: Json) -> tuple[str, int] | None:
    status = pod["status"]
    items = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    for item in items:
        ended = (item.get("state") or {}).get("terminated")
        if ended is None or ended.get("exitCode", 0) == 0:
            continue
        if exits.get("containerName") not in (None, item["name"]):
            continue
        listed = ended["exitCode"] in exits["values"]
        if listed is (exits["operator"] == "In"):
            return item["name"], ended["exitCode"]
    return None


def _has_condition(pod: Json, pattern: Json) -> bool:
    return any(
        item["type"] == pattern["type"] and item["status"] == pattern.get("status", "True")
        for item in pod["status"].get("conditions") or ()
    )


LIMIT = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
DEADLINE = ("DeadlineExceeded", "Job was active longer than specified deadline")
FAILED_INDEXES = ("FailedIndexes", "Job has failed indexes")
TOO_MANY_INDEXES = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")


def success_rule(job: Json, done: set[int]) -> tuple[str, str] | None:
    """Return the reason and message when the Job's success policy is met."""
    for at, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or ()):
        wish = parse_indexes(rule["succeededIndexes"]) if "succeededIndexes" in rule else None
        met = done if wish is None else done & wish
        count = rule.get("succeededCount", len(wish) if wish is not None else 0)
        if count and len(met) >= count:
            return "SuccessPolicy", f"Matched rules at index {at}"
    return None


def all_counted(pods: list[Json], indexes: set[int]) -> bool:
    """Return whether no pod of these indexes still runs."""
    return all(has_ended(pod) for pod in pods if index_of(pod) in indexes)
