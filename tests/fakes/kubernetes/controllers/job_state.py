"""One look at a Job: the Job, its pods and the status that is being made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .base import owner_of

Json = dict[str, Any]


@dataclass
class Sync:
    """One look at a Job and its pods."""

    job: Json
    pods: list[Json]
    status: Json
    # The end that is decided: the condition that announces it, its reason and its message.
    end: tuple[str, str, str] | None = None
    ended_pods: list[Json] = field(default_factory=list)
    uncounted: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    failed_indexes: set[int] = field(default_factory=set)

    @property
    def place(self) -> tuple[str, str]:
        """Return the Job's namespace and name."""
        return self.job["metadata"]["namespace"], self.job["metadata"]["name"]

    @property
    def spec(self) -> Json:
        """Return the Job's spec."""
        spec: Json = self.job["spec"]
        return spec

    @property
    def indexed(self) -> bool:
        """Return whether each pod has an index."""
        return bool(self.spec["completionMode"] == "Indexed")


def condition(job: Json, type_: str) -> Json | None:
    """Return a condition of a Job, or None."""
    for item in (job.get("status") or {}).get("conditions") or ():
        if item["type"] == type_:
            return dict(item)
    return None


def is_finished(job: Json) -> bool:
    """Return whether a Job has come to its end."""
    return condition(job, "Complete") is not None or condition(job, "Failed") is not None


def generation(job: Json) -> Any:
    """Return the generation of a Job."""
    return job["metadata"].get("generation")


def is_owned(pod: Json, job: Json) -> bool:
    """Return whether a Job controls a pod."""
    owner = owner_of(pod)
    return owner is not None and owner["uid"] == job["metadata"]["uid"]


def set_number(status: Json, key: str, value: int) -> None:
    """Write a count; the API leaves zeros out."""
    if value:
        status[key] = value
    else:
        status.pop(key, None)
