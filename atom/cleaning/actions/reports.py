"""Starting and cancelling reports."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.cleaning import states
from atom.cleaning.actions.transitions import transition
from atom.cleaning.engines.thresholds import Thresholds
from atom.cleaning.errors import ReportOver, ReportUnderWay
from atom.cleaning.models import CleaningReport
from atom.core.background import enqueue
from atom.datasets.catalog.reads import require_kept
from atom.datasets.models import Version
from atom.jobs import states as job_states
from atom.jobs.runs.actions.runs import cancel_run
from atom_sdk.sentences import Sentence

_ADVANCE = "atom.cleaning.tasks.advance"


def start_report(version: Version, thresholds: Thresholds, user: User) -> CleaningReport:
    """Ask for a report of a version. Raises ReportUnderWay, VersionExpired."""
    require_kept(version)
    try:
        with transaction.atomic():
            report = CleaningReport.objects.create(
                version=version, created_by=user, **vars(thresholds)
            )
            named = {"dataset": version.dataset.name, "ref": version.ref}
            project = version.dataset.project
            about = version.dataset
            audit.record(user, "cleaning_report.started", report, project, about, **named)
            enqueue(_ADVANCE, str(report.pk))
    except IntegrityError as exc:
        raise ReportUnderWay from exc
    return report


def cancel_report(report: CleaningReport, user: User) -> CleaningReport:
    """Stop making a report, and its run. Raises ReportOver."""
    with transaction.atomic():
        locked = CleaningReport.objects.select_for_update(of=("self",)).get(pk=report.pk)
        if locked.state not in states.OPEN:
            raise ReportOver(Sentence("core.state_is", "It is {state}.", state=locked.state))
        if locked.run is not None and locked.run.state not in job_states.TERMINAL:
            cancel_run(locked.run.pk, user)
        transition(locked, states.CANCELLED)
        project = locked.version.dataset.project
        audit.record(user, "cleaning_report.cancelled", locked, project, locked.version.dataset)
    return locked
