"""Runs attempts as pods of a registered cluster.

Nothing here keeps state: a placement is a row, and what the cluster says about it is written there
by the cluster's watcher. The reconciler reads rows alone, so a cluster that does not answer holds
nobody up, and is never taken for a failed run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.clusters.kubernetes.pod_address import pod_api_url
from atom.clusters.models import Cluster, Node
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.jobs.deliveries import STREAM
from atom.jobs.executors.base import (
    PREEMPTED,
    REPLACED,
    Admitted,
    Claim,
    ClusterAwayError,
    Executor,
    NothingHeldError,
    Observation,
    Phase,
    Proven,
    StartTimes,
    Surroundings,
)
from atom.jobs.executors.kubernetes.admission_gates import remove_gate
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.never_starts import never_starts
from atom.jobs.executors.kubernetes.engines.node_states import add_nodes
from atom.jobs.executors.kubernetes.engines.observations import job_is_over, observation_of
from atom.jobs.executors.kubernetes.engines.phases import phase_of
from atom.jobs.executors.kubernetes.engines.start_times import start_times_of
from atom.jobs.executors.kubernetes.engines.wait_reasons import WaitReason
from atom.jobs.executors.kubernetes.engines.waiting import WAIT_PARTS, why_waiting
from atom.jobs.executors.kubernetes.identities import is_gone, prove
from atom.jobs.executors.kubernetes.orders import (
    archive_of,
    input_volumes,
)
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.executors.kubernetes.submission import submit
from atom.jobs.executors.kubernetes.watching import answers_now
from atom.jobs.failures.engines.failures import Limits
from atom.jobs.models import Attempt, ClusterJob, Placement

log = structlog.get_logger(__name__)

# Ends after which the same Job may start the pods of the next attempt.
GOES_ON = frozenset({REPLACED, PREEMPTED})


class KubernetesExecutor(Executor):
    """Starts, observes and ends attempts in the cluster of their placement."""

    @property
    def api_url(self) -> str:
        """Atom's address as pods reach it."""
        return pod_api_url()

    def reaches(self, node: Node | None) -> bool:
        """Return True: every worker reads the same rows."""
        return True

    def surroundings(self, attempt: Attempt) -> Surroundings:
        """Return the data that the job streams; its runner fetches the indexes."""
        datasets = [_streamed(one) for one in _inputs_of(attempt)]
        placement = attempt.placed_in
        if placement is not None and placement.has_volumes:
            folders = {volume.alias: volume.name for volume in input_volumes(attempt.run)}
            for entry in datasets:
                entry["volume"] = names.volume_dir(folders[entry["alias"]])
        return Surroundings(datasets=datasets, archive=archive_of(attempt.run))

    def start(self, attempt: Attempt, admit: Callable[[int], Admitted]) -> Observation:
        """Ask the cluster for the Job, unless it is there; its pods ask for the job themselves.

        Raises NothingHeldError, LaunchFailedError, ClusterAwayError.
        """
        placement = _placement_of(attempt)
        if placement.ended_at is not None:
            raise NothingHeldError
        if not placement.job_uid:
            submit(attempt, placement)
            placement.refresh_from_db(fields=["job_uid", "observed"])
        attempt.placed_in = placement
        return self.observe(attempt)

    def observe(self, attempt: Attempt) -> Observation:
        """Return what the cluster's watcher last saw of the attempt, as its row was read."""
        placement, run = attempt.placed_in, attempt.run
        if placement is None or not placement.job_uid:
            return Observation()
        identities = dict(attempt.ranks.values_list("number", "identity"))
        limits = Limits(run.memory_bytes, run.timeout_s, list(run.command))
        seen = observation_of(placement.observed, identities, limits)
        now = clock.now()
        if not any(identities.values()):
            given_up = never_starts(placement.observed, now, limits)
            seen = replace(seen, never_starts=given_up)
        is_current = attempt.cluster is not None and answers_now(attempt.cluster, now)
        return add_nodes(seen, placement.observed, now, is_current=is_current)

    def waits_for(self, attempt: Attempt) -> WaitReason | None:
        """Return why the attempt's pods do not run, from what the watcher last saw."""
        observed = attempt.placed_in.observed if attempt.placed_in else {}
        return why_waiting(*(observed.get(key) for key in WAIT_PARTS))

    def phase_of(self, attempt: Attempt) -> Phase | None:
        """Return how far the cluster is with the attempt's Job."""
        placement = attempt.placed_in
        if placement is None or not placement.job_uid:
            return None
        return phase_of(placement.observed)

    def start_times(self, placement: Placement) -> StartTimes:
        """Return when the pods of a placement got their nodes and images, as far as it is known."""
        return start_times_of(placement.observed)

    def namespace_of(self, cluster: Cluster, project: Project) -> str:
        """Return the project's own namespace, beside those of others."""
        return names.namespace_of(cluster.namespace, project.slug)

    def goes_on(self, placement: Placement) -> bool:
        """Return whether the Job may still start pods, as after a suspension."""
        return not job_is_over(placement.observed)

    def prove(self, placement: ClusterJob, claim: Claim) -> Proven:
        """Return which rank of the Job a pod is. JoinRefusedError, ClusterAwayError."""
        try:
            with open_cluster(placement.cluster) as api:
                return prove(api, placement, claim)
        except AWAY as error:
            raise ClusterAwayError(sentence_of(error)) from error

    def is_gone(self, placement: Placement, identity: Mapping[str, Any]) -> bool:
        """Return whether the cluster says that a rank's pod runs no more. ClusterAwayError."""
        try:
            with open_cluster(placement.cluster) as api:
                return is_gone(api, placement.namespace, identity)
        except AWAY as error:
            raise ClusterAwayError(sentence_of(error)) from error

    def ungate(self, placement: Placement, preferred: Sequence[tuple[str, int]]) -> bool:
        """Take the gate from the placement's Job; False if the cluster does not do that now."""
        try:
            with open_cluster(placement.cluster) as api:
                remove_gate(api, placement, preferred)
        except AWAY as error:
            log.warning("gate_not_removed", placement=str(placement.pk), why=sentence_of(error))
            return False
        return True

    def logs(self, attempt_id: UUID | str, rank: int) -> str:
        """Return the end of what the rank's pod wrote, "" if the cluster does not say it."""
        attempt = Attempt.objects.select_related("placed_in__cluster").get(pk=attempt_id)
        identity = attempt.ranks.filter(number=rank).values_list("identity", flat=True).first()
        placement, pod = attempt.placed_in, (identity or {}).get("pod")
        if placement is None or not pod:
            return ""
        path = f"{path_of('Pod', placement.namespace)}/{pod}/log"
        try:
            with open_cluster(placement.cluster) as api:
                return api.text(path, {"container": names.MAIN, "tailLines": 50})
        except AWAY:
            return ""

    def kill(self, attempt_id: UUID | str) -> None:
        """End the placement: its Job is removed, and a pod that asks to start is refused."""
        mine = Placement.objects.filter(attempts__pk=attempt_id, ended_at=None)
        mine.update(ended_at=Now())

    def conclude(self, attempt: Attempt, *, is_last: bool) -> None:
        """End the placement, unless the next attempt may run in it."""
        if is_last or attempt.evidence.get("reason") not in GOES_ON:
            self.kill(attempt.pk)

    def kill_leftovers(self, attempt_id: UUID | str) -> None:
        """Do nothing: what a pod leaves goes with it."""

    def remove(self, attempt_id: UUID | str) -> None:
        """Do nothing: `removal.remove_ended` deletes the Jobs of ended placements."""


def _placement_of(attempt: Attempt) -> Placement:
    placement = Placement.objects.select_related("cluster").filter(attempts=attempt).first()
    if placement is None:
        raise NothingHeldError
    return placement


def _inputs_of(attempt: Attempt) -> list[Any]:
    return list(attempt.run.inputs.select_related("version__dataset").order_by("alias"))


def _streamed(one: Any) -> dict[str, Any]:
    return {
        "alias": one.alias,
        "reference": f"{one.version.dataset.name}@{one.version.ref}",
        "delivery": STREAM,
        "cache_bytes": settings.ATOM_STREAM_CACHE_BYTES,
        # Below the runner's resources; it fetches the index before the command starts.
        "index": f"datasets/{one.alias}/index/",
    }
