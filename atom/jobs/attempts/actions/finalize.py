"""The end of an attempt: wait for its last bytes, then settle it and its run."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from atom.clusters.actions import release
from atom.core import clock
from atom.jobs import states
from atom.jobs.artifacts.actions.outputs import forget_unsent
from atom.jobs.attempts.actions.attempts import finish_move, forget_move, restate_failure
from atom.jobs.attempts.actions.lost_attempts import lost_attempts, lost_machines_in_a_row
from atom.jobs.attempts.actions.traces import trace_attempt
from atom.jobs.attempts.actions.version_pins import unpin
from atom.jobs.attempts.actions.write_access import withdraw
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record, settle, transition
from atom.jobs.executors import executor_of
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failure_codes import NODE_LOST, RETRIED, UNCOUNTED
from atom.jobs.models import Attempt, LogStream, Run

# How long the end waits for the log's end and for outputs to be verified.
LAST_BYTES = timedelta(seconds=30)
FIRST_RETRY_S = 2
LONGEST_RETRY_S = 300


def conclude(run: Run, attempt: Attempt) -> bool:
    """Settle a finalizing attempt if nothing is missing or the wait was long enough."""
    log_complete = is_log_complete(attempt)
    sending = attempt.artifacts.filter(state=states.LOCAL)
    settled = log_complete and not sending.exists() and not _is_rank_ending(attempt)
    waited = clock.now() - (attempt.finalizing_since or attempt.updated_at)
    if not settled and waited < LAST_BYTES and not attempt.evidence.get("no_more"):
        return False
    attempt.log_complete = log_complete
    attempt.finished_at = clock.now()
    if attempt.started_at is not None:
        run.ran_s += max(0.0, (attempt.finished_at - attempt.started_at).total_seconds())
    run.running_since = None
    attempt.ranks.update(token_hash="", token_expires_at=None)
    if "outputs_failed" not in attempt.evidence:
        # A runner that is gone can send nothing more, and has no token any more.
        forget_unsent(attempt)
    withdraw(attempt)
    release(attempt.pk)
    _settle(run, attempt)
    executor_of(attempt).conclude(attempt, is_last=run.state in states.TERMINAL)
    trace_attempt(run, attempt)
    return True


def _is_rank_ending(attempt: Attempt) -> bool:
    """Return whether a rank that started has yet to say how it ended, after another one failed."""
    others = attempt.ranks.filter(ended_at=None).exclude(token_hash="")
    return attempt.ranks.exclude(ended_at=None).exists() and others.exists()


def is_log_complete(attempt: Attempt) -> bool:
    """Return whether each rank's log is in chunks up to its end; true if no rank came up."""
    came_up = attempt.ranks.exclude(identity={}, heartbeat_at=None)
    if attempt.ranks.filter(number__gt=0).exists():
        # Ranks that waited for the others got no token, and have no log.
        came_up = came_up.exclude(token_hash="")
    streams = {one.rank: one for one in LogStream.objects.filter(attempt=attempt)}
    return all(
        _is_whole(streams.get(number)) for number in came_up.values_list("number", flat=True)
    )


def _is_whole(stream: LogStream | None) -> bool:
    if stream is None or stream.eof_bytes is None:
        return False
    return stream.flushed_bytes >= stream.eof_bytes


def _settle(run: Run, attempt: Attempt) -> None:
    # A lost attempt would have been tried again, had nobody cancelled the run.
    gave_up = run.cancel_requested_at is not None and attempt.failure_class in RETRIED
    if gave_up or attempt.evidence.get("reason") == "cancelled":
        _end(run, attempt, EventKind.CANCELLED, "The run was cancelled.")
    elif not attempt.failure_class:
        run.progress, run.progress_text = 1.0, ""
        _end(run, attempt, EventKind.SUCCEEDED, "The run succeeded.")
    elif _may_retry(run, attempt):
        _retry(run, attempt)
    else:
        if attempt.failure_class == NODE_LOST:
            restate_failure(attempt, failures.machines_lost(lost_machines_in_a_row(run)))
        run.failure_class = attempt.failure_class
        run.failure_reason = attempt.failure_reason
        run.suggestion = attempt.suggestion
        _end(run, attempt, EventKind.FAILED, "The run failed.")


def _end(run: Run, attempt: Attempt, kind: EventKind, text: str) -> None:
    """End both; the kinds of the last line have the names of the final states."""
    if run.moving_since is not None:
        # It was over before it could be moved.
        run.cluster = attempt.cluster
        forget_move(run)
    transition(run, kind.value, attempt)
    unpin(run)
    record(run, kind, text, attempt)


def _may_retry(run: Run, attempt: Attempt) -> bool:
    passing = attempt.evidence.get("passing") is True
    if attempt.failure_class not in RETRIED and not passing:
        return False
    if run.cancel_requested_at is not None:
        return False
    if attempt.failure_class == NODE_LOST:
        return lost_machines_in_a_row(run) < settings.ATOM_MAX_LOST_MACHINES
    if attempt.failure_class in UNCOUNTED:
        return True
    return lost_attempts(run) <= run.max_retries


def _retry(run: Run, attempt: Attempt) -> None:
    # A job that takes its machines down is not retried at once each time.
    losses = lost_attempts(run, UNCOUNTED - {NODE_LOST})
    wait_s = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2 ** min(10, max(0, losses - 1)))
    run.retry_at = clock.now() + timedelta(seconds=wait_s)
    if run.moving_since is not None:
        finish_move(run)
    settle(attempt, states.FAILED)
    transition(run, states.RETRY_WAIT)
    text = f"Attempt {attempt.number} was lost; the next one starts in {wait_s} s."
    record(run, EventKind.RETRY, text, attempt, number=attempt.number, wait_s=wait_s)


def is_retry_due(retry_at: datetime) -> bool:
    """Return whether the next attempt may start; also if the clock was set back meanwhile."""
    wait = retry_at - clock.now()
    return not timedelta() < wait <= timedelta(seconds=LONGEST_RETRY_S)
