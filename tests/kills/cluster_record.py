"""All Jobs and pods that a stand-in ever had, and what of a cluster's objects is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.e2e import breaking
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.fakes.kubernetes.store import Event, Place
from tests.stack import Stack

Json = dict[str, Any]

SETTLES_S = 120.0
# The labels of Atom's objects, as administrators of the cluster see them.
PLACEMENT, INSTALLATION = "atom.dev/placement", "atom.dev/installation"
# Atom makes these once for each project, and they stay.
_STAY = {"namespaces.", "serviceaccounts.", "networkpolicies.networking.k8s.io"}
# The cluster's own.
_OWN = {"events.", "leases.coordination.k8s.io"}


class ClusterRecord:
    """Notes what is made in a stand-in from now on."""

    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in
        # Namespace and name of each Job to the uids under which it was made.
        self.jobs: dict[Place, list[Json]] = defaultdict(list)
        stand_in.store.subscribe("jobs.batch", self._on_job)

    def _on_job(self, event: Event) -> None:
        assert event.after is not None
        metadata = event.after.obj["metadata"]
        if event.type == "ADDED" and PLACEMENT in (metadata.get("labels") or {}):
            self.jobs[event.place].append(metadata)

    def complaints(self, stack: Stack) -> list[str]:
        """Return what was made twice, what Atom does not know, and what is left in the end."""
        return [*self._doubled(), *self._unknown(stack), *self._left()]

    def _doubled(self) -> Iterator[str]:
        for place, made in self.jobs.items():
            if len(made) != 1:
                yield f"the Job {place} was made {len(made)} times"

    def _unknown(self, stack: Stack) -> Iterator[str]:
        rows = stack.query("SELECT id, job_uid, removed_at FROM jobs_placement")
        known = {str(pk): (uid, removed_at) for pk, uid, removed_at in rows}
        for place, made in self.jobs.items():
            for metadata in made:
                placement = metadata["labels"][PLACEMENT]
                if known.get(placement, ("", None))[0] != metadata["uid"]:
                    yield f"the Job {place} is that of no placement: {known.get(placement)}"

    def left(self) -> list[str]:
        """Return the objects that runs have left: of runs themselves, and secrets of any kind."""
        store, found = self._stand_in.store, []
        for kind in store.kinds():
            for body in store.objects(kind):
                metadata = body["metadata"]
                labels = metadata.get("labels") or {}
                is_runs = INSTALLATION in labels and kind not in _STAY
                is_secret = kind == "secrets." and "-token-" not in metadata["name"]
                if kind not in _OWN and (is_runs or is_secret or PLACEMENT in labels):
                    found.append(f"{kind} {metadata.get('namespace', '')}/{metadata['name']}")
        return found

    def _left(self) -> Iterator[str]:
        try:
            breaking.wait_for(lambda: not self.left(), "the cluster is empty", SETTLES_S, 0.5)
        except AssertionError:
            yield f"left in the cluster after {SETTLES_S:g} s: {self.left()}"
