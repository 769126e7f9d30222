"""Makes the objects of a placement, or of a build, in its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.db.models.functions import Now

from atom.clusters.engines.documents import child, text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFails, ClusterForbids
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs.executors.base import ClusterAwayError, LaunchFailedError
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import (
    Order,
    digest_of,
    job_of,
    namespace_objects,
    service_of,
)
from atom.jobs.executors.kubernetes.local_queues import QueueAwayError, sync_local_queue
from atom.jobs.executors.kubernetes.orders import is_of, order_of
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.executors.kubernetes.pull_secrets import sync_pull_secret
from atom.jobs.executors.kubernetes.resource_quotas import sync_quota
from atom.jobs.models import Attempt, ClusterJob, Placement

log = structlog.get_logger(__name__)

_CONFLICT = 409
_MAX_UID = 64
# The server is busy, or was too slow: nothing is wrong with what was asked.
_PASSING = (408, 409, 429)


def submit(attempt: Attempt, placement: Placement) -> None:
    """Ask the cluster for the Job; note why one that is not well has not taken it.

    Raises LaunchFailedError, ClusterAwayError.
    """
    try:
        with open_cluster(placement.cluster) as api:
            submit_job(api, placement, order_of(attempt, placement))
    except ClusterForbids as error:
        raise LaunchFailedError(sentence_of(error)) from error
    except QueueAwayError as error:
        _note_problem(placement, error.sentence)
        raise
    except ClusterFails as error:
        refusal = refusal_of(error)
        if isinstance(refusal, ClusterAwayError):
            _note_problem(placement, error.detail or error.title)
        raise refusal from error
    except AWAY as error:
        _note_problem(placement, error.detail or error.title)
        raise ClusterAwayError(sentence_of(error)) from error
    _note_problem(placement, "")


def _note_problem(placement: Placement, why: str) -> None:
    """Keep why the cluster did not take the Job, "" once it did; the run's page shows it."""
    Placement.objects.filter(pk=placement.pk).exclude(problem=why).update(problem=why)


def submit_job(api: ClusterConnection, placement: ClusterJob, order: Order) -> None:
    """Make the objects of an order, unless they are there, and note the Job's uid in its row.

    Raises LaunchFailedError, ClusterFailure.
    """
    rows = type(placement)._default_manager.filter(pk=placement.pk)
    prepare_namespace(api, order.namespace, order.project)
    sync_pull_secret(api, order)
    sync_quota(api, placement.cluster, order.project, order.namespace)
    sync_local_queue(api, placement.cluster, order)
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
