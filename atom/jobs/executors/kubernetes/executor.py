"""Runs attempts as pods of a registered cluster.

Nothing here keeps state: a placement is a row, and what the cluster says about it is written there
by the cluster's watcher. The reconciler reads rows alone, so a cluster that does not answer holds
nobody up, and is never taken for a failed run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.clusters.engines.documents import child, text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails, ClusterForbids
from atom.clusters.kubernetes.pod_address import pod_api_url
from atom.clusters.kubernetes.pod_identity import installation
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
    LaunchFailedError,
    NothingHeldError,
    Observation,
    Phase,
    Proven,
    StartTimes,
    Surroundings,
)
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import (
    Order,
    digest_of,
    job_of,
    namespace_objects,
    service_of,
)
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
    is_of,
    order_of,
)
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.executors.kubernetes.pull_secrets import sync_pull_secret
from atom.jobs.executors.kubernetes.resource_quotas import sync_quota
from atom.jobs.executors.kubernetes.watching import answers_now
from atom.jobs.failures.engines.failures import Limits
from atom.jobs.models import Attempt, ClusterJob, Placement

log = structlog.get_logger(__name__)

# Ends after which the same Job may start the pods of the next attempt.
GOES_ON = frozenset({REPLACED, PREEMPTED})

_CONFLICT = 409
_MAX_UID = 64
# The server is busy, or was too slow: nothing is wrong with what was asked.
_PASSING = (408, 409, 429)


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
            try:
                with open_cluster(placement.cluster) as api:
                    submit_job(api, placement, order_of(attempt, placement))
            except ClusterForbids as error:
                raise LaunchFailedError(sentence_of(error)) from error
            except ClusterFails as error:
                raise refusal_of(error) from error
            except AWAY as error:
                raise ClusterAwayError(sentence_of(error)) from error
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


def submit_job(api: ClusterConnection, placement: ClusterJob, order: Order) -> None:
    """Make the objects of an order, unless they are there, and note the Job's uid in its row.

    Raises LaunchFailedError, ClusterFailure.
    """
    rows = type(placement)._default_manager.filter(pk=placement.pk)
    prepare_namespace(api, order.namespace, order.project)
    sync_pull_secret(api, order)
    sync_quota(api, placement.cluster, order.project, order.namespace)
    asked = job_of(order)
    # Before the Job: another worker, or this one after it was cut off, must know its own again.
    rows.filter(spec_sha256="").update(spec_sha256=digest_of(asked["spec"]))
    placement.refresh_from_db(fields=["spec_sha256"])
    job = _create_or_adopt(api, asked, placement)
    uid = text(job, "metadata", "uid")
    if not 0 < len(uid) <= _MAX_UID:
        raise ClusterAnswerWrong()
    if order.run:
        create_once(api, service_of(order, uid))
    # The row of another worker that was faster names the same Job. A placement that ended meanwhile
    # was removed before there was a Job: it is removed again.
    rows.filter(job_uid="").update(job_uid=uid, removed_at=None, updated_at=Now())
    log.info("job_submitted", placement=str(placement.pk), job=order.name)


def _create_or_adopt(api: ClusterConnection, asked: dict[str, Any], placement: ClusterJob) -> Any:
    job = create_once(api, asked)
    if job is not None:
        return job
    path = path_of("Job", placement.namespace)
    job = api.get(f"{path}/{placement.job_name}").body
    digest = text(job, "metadata", "annotations", names.SPEC_SHA256)
    if not is_of(placement, job) or digest != placement.spec_sha256:
        raise LaunchFailedError(
            f"A Job named {placement.job_name} is in {placement.namespace} and is not Atom's."
        )
    return job


def prepare_namespace(api: ClusterConnection, namespace: str, project: str) -> None:
    """Make a project's namespace with what its runs need; safe to repeat.

    Raises LaunchFailedError if there is a namespace of this name that is not ours.
    """
    space, *inside = namespace_objects(namespace, project, installation())
    if create_once(api, space) is None:
        there = api.get(f"{path_of('Namespace')}/{namespace}").body
        labels = child(there, "metadata", "labels")
        ours = {names.INSTALLATION: installation(), names.PROJECT: project}
        if any(labels.get(name) != value for name, value in ours.items()):
            raise LaunchFailedError(
                f"The cluster has a namespace {namespace} that is not this project's. Remove it, "
                "or give the cluster another namespace in its settings."
            )
    for one in inside:
        create_once(api, one)


def create_once(api: ClusterConnection, asked: Mapping[str, Any]) -> Any:
    """Return what was made; None if something has this name."""
    path = path_of(asked["kind"], asked["metadata"].get("namespace", ""))
    try:
        return api.post(path, asked).body
    except ClusterFails as error:
        if error.status_code == _CONFLICT:
            return None
        raise


def refusal_of(error: ClusterFails) -> Exception:
    """Return what an error of the API means: it refuses the Job, or it is not well."""
    refused = 400 <= error.status_code < 500 and error.status_code not in _PASSING
    return (LaunchFailedError if refused else ClusterAwayError)(sentence_of(error))


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
