"""Leader election by a Lease of the cluster: at most one holder acts at a time.

A contender waits for the whole duration since *it* last saw the record change, by its own monotonic
clock; times in the record are for people. A holder counts from the moment before its last
successful renewal was sent, and for less than the duration. So clocks may differ; only their
rates must agree. Somebody who deletes the Lease by hand ends this for contenders that never saw it.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails, ClusterFailure
from atom.clusters.kubernetes.listing import Key
from atom.clusters.kubernetes.timed_sockets import stoppable
from atom.core import clock

_NOT_FOUND, _CONFLICT = 404, 409
# No record keeps a contender waiting for longer.
_LONGEST_S = 3600


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """Times of a lease, in seconds; `renew_s` must lie between `retry_s` and `duration_s`."""

    duration_s: int = 15
    renew_s: float = 10.0
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.retry_s < self.renew_s < self.duration_s:
            raise ValueError("a lease needs retry_s < renew_s < duration_s")


class Lease:
    """One contender's view of a Lease; `identity` must be of this process alone."""

    def __init__(
        self,
        connection: ClusterConnection,
        place: Key,
        identity: str,
        settings: LeaseSettings | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        """Contend for a Lease; `now` gives only the times that people read in it."""
        # A contender that has to connect again goes on with what it has seen.
        self.connection, self.place = connection, place
        self._identity = identity
        self._folder = f"/apis/coordination.k8s.io/v1/namespaces/{place.namespace}/leases"
        self._path, self._name = f"{self._folder}/{place.name}", place.name
        self._settings = settings or LeaseSettings()
        self._monotonic, self._now = monotonic, now
        self._held_until = float("-inf")
        # The record of another holder, and until when it is honoured.
        self._seen: tuple[str, str] | None = None
        self._honoured_until = float("-inf")

    def is_held(self) -> bool:
        """Return whether this process may act now; ask again before each step."""
        return self._monotonic() < self._held_until

    def try_once(self) -> bool:
        """Acquire or renew, and return whether it was done. Raises ClusterFailure.

        After a failure the lease stays held until the renewal was due.
        """
        sent_at = self._monotonic()
        record = self._read()
        if not self._may_take(record):
            self._held_until = float("-inf")
            return False
        try:
            self._write(record, self._spec(record))
        except ClusterFails as failure:
            if failure.extra.get("status_code") == _CONFLICT:
                # Somebody else wrote; the next reading shows who.
                return False
            raise
        self._held_until = sent_at + self._settings.renew_s
        return True

    def release(self) -> None:
        """Stop acting and let another begin at once, if this process is the holder.

        Raises ClusterFailure; others then wait for the duration.
        """
        self._held_until = float("-inf")
        record = self._read()
        if record is None or record["spec"].get("holderIdentity") != self._identity:
            return
        spec = record["spec"] | {"holderIdentity": "", "leaseDurationSeconds": 1}
        try:
            self._write(record, spec)
        except ClusterFails as failure:
            if failure.extra.get("status_code") != _CONFLICT:
                raise

    def keep(self, stop: threading.Event) -> None:
        """Acquire and renew until `stop` is set, then release."""
        with stoppable(stop):
            while not stop.is_set():
                with suppress(ClusterFailure):
                    self.try_once()
                # Contenders that began together must not ask together.
                stop.wait(self._settings.retry_s * random.uniform(0.8, 1.2))
        with suppress(ClusterFailure):
            self.release()

    def _read(self) -> dict[str, Any] | None:
        try:
            record = self.connection.get(self._path).body
        except ClusterFails as failure:
            if failure.extra.get("status_code") == _NOT_FOUND:
                return None
            raise
        spec, metadata = record.get("spec"), record.get("metadata")
        spec = {} if spec is None else spec
        if not isinstance(spec, dict) or not isinstance(metadata, dict):
            raise ClusterAnswerWrong()
        return record | {"spec": spec}

    def _may_take(self, record: dict[str, Any] | None) -> bool:
        if record is None:
            # A holder whose record was deleted may still act.
            return self._monotonic() >= self._honoured_until
        spec, meta = record["spec"], record["metadata"]
        if spec.get("holderIdentity", "") in ("", None, self._identity):
            self._seen, self._honoured_until = None, float("-inf")
            return True
        seen = (str(meta.get("uid")), str(meta.get("resourceVersion")))
        if seen != self._seen:
            duration = spec.get("leaseDurationSeconds")
            theirs = duration if isinstance(duration, int) else 0
            wait_s = min(max(theirs, self._settings.duration_s), _LONGEST_S)
            self._seen, self._honoured_until = seen, self._monotonic() + wait_s
        return self._monotonic() >= self._honoured_until

    def _spec(self, record: dict[str, Any] | None) -> dict[str, Any]:
        now = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        old = record["spec"] if record else {}
        spec = old | {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": self._settings.duration_s,
            "renewTime": now,
        }
        if old.get("holderIdentity") != self._identity:
            transitions = old.get("leaseTransitions")
            transitions = transitions if isinstance(transitions, int) else 0
            spec |= {"acquireTime": now, "leaseTransitions": transitions + bool(record)}
        return spec

    def _write(self, record: dict[str, Any] | None, spec: dict[str, Any]) -> None:
        if record is not None:
            self.connection.put(self._path, record | {"spec": spec})
            return
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name},
            "spec": spec,
        }
        self.connection.post(self._folder, body)
