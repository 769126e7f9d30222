"""Watches supervised attempts: adoption, deadlines, cancellation, lost supervisors."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Max, Q

from atom.clusters.node_health import is_silent
from atom.core import clock
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import (
    end_attempt,
    end_moved,
    failure_of,
    is_moving,
    reason_of,
)
from atom.jobs.attempts.actions.gangs import is_gang, is_overdue
from atom.jobs.attempts.exit_reports import CheckedExitReport, parse_exit_report
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record, transition
from atom.jobs.executors import executor_of
from atom.jobs.executors.base import PREEMPTED, Executor, LostRank, Observation
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failure_codes import PREEMPTED as PREEMPTED_CLASS
from atom.jobs.models import Attempt, Rank, Run

log = structlog.get_logger(__name__)

# A supervisor that is gone may have sent its exit report a moment ago.
DEFAULT_LOST_AFTER_S = 30
# The runner ends a command by itself; this is for a runner that does not.
OVERDUE = timedelta(seconds=60)
CANCEL_OVERDUE = timedelta(seconds=30)
# A run that is moved may store its newest checkpoint for as long as its runner reports.
MOVE_OVERDUE = timedelta(minutes=10)


def watch(run: Run, attempt: Attempt) -> None:
    """Look at an attempt whose supervisor was, or should be, started; caller holds the lock."""
    executor = executor_of(attempt)
    if not executor.reaches(attempt.node):
        fail_if_node_is_lost(run, attempt)
        return  # that machine's own worker watches it
    seen = executor.observe(attempt)
    if run.cancel_requested_at is not None and attempt.state != states.CANCELLING:
        _begin_cancelling(run, attempt, seen)
    elif is_moving(run):
        _move_on(run, attempt, executor, seen)
    if attempt.state != states.FINALIZING:
        _act_on(run, attempt, executor, seen)


def _act_on(run: Run, attempt: Attempt, executor: Executor, seen: Observation) -> None:
    if not seen.launched:
        _relaunch(run, attempt)
    elif (lost := _lost_rank(attempt, seen)) is not None:
        _fail_on_lost_node(run, attempt, seen, lost)
    elif (silent := _dead_rank(run, attempt, seen)) is not None:
        _fail_dead_rank(run, attempt, executor, seen, silent)
    elif seen.alive:
        if attempt.placed_in_id is None:  # ranks of clusters join by themselves
            _adopt(attempt, seen)
        _enforce(run, attempt, executor, seen)
    else:
        _fail_lost_attempt(run, attempt, executor, seen)


def fail_if_node_is_lost(run: Run, attempt: Attempt) -> bool:
    """End an attempt whose machine stopped answering; return whether it did."""
    node = attempt.node
    if node is None or not is_silent(node):
        return False
    log.warning("node_lost", attempt_id=str(attempt.pk), node=node.name)
    if run.cancel_requested_at is not None:
        if attempt.state != states.CANCELLING:
            transition(run, states.CANCELLING, attempt)
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
    else:
        evidence = {"reason": "node_lost", "no_more": True}
        end_attempt(run, attempt, failures.node_lost(node.name), evidence)
    return True


def _begin_cancelling(run: Run, attempt: Attempt, seen: Observation) -> None:
    transition(run, states.CANCELLING, attempt)
    if not any(rank.identity for rank in seen.ranks.values()):
        # Nothing has started, so there is no work to save.
        executor_of(attempt).kill(attempt.pk)
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
        return
    text = "The command is asked to stop; it has ten seconds to save its work."
    record(run, EventKind.CANCELLING, text, attempt)


def _move_on(run: Run, attempt: Attempt, executor: Executor, seen: Observation) -> None:
    """End the attempt at once if its command has not started, or its runner is not heard of."""
    joined = any(rank.identity for rank in seen.ranks.values())
    asked_for = clock.now() - (run.moving_since or clock.now())
    if joined and asked_for < MOVE_OVERDUE:
        last_sign = _last_heartbeat(attempt) or attempt.updated_at
        if asked_for < CANCEL_OVERDUE or clock.now() - last_sign < _lost_after():
            return
    executor.kill(attempt.pk)
    end_moved(run, attempt)


def _relaunch(run: Run, attempt: Attempt) -> None:
    unattended = run.claimed_until is None or run.claimed_until < clock.now()
    if attempt.state == states.SUBMITTED and unattended:
        effects.launch(attempt.pk)


def _adopt(attempt: Attempt, seen: Observation) -> None:
    """Note ranks that a worker started which died before it had noted them."""
    for rank in attempt.ranks.filter(identity={}, number__in=list(seen.ranks)):
        rank.identity = dict(seen.ranks[rank.number].identity)
        rank.save(update_fields=["identity", "updated_at"])


def _enforce(run: Run, attempt: Attempt, executor: Executor, seen: Observation) -> None:
    if run.cancel_requested_at is not None:
        if clock.now() - run.cancel_requested_at > CANCEL_OVERDUE:
            executor.kill(attempt.pk)
            end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
        return
    if attempt.state == states.SUBMITTED and is_gang(run) and is_overdue(attempt, seen):
        _give_nodes_back(run, attempt, executor, seen)
        return
    if attempt.state == states.SUBMITTED and seen.never_starts is not None:
        executor.kill(attempt.pk)
        evidence = {"reason": "cluster", "no_more": True}
        end_attempt(run, attempt, seen.never_starts, evidence)
        return
    if not run.timeout_s or attempt.started_at is None:
        return
    if clock.now() - attempt.started_at > timedelta(seconds=run.timeout_s) + OVERDUE:
        executor.kill(attempt.pk)
        end_attempt(run, attempt, failures.deadline(run.timeout_s), {"reason": "timeout"})


def _give_nodes_back(run: Run, attempt: Attempt, executor: Executor, seen: Observation) -> None:
    """End an attempt that got a part of its nodes: others may need just these."""
    waited = clock.now() - (seen.may_start_since or clock.now())
    joined = attempt.ranks.exclude(identity={}).count()
    log.info("gang_given_back", attempt_id=str(attempt.pk), joined=joined, nodes=run.nodes)
    executor.kill(attempt.pk)
    failure = failures.gang_incomplete(joined, run.nodes, int(waited.total_seconds()))
    end_attempt(run, attempt, failure, {"reason": "gang_incomplete", "no_more": True})


def _dead_rank(run: Run, attempt: Attempt, seen: Observation) -> Rank | None:
    """Return a rank that is gone while others live, and whose report does not come any more.

    The others would wait for it for ever.
    """
    if not is_gang(run) or not seen.alive:
        return None
    dead = [number for number, one in seen.ranks.items() if one.identity and not one.alive]
    if not dead:
        return None
    silent = Q(heartbeat_at__lt=clock.now() - _lost_after()) | Q(heartbeat_at=None)
    gone = attempt.ranks.filter(silent, number__in=dead, ended_at=None)
    return gone.order_by("number").first()


def _fail_dead_rank(
    run: Run, attempt: Attempt, executor: Executor, seen: Observation, rank: Rank
) -> None:
    log.warning("rank_gone", attempt_id=str(attempt.pk), rank=rank.number)
    if attempt.state == states.CANCELLING:
        executor.kill(attempt.pk)
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
        return
    evidence = {
        # A Job that a queue suspended starts the pods of the next attempt too.
        "reason": PREEMPTED if seen.is_suspended else "runner_lost",
        "rank": rank.number,
        "supervisor_log": executor.logs(attempt.pk, rank.number),
    }
    end_attempt(run, attempt, seen.failure or failures.runner_lost(), evidence)


def _lost_rank(attempt: Attempt, seen: Observation) -> LostRank | None:
    """Return a rank that its cluster counts as lost and whose runner is silent; None if none is.

    A rank that has not joined has no runner yet: its node's loss must last as long as a silence.
    """
    if not seen.lost:
        return None
    now, lost_after = clock.now(), _lost_after()
    for rank in attempt.ranks.filter(number__in=list(seen.lost), ended_at=None):
        lost = seen.lost[rank.number]
        last_sign = rank.heartbeat_at or max(attempt.updated_at, lost.since)
        if now - last_sign >= lost_after:
            return lost
    return None


def _fail_on_lost_node(run: Run, attempt: Attempt, seen: Observation, lost: LostRank) -> None:
    """End an attempt whose machine its cluster lost: nothing there can be asked to end.

    Should the machine come back, its runner's token is worth nothing any more.
    """
    log.warning("node_lost", attempt_id=str(attempt.pk), node=lost.node)
    if attempt.state == states.CANCELLING:
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
        return
    evidence = {"reason": "node_lost", "node": lost.node, "no_more": True}
    if is_gang(run):
        evidence["rank"] = next(number for number, one in seen.lost.items() if one is lost)
    end_attempt(run, attempt, seen.failure or failures.node_lost(lost.node), evidence)


def _fail_lost_attempt(run: Run, attempt: Attempt, executor: Executor, seen: Observation) -> None:
    """End an attempt whose supervisors are gone; an exit report that one left still counts."""
    last_sign = _last_heartbeat(attempt) or attempt.updated_at
    if not seen.is_final and clock.now() - last_sign < _lost_after():
        return
    executor.kill_leftovers(attempt.pk)
    log.warning("supervisor_gone", attempt_id=str(attempt.pk))
    word = _first_failure(seen)
    if word is not None:
        _apply_exit_report(run, attempt, word)
    elif attempt.state == states.CANCELLING:
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
    elif is_moving(run):
        end_moved(run, attempt)
    elif seen.failure is not None:
        # A Job that was only suspended starts the pods of the next attempt too.
        is_preempted = seen.failure.failure_class == PREEMPTED_CLASS
        evidence = {"reason": PREEMPTED if is_preempted else "cluster", "no_more": True}
        end_attempt(run, attempt, seen.failure, evidence)
    else:
        tail = executor.logs(attempt.pk, 0)
        evidence = {"reason": "runner_lost", "no_more": True, "supervisor_log": tail}
        end_attempt(run, attempt, failures.runner_lost(), evidence)


def _last_heartbeat(attempt: Attempt) -> datetime | None:
    beaten_at: datetime | None = attempt.ranks.aggregate(last=Max("heartbeat_at"))["last"]
    return beaten_at


def _lost_after() -> timedelta:
    """Return how long a runner may be silent before it counts as lost."""
    return timedelta(seconds=getattr(settings, "ATOM_RUNNER_LOST_AFTER_S", DEFAULT_LOST_AFTER_S))


def _first_failure(seen: Observation) -> CheckedExitReport | None:
    """Return the exit report of a rank that failed, or of any; None if no rank left one."""
    words = [parse_exit_report(rank.exit_report) for rank in seen.ranks.values()]
    found = [word for word in words if word is not None]
    failed = [word for word in found if word.report.exit_code != 0]
    return next(iter(failed or found), None)


def _apply_exit_report(run: Run, attempt: Attempt, word: CheckedExitReport) -> None:
    report = word.report
    attempt.exit_code, attempt.signal = report.exit_code, report.signal
    failure = failure_of(run, report)
    evidence = {**word.evidence, "reason": reason_of(report, failure), "no_more": True}
    end_attempt(run, attempt, failure, evidence)
