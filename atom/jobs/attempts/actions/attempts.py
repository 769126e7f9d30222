"""Reports of a runner about its attempt, and the end of an attempt."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from atom.core import clock
from atom.core.crypto import hash_token, repeatable_secret
from atom.core.prepared_queries import Prepared
from atom.jobs import effects, states
from atom.jobs.artifacts.actions.outputs import forget_unsent
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record, transition
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failure_codes import MOVED
from atom.jobs.failures.engines.failures import ExitReport, Failure, Limits
from atom.jobs.failures.engines.leftovers import leftovers_of
from atom.jobs.models import Attempt, Rank, Run
from atom_sdk.runner.evidence import storable

TOKEN_PREFIX = "atomrun_"
_PURPOSE = "jobs.ranks"
TOKEN_LIFE = timedelta(hours=1)
# Columns of a run that a move writes, beside its cluster.
MOVE_FIELDS = (
    *("image", "runtime", "accelerator"),
    *("moving_since", "move_image", "move_runtime", "move_accelerator"),
)


@dataclass(frozen=True, slots=True)
class Beat:
    """The server's answer to a heartbeat."""

    cancel: bool
    token_expires_at: datetime
    server_time: datetime


def issue_token(attempt: Attempt, rank: int = 0, holder: str = "") -> str:
    """Give a rank of the attempt a token; only its hash is kept.

    `holder`: the uid of the pod that is the rank. It gets the same token each time that it asks: a
    request whose answer it has given up may be served after the one whose token it uses.
    """
    named = (str(attempt.pk), str(rank), holder)
    secret = repeatable_secret(_PURPOSE, *named) if holder else secrets.token_urlsafe(32)
    token = TOKEN_PREFIX + secret
    Rank.objects.filter(attempt=attempt, number=rank).update(
        token_hash=hash_token(token), token_expires_at=Now() + TOKEN_LIFE
    )
    return token


_OPEN = Prepared(
    lambda token_hash: (
        Rank.objects.filter(token_hash=token_hash, token_expires_at__gt=Now())
        .exclude(attempt__state__in=states.TERMINAL)
        .select_related("attempt__run__project", "attempt__node", "attempt__cluster")[:1]
    ),
    str,
)


def find_by_token(token: str) -> Rank | None:
    """Return the rank of an open attempt whose token this is."""
    return _OPEN.first(hash_token(token))


def beat(rank: Rank) -> Beat:
    """Record a rank's heartbeat, renew its token and return whether the run is to stop."""
    now = clock.now()
    expires_at = now + TOKEN_LIFE
    Rank.objects.filter(pk=rank.pk).update(heartbeat_at=now, token_expires_at=expires_at)
    run = rank.attempt.run
    is_to_stop = run.cancel_requested_at is not None or run.moving_since is not None
    # Another rank has ended the attempt: this one has nothing to go on with.
    is_over = rank.attempt.state == states.FINALIZING
    return Beat(is_to_stop or is_over, expires_at, now)


def note_started(attempt: Attempt, pid: int | None, rank: int = 0) -> None:
    """Record that a rank's command runs; safe to repeat. The first one begins the attempt."""
    with transaction.atomic():
        run, attempt = lock(attempt.pk)
        attempt.ranks.filter(number=rank, started_at=None).update(started_at=Now())
        if attempt.state not in states.SUPERVISED or attempt.state == states.RUNNING:
            return
        now = clock.now()
        attempt.started_at = now
        run.started_at = run.started_at or now
        run.running_since = now
        run.progress_text = ""
        transition(run, states.RUNNING, attempt)
        record(run, EventKind.RUNNING, "The command was started.", attempt, pid=pid)


def note_progress(attempt: Attempt, fraction: float, text: str) -> None:
    """Show how far the command is; `fraction` from 0 to 1."""
    run = attempt.run
    run.progress, run.progress_text = min(1.0, max(0.0, fraction)), text[:300]
    Run.objects.filter(pk=run.pk).update(progress=run.progress, progress_text=run.progress_text)
    announce(run)


def note_exit(
    attempt_id: UUID, report: ExitReport, evidence: dict[str, Any], rank: int = 0
) -> None:
    """Take the exit report of a rank's runner; safe to repeat.

    The attempt ends with the first rank that failed, or with the last one. The reports of ranks
    that are ended after it are kept with them.
    """
    with transaction.atomic():
        run, attempt = lock(attempt_id)
        attempt.ranks.filter(number=rank, ended_at=None).update(
            exit_code=report.exit_code,
            signal=report.signal,
            exit_reason=report.reason,
            ended_at=Now(),
        )
        others_run = attempt.ranks.filter(ended_at=None).exists()
        if not others_run and "outputs_failed" not in evidence:
            forget_unsent(attempt)
        if attempt.state not in states.SUPERVISED | {states.CANCELLING}:
            return
        failure = failure_of(run, report)
        if failure is None and others_run:
            return
        evidence = with_rank(run, rank, evidence)
        attempt.exit_code, attempt.signal = report.exit_code, report.signal
        end_attempt(run, attempt, failure, {**evidence, "reason": reason_of(report, failure)})


