"""The Job controller: it makes the pods of a Job, counts their ends and says how it went.

It works in the real controller's order: a status with what is to be counted, then the pods'
finalizers, then a status with the counts and, when no pod terminates any more, the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..errors import ApiError
from ..pods import set_condition
from ..store import Event, parse_time
from . import job_policy as policy
from .base import Controller, Key, owner_of
from .collector import remove_finalizer
from .job_pods import (
    TRACKING,
    has_ended,
    has_failed,
    index_of,
    is_active,
    is_ready,
    is_terminating,
    is_tracked,
    new_pod,
    parse_indexes,
    show_indexes,
)
from .job_state import Sync, condition, generation, is_finished, is_owned, set_number

Json = dict[str, Any]

_ENDS = {"FailureTarget": "Failed", "SuccessCriteriaMet": "Complete"}


class Jobs(Controller):
    """Runs Jobs."""

    name = "job-controller"
    # The real controller gathers the changes of pods for one second.
    batch_seconds = 0.1
    # The real controller waits ten seconds after the first failure, then twice as long each time.
    backoff_seconds = 0.5

    def subscriptions(self) -> list[tuple[str, Callable[[Event], None]]]:
        """Listen to Jobs and pods."""
        return [("jobs.batch", self._job), ("pods.", self._pod)]

    def listen(self) -> None:
        """Begin with the Jobs that exist."""
        self._jobs = self.machinery.kind("jobs.batch")
        self._pods = self.machinery.kind("pods.")
        self._failures: dict[str, tuple[int, float]] = {}
        # The pods of each Job by name, so that a sync does not read all pods.
        self._members: dict[tuple[str, ...], set[str]] = defaultdict(set)
        super().listen()
        for place, _entry in self.store.entries("jobs.batch"):
            self.enqueue(*place)

    def _job(self, event: Event) -> None:
        before, after = event.before, event.after
        same = before and after and generation(before.obj) == generation(after.obj)
        if same:
            self.enqueue(*event.place, after=self.batch_seconds)
        else:
            self.enqueue(*event.place)

    def _pod(self, event: Event) -> None:
        pod = event.after.obj if event.after else {"metadata": {}}
        owner = owner_of(pod)
        self._note_owner(event, owner)
        if owner is not None and owner["kind"] == "Job":
            self.enqueue(event.place[0], owner["name"], after=self.batch_seconds)
        elif owner is None and event.type == "MODIFIED" and is_tracked(pod):
            # Its owner left it: nobody counts it any more.
            self.enqueue(event.place[0], event.place[1], "pod")

    def _note_owner(self, event: Event, owner: Json | None) -> None:
        namespace, name = event.place
        before = owner_of(event.before.obj) if event.before else None
        if before is not None:
            self._members[(namespace, before["name"])].discard(name)
        if owner is not None and owner["kind"] == "Job" and event.type != "DELETED":
            self._members[(namespace, owner["name"])].add(name)

    # --- one look ---

    def sync(self, key: Key) -> None:
        """Bring one Job to its state."""
        namespace, name = key[:2]
        if len(key) > 2:
            remove_finalizer(self.machinery, self._pods, namespace, name, TRACKING)
            return
        job = self.store.get("jobs.batch", namespace, name)
        with self.store.lock:
            names = sorted(self._members.get((namespace, name), ()))
        objects = (self.store.get("pods.", namespace, pod_name) for pod_name in names)
        pods = [pod for pod in objects if pod is not None]
        if job is None or job["spec"].get("managedBy", "kubernetes.io/job-controller") != (
            "kubernetes.io/job-controller"
        ):
            self._release(pods if job is None else [])
            return
        pods = [pod for pod in pods if is_owned(pod, job)]
        if is_finished(job):
            self._release([pod for pod in pods if is_tracked(pod)])
            self._expire(job)
            return
        self._sync(Sync(job, pods, dict(job.get("status") or {})))

    def _sync(self, sync: Sync) -> None:
        status, spec = sync.status, sync.spec
        if spec["suspend"] is False and "startTime" not in status:
            status["startTime"] = self.store.now()
        self._count(sync)
        self._decide(sync)
        active = [pod for pod in sync.pods if is_active(pod)]
        terminating = sum(is_terminating(pod) for pod in sync.pods)
        ready = sum(is_ready(pod) for pod in active)
        words: list[tuple[str, str, str]] = []
        if sync.end is not None:
            self._delete(sync, active)
            self._count_deleted(sync, active)
            terminating += len(active)
            active, ready = [], 0
        elif sync.job["metadata"].get("deletionTimestamp"):
            self._release([pod for pod in sync.pods if is_tracked(pod)])
        elif spec["suspend"]:
            self._release([pod for pod in active if is_tracked(pod)])
            self._delete(sync, active)
            terminating += len(active)
            active, ready = [], 0
            words = self._suspended(sync)
        else:
            terminating_now = [pod for pod in sync.pods if is_terminating(pod)]
            made = self._make(sync, active, terminating_now)
            active = active + made
            words = self._resumed(sync)
        self._write_counts(sync, len(active), ready, terminating)
        for type_, reason, message in words:
            self.recorder.record(self._jobs, sync.job, type_, reason, message)
        self._finish(sync, terminating)

    def _count(self, sync: Sync) -> None:
        status = sync.status
        sync.succeeded = parse_indexes(status.get("completedIndexes", ""))
        sync.failed_indexes = parse_indexes(status.get("failedIndexes") or "")
        counted = set((status.get("uncountedTerminatedPods") or {}).get("failed") or ())
        sync.uncounted = set(counted)
        deleted = sync.job["metadata"].get("deletionTimestamp")
        for pod in sync.pods:
            if not is_tracked(pod) or deleted:
                self._judge_released(sync, pod)
                continue
            if pod["status"].get("phase") == "Succeeded":
                sync.ended_pods.append(pod)
                index = index_of(pod)
                if sync.indexed and index is not None:
                    sync.succeeded.add(index)
                else:
                    status["succeeded"] = status.get("succeeded", 0) + 1
            elif has_failed(pod, sync.job):
                sync.ended_pods.append(pod)
                self._count_failure(sync, pod)
        if sync.indexed:
            count = len(sync.succeeded)
            if count:
                status["succeeded"] = count
                status["completedIndexes"] = show_indexes(sync.succeeded)

    def _judge_released(self, sync: Sync, pod: Json) -> None:
        """Let the policy see a pod that a suspension released: it is not counted, yet it fails."""
        if pod["status"].get("phase") == "Failed" and sync.end is None:
            action, message = policy.failure_rule(sync.job, pod)
            if action == "FailJob":
                sync.end = ("FailureTarget", "PodFailurePolicy", message)

    def _count_failure(self, sync: Sync, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        action, message = policy.failure_rule(sync.job, pod) if has_ended(pod) else ("Count", "")
        if action == "FailJob" and sync.end is None:
            sync.end = ("FailureTarget", "PodFailurePolicy", message)
        if action == "Ignore":
            sync.ignored.add(uid)
        else:
            sync.uncounted.add(uid)
        number, _moment = self._failures.get(sync.job["metadata"]["uid"], (0, 0.0))
        moment = self.store.clock().timestamp()
        self._failures[sync.job["metadata"]["uid"]] = (number + 1, moment)
        limit = sync.spec.get("backoffLimitPerIndex")
        index = index_of(pod)
        if limit is not None and index is not None:
            annotations = pod["metadata"].get("annotations") or {}
            failures = int(annotations.get("batch.kubernetes.io/job-index-failure-count", 0))
            if failures >= limit or action == "FailIndex":
                sync.failed_indexes.add(index)

    def _decide(self, sync: Sync) -> None:
        for type_ in _ENDS:
            if (known := condition(sync.job, type_)) is not None:
                sync.end = (type_, known["reason"], known["message"])
                return
        if sync.job["metadata"].get("deletionTimestamp"):
            sync.end = None
            return
        sync.end = sync.end or self._failure(sync) or self._success(sync)

    def _failure(self, sync: Sync) -> tuple[str, str, str] | None:
        spec, status = sync.spec, sync.status
        failed = status.get("failed", 0) + len(sync.uncounted)
        if "backoffLimitPerIndex" in spec:
            status["failedIndexes"] = show_indexes(sync.failed_indexes)
            most = spec.get("maxFailedIndexes")
            if most is not None and len(sync.failed_indexes) > most:
                return ("FailureTarget", *policy.TOO_MANY_INDEXES)
            over = len(sync.failed_indexes | sync.succeeded) >= spec["completions"]
            if sync.failed_indexes and over:
                return ("FailureTarget", *policy.FAILED_INDEXES)
        if failed > spec["backoffLimit"]:
            return ("FailureTarget", *policy.LIMIT)
        seconds = spec.get("activeDeadlineSeconds")
        if seconds is not None and "startTime" in status and not spec["suspend"]:
            start = parse_time(status["startTime"]).timestamp()
            left = start + seconds - self.store.clock().timestamp()
            if left <= 0:
                return ("FailureTarget", *policy.DEADLINE)
            self.enqueue(*sync.place, after=left)
        return None

    def _success(self, sync: Sync) -> tuple[str, str, str] | None:
        if rule := policy.success_rule(sync.job, sync.succeeded):
            return ("SuccessCriteriaMet", *rule)
        done = len(sync.succeeded) if sync.indexed else sync.status.get("succeeded", 0)
        wish = sync.spec.get("completions")
        if wish is None:
            # A work queue is done when one pod succeeded and none runs.
            running = any(not has_ended(pod) for pod in sync.pods)
            return ("SuccessCriteriaMet", *policy.REACHED) if done and not running else None
        return ("SuccessCriteriaMet", *policy.REACHED) if done >= wish else None

    # --- pods ---

    def _make(self, sync: Sync, active: list[Json], terminating: list[Json]) -> list[Json]:
        spec, place = sync.spec, sync.place
        counted = len(active)
        if spec["podReplacementPolicy"] == "Failed":
            counted += len(terminating)
        completions = spec.get("completions")
        wish = spec["parallelism"]
        if completions is not None:
            done = sync.status.get("succeeded", 0) + len(sync.failed_indexes)
            wish = min(wish, completions - done)
        if counted > wish:
            excess = active[wish:] if counted == len(active) else []
            self._release([pod for pod in excess if is_tracked(pod)])
            self._delete(sync, excess)
            return []
        missing = wish - counted
        if missing and (left := self._backoff(sync)) > 0:
            self.enqueue(*place, after=left)
            return []
        taken = {index_of(pod) for pod in active} | sync.succeeded | sync.failed_indexes
        if spec["podReplacementPolicy"] == "Failed":
            taken |= {index_of(pod) for pod in terminating}
        free = [index for index in range(completions or 0) if index not in taken]
        made: list[Json] = []
        for at in range(missing):
            index = free[at] if sync.indexed else None
            try:
                made.append(self._create(sync, index))
            except ApiError as failure:
                words = f"Error creating: {failure.message}"
                self.recorder.record(self._jobs, sync.job, "Warning", "FailedCreate", words)
                self.enqueue(*place, after=max(self.backoff_seconds, 0.2))
                break
        return made

    def _create(self, sync: Sync, index: int | None) -> Json:
        failures = None
        if "backoffLimitPerIndex" in sync.spec:
            failures = sum(index_of(pod) == index and has_ended(pod) for pod in sync.pods)
        body = new_pod(sync.job, index, failures)
        pod = self.machinery.create(self._pods, sync.place[0], body)
        words = f"Created pod: {pod['metadata']['name']}"
        self.recorder.record(self._jobs, sync.job, "Normal", "SuccessfulCreate", words)
        return pod

    def _backoff(self, sync: Sync) -> float:
        number, moment = self._failures.get(sync.job["metadata"]["uid"], (0, 0.0))
        if not number:
            return 0.0
        wait = min(self.backoff_seconds * 2.0 ** (number - 1), 600)
        return float(moment + wait - self.store.clock().timestamp())

    def _delete(self, sync: Sync, pods: list[Json]) -> None:
        for pod in pods:
            name = pod["metadata"]["name"]
            try:
                self.deletion.delete(self._pods, sync.place[0], name, {})
            except ApiError as failure:
                if failure.code != 404:
                    raise
            words = f"Deleted pod: {name}"
            self.recorder.record(self._jobs, sync.job, "Normal", "SuccessfulDelete", words)

    def _count_deleted(self, sync: Sync, pods: list[Json]) -> None:
        """Count the pods that the end of a Job stopped: as failed, unless it succeeded."""
        for pod in pods:
            if is_tracked(pod):
                sync.ended_pods.append(pod)
                if sync.end and sync.end[0] == "FailureTarget":
                    sync.uncounted.add(pod["metadata"]["uid"])

    def _release(self, pods: list[Json]) -> None:
        for pod in pods:
            metadata = pod["metadata"]
            place = (metadata["namespace"], metadata["name"])
            remove_finalizer(self.machinery, self._pods, *place, TRACKING)

    # --- the status ---

    def _suspended(self, sync: Sync) -> list[tuple[str, str, str]]:
        sync.status.pop("startTime", None)
        known = condition(sync.job, "Suspended")
        if known is not None and known["status"] == "True":
            return []
        self._set(sync, ("Suspended", "JobSuspended", "Job suspended"))
        return [("Normal", "Suspended", "Job suspended")]

    def _resumed(self, sync: Sync) -> list[tuple[str, str, str]]:
        known = condition(sync.job, "Suspended")
        if known is None or known["status"] == "False":
            return []
        self._set(sync, ("Suspended", "JobResumed", "Job resumed"), "False")
        return [("Normal", "Resumed", "Job resumed")]

    def _set(self, sync: Sync, words: tuple[str, str, str], value: str = "True") -> None:
        now = self.store.now()
        type_, reason, message = words
        fresh = {
            "type": type_,
            "status": value,
            "lastProbeTime": now,
            "lastTransitionTime": now,
            "reason": reason,
            "message": message,
        }
        sync.status = set_condition(sync.status, fresh, now)

    def _write_counts(self, sync: Sync, active: int, ready: int, terminating: int) -> None:
        status = sync.status
        if sync.end is not None and condition(sync.job, sync.end[0]) is None:
            self._set(sync, sync.end)
            status = sync.status
        set_number(status, "active", active)
        status["ready"], status["terminating"] = ready, terminating
        status["uncountedTerminatedPods"] = (
            {"failed": sorted(sync.uncounted)} if sync.uncounted else {}
        )
        self._write(sync)

    def _finish(self, sync: Sync, terminating: int) -> None:
        self._release([pod for pod in sync.ended_pods if is_tracked(pod)])
        if sync.uncounted:
            sync.status = sync.status | {
                "failed": sync.status.get("failed", 0) + len(sync.uncounted),
                "uncountedTerminatedPods": {},
            }
        event: tuple[str, str, str] | None = None
        # A suspended Job fails only once it is resumed.
        is_due = terminating == 0 and not (sync.spec["suspend"] and not sync.ended_pods)
        if sync.end is not None and is_due:
            type_, reason, message = sync.end
            if type_ == "FailureTarget":
                event = ("Warning", reason, message)
            else:
                event = ("Normal", "Completed", "Job completed")
                sync.status = sync.status | {"completionTime": self.store.now()}
            self._set(sync, (_ENDS[type_], reason, message))
        self._write(sync)
        if event is not None:
            self.recorder.record(self._jobs, sync.job, *event)

    def _write(self, sync: Sync) -> None:
        status = dict(sync.status)

        def change(old: Json) -> Json:
            # A Job that was deleted and made again is another one.
            if old["metadata"]["uid"] != sync.job["metadata"]["uid"]:
                raise ApiError(409, "another Job", "Conflict")
            return old | {"status": status}

        sync.job = self.machinery.replace(self._jobs, sync.place, change, None, "status")

    def _expire(self, job: Json) -> None:
        """Delete a finished Job after its time to live."""
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        metadata = job["metadata"]
        if seconds is None or metadata.get("deletionTimestamp"):
            return
        ends = [condition(job, "Complete"), condition(job, "Failed")]
        moment = next(item["lastTransitionTime"] for item in ends if item is not None)
        left = parse_time(moment).timestamp() + seconds - self.store.clock().timestamp()
        if left > 0:
            self.enqueue(metadata["namespace"], metadata["name"], after=left)
            return
        body = {"propagationPolicy": "Foreground", "preconditions": {"uid": metadata["uid"]}}
        self.deletion.delete(self._jobs, metadata["namespace"], metadata["name"], body)
