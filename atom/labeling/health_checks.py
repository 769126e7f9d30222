"""How labeling is doing, over all projects."""

from __future__ import annotations

from collections.abc import Iterator

from atom.core.health_checks import Gauge, counted
from atom.labeling import states
from atom.labeling.models import LabelTask, WorkItem

# Few items have these states; millions may be ready or accepted.
_IN_HAND = (states.LABELING, states.AUDIT, states.REWORK)


def gauges() -> Iterator[Gauge]:
    """Yield tasks by state, and the items that somebody has, or should look at."""
    yield from counted("atom_label_tasks", "Labeling tasks by state.", LabelTask.objects.all())
    yield from counted(
        "atom_label_items_in_hand",
        "Items being labelled, audited or corrected.",
        WorkItem.objects.filter(state__in=_IN_HAND),
    )
