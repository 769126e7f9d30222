"""Common steps of the tests: submit and audit."""

from __future__ import annotations

from collections.abc import Sequence

from atom.accounts.models import User
from atom.core.ids import uuid7
from atom.labeling.actions.audits import Decision, Ruling, decide
from atom.labeling.actions.submissions import Outcome, Submission, submit
from atom.labeling.models import WorkSlot


def submission(slot: WorkSlot, label_id: int = 3, key: str = "", lease_no: int = 0) -> Submission:
    """Return a submission under the slot's lease, with a new key unless one is given."""
    return Submission(
        slot_id=slot.pk,
        lease_no=lease_no or slot.lease_no,
        idempotency_key=key or str(uuid7()),
        document={"label_id": label_id},
        active_ms=1200,
    )


def submit_all(slots: Sequence[WorkSlot], user: User, label_id: int = 3) -> list[Outcome]:
    """Submit the same label for every slot."""
    project = slots[0].label_task.project
    return submit(project, user, [submission(slot, label_id) for slot in slots])


def rule(audit: WorkSlot, auditor: User, verdict: str, comment: str = "") -> Ruling:
    """Decide on one audit slot's present submission."""
    label = WorkSlot.objects.get(work_item=audit.work_item_id, role="label")
    assert label.revision_id is not None
    decision = Decision(audit.pk, audit.lease_no, label.revision_id, verdict, "", comment)
    [ruling] = decide(audit.label_task.project, auditor, [decision])
    return ruling