def with_rank(run: Run, rank: int, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence of an end, with the rank that it is of if the run has several."""
    return {**evidence, "rank": rank} if run.nodes > 1 else dict(evidence)


def failure_of(run: Run, report: ExitReport) -> Failure | None:
    """Return why an attempt failed; one that was asked to stop for a move is no cancelled one."""
    if report.reason == "cancelled" and is_moving(run):
        return failures.moved(_target_of(run))
    return failures.classify(report, Limits(run.memory_bytes, run.timeout_s, list(run.command)))


def reason_of(report: ExitReport, failure: Failure | None) -> str:
    """Return the reason of an attempt's end."""
    is_move = failure is not None and failure.failure_class == MOVED
    return "moved" if is_move else report.reason


def is_moving(run: Run) -> bool:
    """Return whether the open attempt ends so that the run goes on in another cluster."""
    return run.moving_since is not None and run.cancel_requested_at is None


def lock(attempt_id: UUID) -> tuple[Run, Attempt]:
    """Lock the run, then read it and its attempt: the one order in which rows are locked.

    Not its key: metrics and files hold their attempt while they add rows that name the run.
    """
    run_id = Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id)
    run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
    return run, Attempt.objects.select_related("node", "cluster").get(pk=attempt_id)


def end_attempt(
    run: Run, attempt: Attempt, failure: Failure | None, evidence: dict[str, Any]
) -> None:
    """Begin the end of an attempt; its last log bytes and outputs get a little time."""
    # An attempt must be able to end, even if its evidence has characters that cannot be stored.
    evidence = storable(evidence)
    attempt.evidence = evidence
    if failure is not None:
        failure = replace(failure, reason=storable(failure.reason), params=storable(failure.params))
        restate_failure(attempt, failure)
    attempt.finalizing_since = clock.now()
    transition(run, states.FINALIZING, attempt)
    reason = str(evidence.get("reason", ""))
    if (left := leftovers_of(evidence)) is not None:
        names = ", ".join(left.names)
        record(
            run, EventKind.LEFTOVERS_ENDED, left.sentence, attempt, count=left.count, names=names
        )
    data = asdict(failure) if failure else {"reason": reason, "exit_code": attempt.exit_code or 0}
    record(run, EventKind.ENDED, _sentence(attempt, failure, evidence), attempt, **data)
    effects.flush(attempt.pk)
    effects.wake()


def restate_failure(attempt: Attempt, failure: Failure) -> None:
    """Write why an attempt failed, in place of an earlier reason; the caller saves it."""
    attempt.failure_class = failure.failure_class
    attempt.failure_reason = failure.reason
    attempt.suggestion = failure.suggestion
    said = {"code": failure.code, "params": failure.params}
    attempt.evidence = {**attempt.evidence, "failure": said}


def _sentence(attempt: Attempt, failure: Failure | None, evidence: dict[str, Any]) -> str:
    if failure is not None:
        return failure.reason
    if evidence.get("reason") == "cancelled":
        return "The command was stopped because the run was cancelled."
    return f"The command ended with exit code {attempt.exit_code or 0}."


def finish_move(run: Run) -> None:
    """Give a run the image, environment and kind of GPUs of its move; the caller saves it."""
    run.image, run.runtime = run.move_image, run.move_runtime
    run.accelerator = run.move_accelerator
    forget_move(run)


def forget_move(run: Run) -> None:
    """Note that the run does not move, or does not any more; the caller saves it."""
    run.moving_since, run.move_runtime = None, None
    run.move_image = run.move_accelerator = ""


def end_moved(run: Run, attempt: Attempt) -> None:
    """End an attempt of which nothing is waited for, so that its run goes on elsewhere."""
    evidence = {"reason": "moved", "no_more": True}
    end_attempt(run, attempt, failures.moved(_target_of(run)), evidence)


def _target_of(run: Run) -> str:
    return run.cluster.name if run.cluster else ""


def fail_launch(attempt_id: UUID, failure: Failure) -> None:
    """End an attempt whose supervisor was not, or could not be, started."""
    with transaction.atomic():
        run, attempt = lock(attempt_id)
        if attempt.state not in states.SUPERVISED:
            return
        evidence = {"reason": "not_launched", "tail": failure.reason, "no_more": True}
        end_attempt(run, attempt, failure, evidence)
