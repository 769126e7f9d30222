"""Answers "why isn't it running?" from recorded Kubernetes objects: one primary reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from atom.clusters.engines.documents import (
    Document,
    child,
    condition,
    containers,
    last_condition,
    name_of,
    rows,
    text,
)
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.kueue_waits import (
    is_preempting,
    workload_wait,
)
from atom.jobs.executors.kubernetes.engines.quota_use import quota_use
from atom.jobs.executors.kubernetes.engines.unschedulable import parse_verdict
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.wait_reasons import WaitReason, reason

# The arguments of `why_waiting`, by their names in what a watcher has seen of a Job.
WAIT_PARTS: Final = ("job", "pods", "events", "workload")
_IMAGE: Final = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName",
                 "RegistryUnavailable", "ImageInspectError"}  # fmt: skip
_CONFIG: Final = {"CreateContainerConfigError"}
_CONTAINER: Final = {"CreateContainerError", "RunContainerError", "CrashLoopBackOff",
                     "PreStartHookError", "PostStartHookError"}  # fmt: skip
_VOLUME_EVENTS: Final = {"FailedMount", "FailedAttachVolume", "FailedMapVolume"}
_QUOTA: Final = re.compile(r"exceeded quota: ([^,\s]{1,253})")
_QUOTA_UNKNOWN: Final = re.compile(r"status unknown for quota: ")
_WEBHOOK: Final = re.compile(r'admission webhook "([^"]{1,253})" denied|calling webhook "([^"]+)"')
_VOLUME: Final = re.compile(r'volume "([^"]{1,253})"')


@dataclass(frozen=True, slots=True)
class Objects:
    """The recorded objects of a Job; `workload` is Kueue's, if the cluster has Kueue."""

    job: object = None
    pods: tuple[Document, ...] = ()
    events: tuple[Document, ...] = ()
    workload: object = None
    # Whether victims of the Workload may still run.
    victims_run: bool = True

    def events_of(self, name: str) -> list[Document]:
        """Return the events about the object of this name, in their order."""
        return [one for one in self.events if text(one, "involvedObject", "name") == name]


def documents(value: object) -> tuple[Document, ...]:
    """Return the objects of a list or tuple; everything else counts as none."""
    return tuple(rows(list(value))) if isinstance(value, list | tuple) else ()


def why_waiting(
    job: object,
    pods: object = (),
    events: object = (),
    workload: object = None,
    *,
    victims_run: bool = True,
) -> WaitReason | None:
    """Return the first reason why the Job does not run; None if all its pods run or it ended.

    `events` are those of the Job, its pods and its Workload. `victims_run` is False once no pod
    of the work that Kueue preempted for it is left. Never raises for malformed objects.
    """
    seen = Objects(job, documents(pods), documents(events), workload, victims_run)
    if any(condition(job, kind) for kind in ("Complete", "Failed", "FailureTarget")):
        return None
    if child(job, "spec").get("suspend") is True:
        return _suspended(seen)
    waiting = [pod for pod in seen.pods if _is_pending(pod)]
    found = _first(_pod_wait(pod, seen) for pod in waiting)
    best = min(found, key=lambda one: _RANK.get(one.code, 0), default=None)
    if best is not None and best.code is not WaitCode.STARTING:
        return best
    return _refused(seen) or best or _no_pods(seen)


def _first(found: Iterable[WaitReason | None]) -> list[WaitReason]:
    return [one for one in found if one is not None]


# A wait that ends by itself hides none that needs a person.
_RANK: Final = {WaitCode.INIT_CONTAINER: 2, WaitCode.STARTING: 3, WaitCode.VICTIMS_RUN: 1}


def _is_pending(pod: Document) -> bool:
    phase = text(pod, "status", "phase")
    deleted = child(pod, "metadata").get("deletionTimestamp") is not None
    return phase in {"", "Pending"} and not deleted


def _suspended(seen: Objects) -> WaitReason:
    if seen.workload is not None and (found := workload_wait(seen.workload)):
        return found
    said = text_of(seen, name_of(seen.job))
    if any(one.get("reason") == "WorkloadPriorityClassNotFound" for one in seen.events):
        return reason(WaitCode.KUEUE_MISCONFIGURED, said, said=said)
    queue = text(seen.job, "metadata", "labels", names.QUEUE)
    if queue:
        return reason(WaitCode.KUEUE_PENDING, said, queue=queue)
    found_condition = condition(seen.job, "Suspended")
    return reason(WaitCode.SUSPENDED, text(found_condition, "message"))


def text_of(seen: Objects, name: str) -> str:
    """Return the message of the last event about the object; "" if it has none."""
    about = seen.events_of(name)
    return text(about[-1], "message") if about else ""


def _pod_wait(pod: Document, seen: Objects) -> WaitReason | None:
    scheduled = last_condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") != "True":
        return _not_scheduled(pod, scheduled, seen)
    steps: tuple[Callable[[Document, Objects], WaitReason | None], ...] = (
        _container_wait, _volume_wait, _init_wait)  # fmt: skip
    for step in steps:
        if found := step(pod, seen):
            return found
    if not text(pod, "spec", "nodeName"):
        failed = [e for e in seen.events_of(name_of(pod)) if e.get("reason") == "FailedScheduling"]
        if failed:
            return _not_scheduled(pod, failed[-1], seen)
        return reason(WaitCode.TO_BE_SCHEDULED, "", pod=name_of(pod))
    return reason(WaitCode.STARTING, "", pod=name_of(pod), node=text(pod, "spec", "nodeName"))


