"""Pins of the versions that a run reads: retention keeps them until the run is over."""

from __future__ import annotations

from atom.datasets.models import VersionPin
from atom.jobs.attempts.actions.version_needs import note_use
from atom.jobs.models import Run

PIN_HOLDER = "run"


def pin(run: Run) -> None:
    """Pin every version that the run reads; safe to repeat."""
    versions = set(run.inputs.values_list("version_id", flat=True))
    VersionPin.objects.bulk_create(
        [
            VersionPin(version_id=version_id, holder_type=PIN_HOLDER, holder_id=str(run.pk))
            for version_id in versions
        ],
        ignore_conflicts=True,
    )


def unpin(run: Run) -> None:
    """Remove the pins of the versions that the run read; its inputs stay known."""
    VersionPin.objects.filter(holder_type=PIN_HOLDER, holder_id=str(run.pk)).delete()
    note_use(run)
