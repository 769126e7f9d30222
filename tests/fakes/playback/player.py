"""Plays a scenario into a stand-in, a recorded Job as one that stands there already."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.store import parse_time, timestamp
from tests.fakes.playback.recording import Change

Json = dict[str, Any]

_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SUFFIX = re.compile(r"-[a-z0-9]{5}$")


class Player:
    """Writes recorded changes into the store of a stand-in whose own Job controller is stopped."""

    def __init__(
        self, stand_in: Cluster, changes: Iterable[Change], namespace: str, jobs: Mapping[str, str]
    ) -> None:
        """Play into a namespace; `jobs` has the name of the present Job for a recorded one."""
        self.stand_in, self.namespace, self.jobs = stand_in, namespace, dict(jobs)
        found = list(changes)
        self._shift = self._shift_of(found)
        names = [change.name for change in found if change.kind == "jobs.batch"]
        # A watch follows a Job; a read shows it once.
        self._followed = {name for name in names if names.count(name) > 1}
        self._numbers = iter(range(1 << 30))

    def _shift_of(self, found: list[Change]) -> timedelta:
        """Return by how much recorded times lie in the past: the scenario ends now."""
        known = [
            parse_time(text) for change in found for text in _TIME.findall(json.dumps(change.state))
        ]
        return self.stand_in.store.clock() - max(known) if known else timedelta()

    def play(self, changes: Iterable[Change]) -> None:
        """Write some changes."""
        for change in changes:
            self._play(change)

    def _play(self, change: Change) -> None:
        namespace = "" if not self._is_namespaced(change.kind) else self.namespace
        place = (namespace, self._name(change.kind, change.name))
        store = self.stand_in.store
        with store.lock:
            stored = store.get(change.kind, *place)
            if change.is_deleted:
                if stored is not None:
                    store.remove(change.kind, place)
                return
            state = self._in_our_time(change.state)
            make = {"jobs.batch": self._job, "pods.": self._pod, "events.": self._event}
            made = make.get(change.kind, self._other)(change, state, stored or {})
            if made is not None:
                store.put(change.kind, (namespace, made["metadata"]["name"]), made)

    def _is_namespaced(self, kind: str) -> bool:
        return self.stand_in.machinery.kind(kind).namespaced

    def _in_our_time(self, state: Json) -> Json:
        def moved(found: re.Match[str]) -> str:
            at: datetime = parse_time(found[0]) + self._shift
            return timestamp(at)

        return dict(json.loads(_TIME.sub(moved, json.dumps(state))))

    # --- names ---

    def _name(self, kind: str, name: str) -> str:
        """Return the present name of a recorded object."""
        if kind == "jobs.batch":
            return self.jobs.get(name, name)
        for recorded, present in self.jobs.items():
            if kind == "pods." and self._job_of(name) == recorded:
                return present + name.removeprefix(recorded)
            if kind.startswith("workloads.") and _SUFFIX.sub("", name) == f"job-{recorded}":
                return f"job-{present}" + name[len(f"job-{recorded}") :]
        return name

    @staticmethod
    def _job_of(pod: str) -> str:
        return pod.rsplit("-", 2)[0]

    def _uid(self, kind: str, name: str) -> str:
        stored = self.stand_in.store.get(kind, self.namespace, name)
        if stored is not None:
            return str(stored["metadata"]["uid"])
        return str(uuid5(NAMESPACE_URL, f"{self.namespace}/{kind}/{name}"))

    def _metadata(self, change: Change, state: Json, stored: Json) -> Json:
        name = self._name(change.kind, change.name)
        metadata = {**state.get("metadata", {}), "name": name, "uid": self._uid(change.kind, name)}
        if self._is_namespaced(change.kind):
            metadata["namespace"] = self.namespace
        metadata.setdefault("creationTimestamp", self.stand_in.store.now())
        return {**stored.get("metadata", {}), **metadata}

    def _owner(self, job: str) -> Json:
        present = self.jobs.get(job, job)
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": present,
            "uid": self._uid("jobs.batch", present),
            "controller": True,
        }

    # --- kinds ---

    def _job(self, change: Change, state: Json, stored: Json) -> Json | None:
        """Return the present Job with the recorded state; another one as it was recorded."""
        metadata = self._metadata(change, state, stored)
        if not stored:
            return {"apiVersion": "batch/v1", "kind": "Job", **state, "metadata": metadata}
        old = stored["metadata"]
        keep = ("labels", "annotations")
        metadata |= {key: {**metadata.get(key, {}), **(old.get(key) or {})} for key in keep}
        spec = stored["spec"] | {"suspend": bool(state.get("spec", {}).get("suspend"))}
        return stored | {"metadata": metadata, "spec": spec, "status": state.get("status") or {}}

    def _pod(self, change: Change, state: Json, stored: Json) -> Json | None:
        job = self._job_of(change.name)
        metadata = self._metadata(change, state, {})
        metadata["ownerReferences"] = [self._owner(job)]
        spec = state.get("spec") or {}
        if present := self.stand_in.store.get(
            "jobs.batch", self.namespace, self.jobs.get(job, job)
        ):
            template = present["spec"].get("template") or {}
            labels = (template.get("metadata") or {}).get("labels") or {}
            metadata["labels"] = {**metadata.get("labels", {}), **labels}
            spec = {**(template.get("spec") or {}), **spec}
        base = {"apiVersion": "v1", "kind": "Pod"}
        return base | {"metadata": metadata, "spec": spec, "status": state.get("status") or {}}

    def _event(self, change: Change, state: Json, stored: Json) -> Json | None:
        involved = state.get("involvedObject") or {}
        kinds = {"Job": "jobs.batch", "Pod": "pods.", "Workload": "workloads.kueue.x-k8s.io"}
        kind = kinds.get(str(involved.get("kind")), "")
        name = self._name(kind, str(involved.get("name")))
        now = self.stand_in.store.now()
        metadata = {
            "name": f"{name}.{next(self._numbers):016x}",
            "namespace": self.namespace,
            "uid": str(uuid5(NAMESPACE_URL, f"{self.namespace}/{change.name}/{change.t}")),
            "creationTimestamp": now,
        }
        about = {**involved, "name": name, "namespace": self.namespace}
        if kind:
            about["uid"] = self._uid(kind, name)
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "type": "Normal",
            "firstTimestamp": now,
            "lastTimestamp": now,
            **state,
            "metadata": metadata,
            "involvedObject": about,
        }

    def _suspend(self, job: str, workload: Json) -> None:
        """Suspend a Job whose states were not recorded, as Kueue does by its Workload's."""
        rows = {row["type"]: row for row in (workload.get("status") or {}).get("conditions") or ()}
        holds = {name: (rows.get(name) or {}).get("status") == "True" for name in rows}
        is_suspended = not holds.get("Admitted") or bool(holds.get("Evicted"))
        stored = self.stand_in.store.get("jobs.batch", self.namespace, job)
        assert stored is not None
        spec = stored["spec"] | {"suspend": is_suspended}
        self.stand_in.store.put("jobs.batch", (self.namespace, job), stored | {"spec": spec})

    def _other(self, change: Change, state: Json, stored: Json) -> Json | None:
        metadata = self._metadata(change, state, {})
        if change.kind.startswith("workloads."):
            job = _SUFFIX.sub("", change.name).removeprefix("job-")
            metadata["ownerReferences"] = [self._owner(job)]
            if job in self.jobs and job not in self._followed:
                self._suspend(self.jobs[job], state)
        kind = self.stand_in.machinery.kind(change.kind)
        version = f"{kind.group}/{kind.version}" if kind.group else kind.version
        named = {"apiVersion": version, "kind": kind.kind}
        return {**named, **state, "metadata": metadata}
