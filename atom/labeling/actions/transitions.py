"""Moving one row along its state table."""

from __future__ import annotations

from atom.core.states import Table, check_transition
from atom.labeling.models import LabelTask, WorkItem, WorkSlot


def transition(row: LabelTask | WorkItem | WorkSlot, new: str, table: Table) -> None:
    """Set the state in memory. Raises IllegalTransition when the table has no such step."""
    check_transition(table, row.state, new)
    row.state = new
