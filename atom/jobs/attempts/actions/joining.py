"""Ranks that a cluster starts by itself: each asks to start, and one at a time may.

Two processes may claim one rank at the same time: a cluster starts a new one while it still counts
the old one among its lost machines. The fence is here. The first one gets the attempt's token; the
other waits until the cluster has said that the first is gone. Then the attempt ends, its token with
it, and the next attempt is for the process that waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now

from atom.clusters.models import Node
from atom.jobs import states
from atom.jobs.attempts.actions import attempts, gangs, tracking_access, write_access
from atom.jobs.attempts.actions.attempts import end_attempt
from atom.jobs.attempts.actions.resumption import job_to_start
from atom.jobs.errors import RankNotAccepted
from atom.jobs.executors import environments_in, executor_in, executor_of
from atom.jobs.executors.base import (
    REPLACED,
    Claim,
    ClusterAwayError,
    JoinRefusedError,
    Proven,
)
from atom.jobs.failures.engines import failures
from atom.jobs.models import Attempt, EnvironmentBuild, Placement, Rank, Run
from atom.jobs.runtimes.actions import cluster_builds

log = structlog.get_logger(__name__)

# The reconciler makes the next attempt within a second or two.
SOON_S = 2
# Ranks that wait for each other start within this.
TOGETHER_S = 1
# A cluster needs up to minutes to say that a machine is lost.
LATER_S = 10


class Answer(StrEnum):
    """The answer to a process that asks to start."""

    START = "start"
    STOP = "stop"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Joined:
    """The answer; `token` and `job` of an attempt that starts."""

    answer: Answer
    reason: str = ""
    after_s: int = 0
    token: str = ""
    job: dict[str, Any] | None = None


def join(placement_id: UUID, claim: Claim) -> Joined:
    """Let a rank of a placement, or a build, start, if nothing else is it. Raises RankNotAccepted.

    `placement_id`: of a placement, or of a build of an environment.
    """
    placement = Placement.objects.select_related("cluster", "run").filter(pk=placement_id).first()
    if placement is None:
        return join_build(placement_id, claim)
    if not placement.job_uid:
        # Its Job was made a moment ago; or it is not ours, and its pods will be told so.
        return _again(placement, "The run's Job is not noted yet.", SOON_S)
    executor = executor_in(placement.cluster)
    try:
        proven = executor.prove(placement, claim)
        holder = _holder(placement, proven)
        if holder is None:
            return _take(placement, proven)
        if not executor.is_gone(placement, holder.identity):
            text = "Another pod is this rank; the cluster has not said that it is gone."
            return Joined(Answer.AGAIN, text, LATER_S)
    except JoinRefusedError as error:
        log.warning("rank_refused", placement=str(placement.pk), why=str(error))
        raise RankNotAccepted(str(error)) from error
    except ClusterAwayError as error:
        return Joined(Answer.AGAIN, f"The cluster does not confirm it: {error}", LATER_S)
    _replace(placement, holder)
    return Joined(Answer.AGAIN, "The attempt of the pod before this one has ended.", SOON_S)


def join_build(build_id: UUID, claim: Claim) -> Joined:
    """Let a pod build an environment; one that comes later takes its place. RankNotAccepted."""
    builds = EnvironmentBuild.objects.select_related("cluster", "runtime", "project")
    build = builds.filter(pk=build_id).first()
    if build is None:
        raise RankNotAccepted
    if build.ended_at is not None:
        return Joined(Answer.STOP, "The environment is built, or is built elsewhere.")
    if not build.job_uid:
        return Joined(Answer.AGAIN, "The Job of the build is not noted yet.", SOON_S)
    try:
        proven = executor_in(build.cluster).prove(build, claim)
    except JoinRefusedError as error:
        log.warning("builder_refused", build=str(build.pk), why=str(error))
        raise RankNotAccepted(str(error)) from error
    except ClusterAwayError as error:
        return Joined(Answer.AGAIN, f"The cluster does not confirm it: {error}", LATER_S)
    spec = environments_in(build.cluster).spec(build)
    return Joined(Answer.START, token=cluster_builds.issue_token(build, proven.identity), job=spec)


def _again(placement: Placement, text: str, after_s: int) -> Joined:
    if placement.ended_at is not None or placement.run.state in states.TERMINAL:
        return Joined(Answer.STOP, "The run is over.")
    return Joined(Answer.AGAIN, text, after_s)


def _holder(placement: Placement, proven: Proven) -> Rank | None:
    """Return the rank of the open attempt if another process has it."""
    ranks = Rank.objects.filter(attempt__placed_in=placement, number=proven.rank)
    rank = ranks.exclude(attempt__state__in=states.TERMINAL).first()
    if rank is None or not rank.identity or _is_same(rank, proven):
        return None
    return None if rank.attempt.state == states.FINALIZING else rank


def _is_same(rank: Rank, proven: Proven) -> bool:
    return bool(rank.identity.get("pod_uid") == proven.identity["pod_uid"])


def _take(placement: Placement, proven: Proven) -> Joined:
    """Give the rank its token under the run's lock, if its attempt waits for it."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=placement.run_id)
        placement.refresh_from_db(fields=["ended_at"])
        placement.run = run
        attempt = _open_attempt(placement)
        if attempt is None:
            return _again(placement, "The next attempt is being made.", SOON_S)
        stops = (run.cancel_requested_at, run.moving_since, placement.ended_at)
        if any(since is not None for since in stops):
            return Joined(Answer.STOP, "The run is cancelled, or goes on elsewhere.")
        if attempt.state in (states.FINALIZING, states.WARMING, states.PLACING):
            return _again(placement, "The next attempt is being made.", SOON_S)
        rank = attempt.ranks.select_for_update().get(number=proven.rank)
        if rank.identity and not _is_same(rank, proven):
            return Joined(Answer.AGAIN, "Another pod was faster.", SOON_S)
        if rank.ended_at is not None or rank.started_at is not None:
            return Joined(Answer.STOP, "This pod has started already.")
        _note_identity(attempt, rank, proven)
        if missing := gangs.missing_ranks(attempt):
            return Joined(Answer.AGAIN, _waits_for(missing, run.nodes), TOGETHER_S)
        return _admit(attempt, rank, proven)


