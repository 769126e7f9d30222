"""Metrics and warnings about runs, over all projects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Min

from atom.core import clock
from atom.core.health_checks import Finding, Gauge, counted
from atom.jobs import states
from atom.jobs.logs.pipelines import log_stream
from atom.jobs.models import Attempt, Run, Runtime, UnknownJob
from atom.jobs.runs.actions.calibration import estimate_errors

_LATELY = timedelta(hours=24)
# States from placement to the first report of the runner; warm-ups have a state of their own.
_STARTING = (states.PLACING, states.SUBMITTED)
STUCK_AFTER = timedelta(minutes=10)


def gauges() -> Iterator[Gauge]:
    """Yield runs and runtimes by state, failures by class, the longest wait, logs in flight."""
    yield from counted("atom_runs", "Runs by state.", Run.objects.all())
    lately = Attempt.objects.filter(state=states.FAILED, finished_at__gte=clock.now() - _LATELY)
    yield from counted(
        "atom_attempts_failed_in_a_day",
        "Attempts that failed within 24 hours, by class.",
        lately,
        "failure_class",
    )
    yield Gauge(
        "atom_run_longest_wait_seconds", "The wait of the run that waits longest.", _waiting()[1]
    )
    yield from counted("atom_runtimes", "Environments of jobs by state.", Runtime.objects.all())
    yield Gauge(
        "atom_log_streams_in_flight",
        "Logs of which something is in Valkey and not in the object store yet.",
        len(log_stream.attempts_to_flush()),
    )


def findings() -> list[Finding]:
    """Return how many runs wait and go on, and which attempts do not begin."""
    waiting, longest_s = _waiting()
    active = Run.objects.executed().filter(state__in=states.ACTIVE - states.WAITING).count()
    found = [
        Finding(
            "runs",
            "ok",
            f"{active} runs under way, {waiting} waiting.",
            figures={"active": active, "waiting": waiting, "longest_wait_s": round(longest_s)},
        )
    ]
    stuck = Attempt.objects.filter(
        state__in=_STARTING, updated_at__lt=clock.now() - STUCK_AFTER
    ).count()
    if stuck:
        found.append(
            Finding(
                "runs_stuck",
                "problem",
                f"{stuck} attempts were placed ten minutes ago and have not begun.",
                "See whether workers take tasks; their log names the attempts.",
                {"total": stuck},
            )
        )
    return [*found, *_unknown_jobs(), *_estimates()]


def _estimates() -> list[Finding]:
    """Return how far the estimates of placements were off; nothing before the first placement."""
    errors = estimate_errors()
    if errors is None:
        return []
    if errors.start is None or errors.run is None:
        return [
            Finding(
                "placement_estimates_unknown",
                "ok",
                f"{errors.runs} runs can be compared with their estimates, and five are needed.",
                figures={"runs": errors.runs},
            )
        ]
    return [
        Finding(
            "placement_estimates",
            "ok",
            f"Runs start after {errors.start:.2f} times the assumed time and run for "
            f"{errors.run:.2f} times it (medians of {errors.runs} runs).",
            figures={
                "runs": errors.runs,
                "start": round(errors.start, 2),
                "run": round(errors.run, 2),
            },
        )
    ]


def _unknown_jobs() -> list[Finding]:
    """Return in which clusters Jobs of this installation belong to no run."""
    jobs = UnknownJob.objects.exclude(cluster__state="removed")
    total = jobs.count()
    if not total:
        return []
    clusters = sorted(set(jobs.values_list("cluster__name", flat=True)))
    return [
        Finding(
            "jobs_unknown",
            "warning",
            f"{total} Jobs in clusters belong to no run that Atom knows.",
            "Open the cluster's page. It names the Jobs, and the commands that delete them.",
            {"total": total, "names": ", ".join(clusters[:5])},
        )
    ]


def _waiting() -> tuple[int, float]:
    """Return how many runs wait for a place, and for how long the first of them, in seconds."""
    waiting = Run.objects.executed().filter(state__in=states.WAITING)
    row = waiting.aggregate(n=Count("pk"), first=Min("queued_at"))
    longest = clock.now() - row["first"] if row["first"] else timedelta()
    return row["n"], max(0.0, longest.total_seconds())
