"""Slots, audits and items as answers show them."""

from __future__ import annotations

from typing import Any

from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.api.issue_serializers import IssueSerializer
from atom.labeling.api.media import item_urls
from atom.labeling.api.work_serializers import DRAFT, PRE_LABEL, REVISION
from atom.labeling.models import AnnotationRevision, AuditDecision, WorkItem, WorkSlot


def render_slot(slot: WorkSlot) -> dict[str, Any]:
    """Return a held label slot; drafts of the caller are prefetched as `my_drafts`."""
    drafts = getattr(slot, "my_drafts", [])
    document, source = _beginning(slot)
    return {
        "id": slot.pk,
        "item_id": slot.work_item_id,
        "state": slot.state,
        "lease_no": slot.lease_no,
        "expires_at": slot.expires_at,
        **picture(slot.label_task.project_id, slot.work_item),
        "document": document,
        "document_source": source,
        "pre_label_left_out": _is_left_out(slot, source),
        "draft": drafts[0].decoded if drafts else None,
        "draft_seq": drafts[0].seq if drafts else None,
        "label_id": slot.revision.label_id if slot.revision else None,
        "returned_code": slot.returned_code or None,
        "returned_comment": slot.returned_comment or None,
        "issues": _issues(slot.work_item),
    }


def _beginning(slot: WorkSlot) -> tuple[dict[str, Any] | None, str | None]:
    for draft in getattr(slot, "my_drafts", []):
        return draft.decoded, DRAFT
    # The slot's revision is its holder's own, or that of the person before who gave it up.
    if slot.revision is not None:
        return slot.revision.decoded, REVISION
    before = slot.work_item.pre_label
    if slot.begun_with_id is not None and before is not None and not _misfits(slot.work_item):
        return before.decoded, PRE_LABEL
    return None, None


def _is_left_out(slot: WorkSlot, source: str | None) -> bool:
    return source is None and slot.begun_with_id is not None and _misfits(slot.work_item)


def _misfits(item: WorkItem) -> bool:
    """Whether the pre-label is about other sides than the picture has, so that no answer fits."""
    document = item.pre_label.decoded if item.pre_label else {}
    sides = document.get("width"), document.get("height")
    return None not in (*sides, item.width, item.height) and sides != (item.width, item.height)


def picture(project_id: Any, item: WorkItem) -> dict[str, Any]:
    """Return the facts and addresses of an item's picture."""
    return {
        "path": item.path,
        "digest": item.digest,
        "width": item.width,
        "height": item.height,
        "tiled": bool(item.tiled),
        **item_urls(project_id, item),
    }


def _issues(item: WorkItem) -> list[dict[str, Any]]:
    return list(IssueSerializer(item.issues.all(), many=True).data)


def render_audit(slot: WorkSlot, label_slot: WorkSlot) -> dict[str, Any]:
    """Return a held audit slot with the submission that it is about."""
    revision, labeler = label_slot.revision, label_slot.user
    assert revision is not None and isinstance(labeler, User)  # noqa: PT018  # submitted work
    return {
        "item_id": slot.work_item_id,
        "slot_id": slot.pk,
        "lease_no": slot.lease_no,
        "expires_at": slot.expires_at,
        **picture(slot.label_task.project_id, slot.work_item),
        "document": revision.decoded,
        "label_id": revision.label_id,
        "labeler": labeler.username,
        "revision_id": revision.pk,
        "before": revision.parent.decoded if revision.parent else None,
        "pre_label_edits": revision.pre_label_edits,
        "issues": _issues(slot.work_item),
    }


def render_correction(project_id: Any, decision: AuditDecision) -> dict[str, Any]:
    """Return a picture that an auditor corrected."""
    item = decision.revision.work_item
    return {
        "item_id": item.pk,
        "path": item.path,
        **item_urls(project_id, item),
        "revision": decision.revision_id,
        "correction": decision.correction_id,
        "auditor": decision.auditor.username,
        "comment": decision.comment,
        "at": decision.created_at,
    }


def render_item(project_id: Any, item: WorkItem) -> dict[str, Any]:
    """Return an item; its slots are prefetched as `all_slots`, its open issues as `open_issues`."""
    slots: list[WorkSlot] = getattr(item, "all_slots", [])
    label = next((slot for slot in slots if slot.role == states.LABEL_ROLE), None)
    revision: AnnotationRevision | None = item.final_revision or (label.revision if label else None)
    return {
        "id": item.pk,
        **picture(project_id, item),
        "state": item.state,
        "label_id": revision.label_id if revision else None,
        "n_objects": revision.n_objects if revision else None,
        "labeler": label.user.username if label and label.user else None,
        "left_out_from": item.left_out_from,
        "skips": [
            {"name": skip.user.full_name or skip.user.username, "reason": skip.reason}
            for skip in item.skips.all()
        ],
        "holders": [_holding(slot) for slot in slots if slot.state in states.SLOT_HELD],
        "open_issues": len(getattr(item, "open_issues", [])),
    }


def _holding(slot: WorkSlot) -> dict[str, Any]:
    holder = slot.user
    return {
        "slot": slot.pk,
        "role": slot.role,
        "state": slot.state,
        "name": (holder.full_name or holder.username) if holder else "",
        "username": holder.username if holder else "",
        "until": slot.expires_at,
        "seen_at": slot.seen_at,
    }
