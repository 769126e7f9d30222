"""Moving a report from state to state."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from atom.cleaning import states
from atom.cleaning.models import CleaningReport
from atom.core import clock, live
from atom.core.states import check_transition


def transition(report: CleaningReport, new: str, **fields: Any) -> bool:
    """Move a report and set fields; False if somebody has cancelled it meanwhile."""
    with transaction.atomic():
        locked = CleaningReport.objects.select_for_update().get(pk=report.pk)
        if locked.state == states.CANCELLED:
            return False
        check_transition(states.REPORT_STATES, locked.state, new)
        if new not in states.OPEN:
            fields["finished_at"] = clock.now()
        for name, value in {**fields, "state": new}.items():
            setattr(locked, name, value)
            setattr(report, name, value)
        locked.save(update_fields=[*fields, "state", "updated_at"])
        notify(report)
    return True


def notify(report: CleaningReport) -> None:
    """Have open pages look at the report again."""
    event = {"type": "cleaning", "id": str(report.pk), "state": report.state}
    live.publish(f"project.{report.version.dataset.project_id}", event)