def _waits_for(missing: list[int], nodes: int) -> str:
    named = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
    return f"{nodes - len(missing)} of {nodes} ranks are here. Still missing: {named}."


def _open_attempt(placement: Placement) -> Attempt | None:
    found = Attempt.objects.select_related(
        *("run__project", "run__runtime", "run__code", "run__workflow", "run__created_by"),
        *("cluster", "node"),
    )
    return found.filter(placed_in=placement).exclude(state__in=states.TERMINAL).first()


def _note_identity(attempt: Attempt, rank: Rank, proven: Proven) -> None:
    node = Node.objects.filter(cluster=attempt.cluster, name=proven.node).first()
    rank.identity, rank.node = dict(proven.identity), node
    rank.save(update_fields=["identity", "node", "updated_at"])
    Rank.objects.filter(pk=rank.pk).update(heartbeat_at=Now())
    if rank.number == 0 and node is not None:
        Attempt.objects.filter(pk=attempt.pk).update(node=node)


def _admit(attempt: Attempt, rank: Rank, proven: Proven) -> Joined:
    job = job_to_start(attempt, rank.number)
    api_url = executor_of(attempt).api_url
    # The answer alone has them: no object of the cluster holds a secret.
    job["env"] |= write_access.grant(attempt, api_url)
    job["env"] |= tracking_access.grant(attempt, api_url)
    token = attempts.issue_token(attempt, rank.number, str(proven.identity["pod_uid"]))
    return Joined(Answer.START, token=token, job=job)


def _replace(placement: Placement, holder: Rank) -> None:
    """End the attempt of a process that is gone, if it still is the rank."""
    with transaction.atomic():
        run, attempt = attempts.lock(holder.attempt_id)
        now = attempt.ranks.get(number=holder.number)
        if attempt.state not in states.SUPERVISED or now.identity != holder.identity:
            return
        log.info("rank_replaced", attempt_id=str(attempt.pk), rank=holder.number)
        end_attempt(run, attempt, failures.preempted(), {"reason": REPLACED, "no_more": True})
