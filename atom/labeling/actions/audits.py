"""Verdicts on submitted work, always of another person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from atom.accounts.models import Project, User
from atom.accounts.permissions import role_in
from atom.core import outbox
from atom.core.errors import AtomError, NotFound
from atom.labeling import states
from atom.labeling.actions.answers import Answer, read_answer
from atom.labeling.actions.completion import complete_if_done, emit_if_audited
from atom.labeling.actions.issues import NewIssue, issue_rows
from atom.labeling.actions.locks import LockedSlots, lock_slots
from atom.labeling.actions.progress import notify_progress
from atom.labeling.actions.transitions import transition
from atom.labeling.engines.keys import uuid_of_key
from atom.labeling.errors import AuditorIsLabeler, DecidedTwice, StaleLease, TaskNotActive
from atom.labeling.models import AnnotationRevision, AuditDecision, Issue, WorkItem, WorkSlot
from atom.labeling.permissions import LABEL, may
from atom.labeling.sentences import task_is
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Decision:
    """One verdict: `slot_id` is the audit slot, `revision_id` what was looked at."""

    slot_id: UUID
    lease_no: int
    revision_id: UUID
    verdict: str
    error_code: str = ""
    comment: str = ""
    issues: Sequence[NewIssue] = ()
    # With it, the auditor accepts the work as they have corrected it.
    document: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Ruling:
    """The result of one decision."""

    slot_id: UUID
    error: AtomError | None = None


@dataclass
class _Changes:
    corrections: list[AnnotationRevision] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    decisions: list[AuditDecision] = field(default_factory=list)
    slots: list[WorkSlot] = field(default_factory=list)
    items: list[WorkItem] = field(default_factory=list)


def decide(project: Project, auditor: User, decisions: Sequence[Decision]) -> list[Ruling]:
    """Accept or return each submission; rulings in the same order.

    Returned work goes to the same person under a new lease number. A corrected document becomes
    a revision of the auditor, which is the item's final one. Repeating a decision
    answers the same and changes nothing. Raises DecidedTwice before anything is changed.
    """
    require_one_each(decisions)
    with transaction.atomic():
        slots = lock_slots(project, {d.slot_id for d in decisions})
        revisions = [d.revision_id for d in decisions]
        known = {
            found.revision_id: found
            for found in AuditDecision.objects.filter(revision__in=revisions)
        }
        changes = _Changes()
        rulings = [Ruling(d.slot_id, _decide(d, auditor, slots, known, changes)) for d in decisions]
        _write(changes)
    return rulings


def require_one_each(decisions: Sequence[Decision]) -> None:
    """Raise DecidedTwice, with the slots, if there is more than one decision on a slot."""
    counts = Counter(decision.slot_id for decision in decisions)
    twice = [str(slot_id) for slot_id, count in counts.items() if count > 1]
    if twice:
        raise DecidedTwice(slots=twice)


def not_found(decision: Decision) -> Ruling:
    """Return the ruling on a slot that the caller cannot see."""
    return Ruling(decision.slot_id, NotFound())


def _decide(
    decision: Decision,
    auditor: User,
    slots: LockedSlots,
    known: dict[UUID, AuditDecision],
    changes: _Changes,
) -> AtomError | None:
    audit = slots.get(decision.slot_id, states.AUDIT_ROLE)
    if audit is None:
        return NotFound()
    if _is_repetition(decision, auditor, known.get(decision.revision_id)):
        return None
    label = slots.label_of(audit)
    refusal = _refusal(decision, auditor, audit, label)
    if refusal is not None:
        return refusal
    correction = None
    if decision.document is not None:
        answer = read_answer(decision.document, label.label_task, label.work_item)
        if answer.problem is not None:
            return answer.problem
        correction = _correction(decision, auditor, audit, label, answer)
    known[decision.revision_id] = _rule(decision, auditor, audit, label, changes, correction)
    return None


def _refusal(
    decision: Decision, auditor: User, audit: WorkSlot, label: WorkSlot
) -> AtomError | None:
    if label.user_id == auditor.pk:
        return AuditorIsLabeler()
    if label.label_task.state not in states.TASK_TAKES_WORK:
        # A label accepted while the layer is written would count as published without being in it.
        return TaskNotActive(
            task_is(label.label_task.state),
            slot=str(audit.pk),
        )
    held = audit.state == states.LEASED and audit.user_id == auditor.pk
    if not held or audit.lease_no != decision.lease_no:
        return StaleLease(slot=str(audit.pk))
    if label.revision_id != decision.revision_id:
        return StaleLease(
            Sentence("labeling.label_changed", "The label has changed since you saw it."),
            slot=str(audit.pk),
        )
    return None


def _is_repetition(decision: Decision, auditor: User, earlier: AuditDecision | None) -> bool:
    if earlier is None:
        return False
    given = (auditor.pk, decision.slot_id, decision.lease_no, decision.verdict)
    return given == (earlier.auditor_id, earlier.slot_id, earlier.lease_no, earlier.verdict)


def _correction(
    decision: Decision, auditor: User, audit: WorkSlot, label: WorkSlot, answer: Answer
) -> AnnotationRevision:
    """Return the auditor's own revision over the labeler's."""
    return AnnotationRevision(
        work_item_id=audit.work_item_id,
        slot=audit,
        user=auditor,
        lease_no=decision.lease_no,
        parent_id=decision.revision_id,
        ontology_version_id=label.label_task.ontology_version_id,
        **answer.columns,
        accepted=True,
        idempotency_key=uuid_of_key(f"correction {audit.pk} {decision.lease_no}"),
    )


def _rule(
    decision: Decision,
    auditor: User,
    audit: WorkSlot,
    label: WorkSlot,
    changes: _Changes,
    correction: AnnotationRevision | None,
) -> AuditDecision:
    item = label.work_item
    accepted = decision.verdict == states.ACCEPT
    transition(audit, states.SUBMITTED, states.SLOT_STATES)
    transition(label, states.ACCEPTED if accepted else states.RETURNED, states.SLOT_STATES)
    transition(item, states.ACCEPTED if accepted else states.REWORK, states.ITEM_STATES)
    audit.expires_at = None
    audit.page, audit.on_screen, audit.seen_at = "", False, None
    if accepted:
        item.final_revision_id = correction.pk if correction else decision.revision_id
    else:
        label.lease_no += 1
        label.returned_code, label.returned_comment = decision.error_code, decision.comment
    made = AuditDecision(
        revision_id=decision.revision_id,
        slot=audit,
        lease_no=decision.lease_no,
        auditor=auditor,
        verdict=decision.verdict,
        error_code=decision.error_code,
        comment=decision.comment,
        correction=correction,
    )
    changes.decisions.append(made)
    changes.corrections += [correction] if correction else []
    changes.issues += issue_rows(decision.issues, item, auditor, decision.revision_id)
    changes.slots += [audit, label]
    changes.items.append(item)
    return made


def _write(changes: _Changes) -> None:
    if not changes.decisions:
        return
    AnnotationRevision.objects.bulk_create(changes.corrections)
    AuditDecision.objects.bulk_create(changes.decisions)
    Issue.objects.bulk_create(changes.issues)
    fields = [
        "state", "expires_at", "lease_no", "returned_code", "returned_comment", "page",
        "on_screen", "seen_at",
    ]  # fmt: skip
    WorkSlot.objects.bulk_update(changes.slots, fields)
    WorkItem.objects.bulk_update(changes.items, ["state", "final_revision"])
    _notify_returned(changes)
    for task_id in {slot.label_task_id for slot in changes.slots}:
        notify_progress(task_id)
        complete_if_done(task_id)
        emit_if_audited(task_id)


def _notify_returned(changes: _Changes) -> None:
    """Notify each person who may still label of the number of returned items of each task."""
    returned = Counter(
        (slot.label_task, slot.user_id) for slot in changes.slots if slot.state == states.RETURNED
    )
    labelers = User.objects.in_bulk({user_id for _, user_id in returned if user_id is not None})
    for (task, user_id), items in returned.items():
        if user_id is None or not may(role_in(labelers[user_id], task.project), LABEL):
            continue
        outbox.emit(
            task.project_id,
            "label_task.returned",
            people=[user_id],
            subject=task.pk,
            task=str(task.pk),
            name=task.name,
            items=items,
        )