def _not_scheduled(pod: Document, scheduled: Document, seen: Objects) -> WaitReason:
    message = text(scheduled, "message")
    if scheduled.get("reason") == "SchedulingGated":
        gates = ", ".join(text(gate, "name") for gate in rows(pod, "spec", "schedulingGates"))
        return reason(WaitCode.SCHEDULING_GATED, message, gates=gates or "?")
    node = text(pod, "status", "nominatedNodeName")
    if node:
        return reason(WaitCode.VICTIMS_RUN, message, node=node)
    if seen.victims_run and is_preempting(seen.workload, seen.events):
        return reason(WaitCode.VICTIMS_RUN, message, node="?")
    if missing := re.search(r'persistentvolumeclaim "([^"]{1,253})" not found', message):
        return reason(WaitCode.VOLUME_MISSING, message, volume=missing[1])
    verdict = parse_verdict(message)
    if verdict is None or verdict.most_common is None:
        return reason(WaitCode.UNSCHEDULABLE_OTHER, message, said=message)
    lacking = [one for one in verdict.reasons if one.resource]
    counts = [{"nodes": one.nodes, "reason": one.reason} for one in verdict.reasons]
    said = "; ".join(f"{one.nodes}: {one.reason}" for one in verdict.reasons)
    code = WaitCode.UNSCHEDULABLE_RESOURCES if lacking else WaitCode.UNSCHEDULABLE
    lacked = ", ".join(dict.fromkeys(one.resource for one in lacking))
    params = {"resources": lacked} if lacking else {}
    return reason(code, message, counts, total=verdict.total, said=said, **params)


def _container_wait(pod: Document, seen: Objects) -> WaitReason | None:
    for kind, specs in (("initContainerStatuses", "initContainers"),
                        ("containerStatuses", "containers")):  # fmt: skip
        for name, state in containers(pod, kind):
            why, said = text(state, "waiting", "reason"), text(state, "waiting", "message")
            if why in _IMAGE:
                return _image_wait(pod, name, specs, why, said, seen)
            if why in _CONFIG:
                return reason(WaitCode.CONFIG_MISSING, said, container=name, said=said)
            if why in _CONTAINER:
                return reason(WaitCode.CONTAINER_NOT_STARTED, said, container=name, said=said)
            if why not in {"", "ContainerCreating", "PodInitializing"}:
                return reason(WaitCode.OTHER, f"{why}: {said}", said=f"{why}: {said}")
    return None


def _image_wait(
    pod: Document, name: str, specs: str, why: str, said: str, seen: Objects
) -> WaitReason:
    """Return the image's name, the registry's words and since when; ImagePullBackOff adds none."""
    named = [text(row, "image") for row in rows(pod, "spec", specs) if row.get("name") == name]
    statuses = rows(pod, "status", "containerStatuses") + rows(
        pod, "status", "initContainerStatuses"
    )
    named += [text(row, "image") for row in statuses if row.get("name") == name]
    quoted = re.search(r'image (?:tag )?"([^"]{1,1000})"', said)
    image = next((one for one in named if one), quoted[1] if quoted else name)
    pulls = [one for one in seen.events_of(name_of(pod)) if "pull" in text(one, "message").lower()]
    failed = [text(one, "message") for one in pulls if one.get("reason") == "Failed"]
    detailed = said if "ErrImagePull:" in said or not failed else max(failed, key=len)
    since = next((text(one, "firstTimestamp") for one in pulls if one.get("firstTimestamp")), "")
    code = WaitCode.IMAGE_NAME if why == "InvalidImageName" else WaitCode.IMAGE_PULL
    words = detailed if why == "ImagePullBackOff" else said or detailed
    since = since or text(pod, "status", "startTime")
    return reason(code, words or why, image=image, said=words or why, since=since)


def _volume_wait(pod: Document, seen: Objects) -> WaitReason | None:
    about = [e for e in seen.events_of(name_of(pod)) if text(e, "reason") in _VOLUME_EVENTS]
    if not about:
        return None
    message = text(about[-1], "message")
    volume = _VOLUME.search(message)
    return reason(WaitCode.VOLUME, message, volume=volume[1] if volume else "?", said=message)


def _init_wait(pod: Document, _: Objects) -> WaitReason | None:
    for name, state in containers(pod, "initContainerStatuses"):
        if isinstance(state.get("running"), dict):
            return reason(WaitCode.INIT_CONTAINER, "", container=name)
    return None


def _refused(seen: Objects) -> WaitReason | None:
    """Return why the cluster refused to create pods of the Job."""
    failed = [one for one in seen.events_of(name_of(seen.job))
              if one.get("reason") == "FailedCreate"]  # fmt: skip
    if not failed or len(seen.pods) >= _pod_count(seen.job):
        return None
    message = text(failed[-1], "message")
    if quota := _QUOTA.search(message):
        params: dict[str, Any] = {"quota": quota[1], "said": message, **quota_use(message)}
        return reason(WaitCode.QUOTA_EXCEEDED, message, **params)
    if _QUOTA_UNKNOWN.search(message):
        # The cluster has not counted what a new quota's namespace holds: it tries again.
        return reason(WaitCode.PODS_TO_BE_CREATED, message)
    if webhook := _WEBHOOK.search(message):
        return reason(
            WaitCode.WEBHOOK, message, webhook=webhook[1] or webhook[2] or "?", said=message
        )
    return reason(WaitCode.PODS_REFUSED, message, said=message)


def _pod_count(job: object) -> int:
    value = child(job, "spec").get("completions")
    return value if type(value) is int else 1 << 30


def _no_pods(seen: Objects) -> WaitReason | None:
    if not seen.pods and isinstance(seen.workload, dict) and (wait := workload_wait(seen.workload)):
        return wait
    if not isinstance(seen.job, dict) or seen.pods:
        return None
    return reason(WaitCode.PODS_TO_BE_CREATED, text_of(seen, name_of(seen.job)))
