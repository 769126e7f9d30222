"""Starts an attempt's supervisor, under a claim and outside of transactions; safe to repeat."""

from __future__ import annotations

from datetime import timedelta
from functools import partial, singledispatch
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.cache.errors import SelectionEmpty
from atom.core import faults
from atom.core.errors import AtomError
from atom.core.leases import kept
from atom.jobs import states
from atom.jobs.attempts.actions import attempts, tracking_access, write_access
from atom.jobs.attempts.actions.attempts import fail_launch
from atom.jobs.attempts.actions.resumption import job_to_start
from atom.jobs.errors import SecretsMissing
from atom.jobs.executors import executor_of
from atom.jobs.executors.base import (
    Admitted,
    ClusterAwayError,
    LaunchFailedError,
    NothingHeldError,
    Observation,
)
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failures import Failure
from atom.jobs.models import Attempt, Rank, Run
from atom_sdk.mount.errors import MountError

log = structlog.get_logger(__name__)

# A worker that dies while it starts a supervisor holds its run up for so long.
LEASE = timedelta(seconds=10)
_RENEW_EVERY_S = 3.0


def launch(attempt_id: UUID) -> None:
    """Start the supervisor of a submitted attempt, unless it runs or another worker starts it."""
    attempt = _claim(attempt_id)
    if attempt is None:
        return
    try:
        with kept(lambda: _renew(attempt.run_id), _RENEW_EVERY_S):
            seen = executor_of(attempt).start(attempt, partial(_admit, attempt))
    except NothingHeldError:
        log.info("launch_given_up", attempt_id=str(attempt_id))
        return
    except (LaunchFailedError, MountError, ClusterAwayError, AtomError, OSError) as error:
        _give_up(attempt_id, error)
        return
    note_ranks(attempt, seen)


def _give_up(attempt_id: UUID, error: Exception) -> None:
    """End the attempt, unless what prevents its start will pass."""
    if isinstance(error, ClusterAwayError) or _waits_for_the_disk(error):
        log.warning("launch_waits", attempt_id=str(attempt_id), error=str(error))
        return
    log.warning("launch_failed", attempt_id=str(attempt_id), error=str(error))
    fail_launch(attempt_id, _failure_of(error))


@singledispatch
def _failure_of(error: Exception) -> Failure:
    """Return the failure that a person reads for an error of the start."""
    return failures.launch_failed(str(error))


@_failure_of.register
def _(error: SelectionEmpty) -> Failure:
    return failures.nothing_selected(str(error), **error.selected)


@_failure_of.register
def _(error: MountError) -> Failure:
    return failures.not_mounted(str(error))


@_failure_of.register
def _(error: SecretsMissing) -> Failure:
    return failures.secrets_missing(str(error))


def _waits_for_the_disk(error: Exception) -> bool:
    """Whether only this machine's disk prevents the start; if so, note the fault for all users.

    The run has no fault: the reconciler starts it once the lease of this launch is over.
    """
    fault = faults.fault_of(error)
    if fault not in {faults.DISK_FULL, faults.DISK_READ_ONLY}:
        return False
    faults.note_for_all(fault)
    return True


def _claim(attempt_id: UUID) -> Attempt | None:
    run_id = Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id)
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=Now())
    # Conditions on the updated row itself: those of a subquery would not be looked at again after
    # waiting for another worker's update, and both would start the supervisor.
    mine = Run.objects.filter(free, pk=run_id, state=states.SUBMITTED)
    if not mine.update(claimed_until=Now() + LEASE):
        return None
    found = Attempt.objects.select_related(
        *("run__project", "run__runtime", "run__code", "run__workflow", "run__created_by"),
        *("cluster", "node"),
    )
    attempt = found.get(pk=attempt_id)
    return attempt if attempt.state == states.SUBMITTED else None


def _renew(run_id: UUID) -> None:
    mine = Run.objects.filter(pk=run_id, state=states.SUBMITTED)
    mine.update(claimed_until=Now() + LEASE)


def _admit(attempt: Attempt, rank: int) -> Admitted:
    """Return the job and the runner's token of a rank, for an attempt that is still to start.

    Under the run's lock: what is granted here is there when its end withdraws it, and the job
    sees the devices that it still holds. Raises NothingHeldError, SecretsMissing.
    """
    with transaction.atomic():
        run, now = attempts.lock(attempt.pk)
        if now.state != states.SUBMITTED or run.cancel_requested_at is not None:
            raise NothingHeldError
        job = job_to_start(attempt)
        api_url = executor_of(attempt).api_url
        # In the folder's job.json, which only its runner may read; never in what the API shows.
        job["env"] |= write_access.grant(attempt, api_url)
        job["env"] |= tracking_access.grant(attempt, api_url)
        return Admitted(job, attempts.issue_token(attempt, rank))


def note_ranks(attempt: Attempt, seen: Observation) -> None:
    """Record how the executor knows each rank again, so that a later worker can adopt them.

    Supervisors that started after their attempt had ended are ended too.
    """
    for number, rank in seen.ranks.items():
        if not rank.identity:
            continue  # the cluster has still to start it
        Rank.objects.filter(attempt=attempt, number=number, identity={}).update(
            identity=dict(rank.identity), heartbeat_at=Now()
        )
    now = Attempt.objects.get(pk=attempt.pk)
    is_over = now.state in states.TERMINAL or now.state == states.FINALIZING
    if is_over and now.evidence.get("no_more"):
        log.info("started_too_late", attempt_id=str(attempt.pk))
        executor_of(attempt).kill(attempt.pk)
