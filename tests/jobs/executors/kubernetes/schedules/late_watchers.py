"""Watchers that write what they read a while ago: one that lags, and one that was held up."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from atom.clusters.kubernetes.listing import read_list
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs.executors.kubernetes.engines.observations import slim_job, slim_pod
from atom.jobs.executors.kubernetes.watching import JOBS, PODS, followed, note, selector
from atom.jobs.models import ClusterJob
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault

Slim = list[dict[str, Any]]


class LateWatchers:
    """Keeps one earlier reading for each cluster, and writes it down at times."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self._read: dict[UUID, tuple[list[ClusterJob], Slim, Slim]] = {}

    def step(self, cluster: Cluster) -> None:
        """Write the earlier reading, or make one. Raises ClusterFailure."""
        earlier = self._read.get(cluster.pk)
        if earlier is None:
            if self.dice.falls(0.4):
                self._read[cluster.pk] = self._reading(cluster)
            return
        if not self.dice.falls(0.4):
            return
        placements, jobs, pods = self._read.pop(cluster.pk)
        if self.dice.falls(0.65):
            # A watch lags behind; the rows are read when it writes.
            if note(followed(cluster), jobs, pods, nodes={}, is_whole=False):
                self.dice.count(Fault.WATCH_LATE)
        elif note(placements, jobs, pods, nodes={}, is_whole=True):
            self.dice.count(Fault.WATCHER_TWICE)

    def _reading(self, cluster: Cluster) -> tuple[list[ClusterJob], Slim, Slim]:
        placements = followed(cluster)
        with open_cluster(cluster) as api:
            jobs = read_list(api, JOBS, slim_job, selector=selector()).objects.values()
            pods = read_list(api, PODS, slim_pod, selector=selector()).objects.values()
        return placements, [one.value for one in jobs], [one.value for one in pods]
