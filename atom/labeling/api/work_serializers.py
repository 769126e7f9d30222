"""Shapes of leased work, submissions, audits and statistics."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.accounts.models import User
from atom.core.names import TextField
from atom.labeling import states
from atom.labeling.api.media import item_urls
from atom.labeling.models import AnnotationRevision, WorkItem, WorkSlot
from atom.labeling.models.work import MAX_PAGE_LENGTH
from atom_sdk.sentences import Sentence

MAX_BATCH = 200
_MAX_ACTIVE_MS = 2**31 - 1


class LeasedSlotSerializer(serializers.Serializer[Any]):
    """A slot that the caller holds, with the picture and what was begun."""

    id = serializers.UUIDField()
    item_id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=sorted(states.SLOT_HELD))
    lease_no = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True)
    path = serializers.CharField()
    media_url = serializers.CharField()
    thumb_url = serializers.CharField()
    draft = serializers.DictField(allow_null=True)
    draft_seq = serializers.IntegerField(allow_null=True)
    label_id = serializers.IntegerField(allow_null=True)
    returned_code = serializers.CharField(allow_null=True)
    returned_comment = serializers.CharField(allow_null=True)


class LeaseSerializer(serializers.Serializer[Any]):
    """The answer to a lease."""

    lease = LeasedSlotSerializer(many=True)


class MyWorkSerializer(serializers.Serializer[Any]):
    """Everything that the caller holds."""

    results = LeasedSlotSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class AuditSlotSerializer(serializers.Serializer[Any]):
    """A submission to look at."""

    item_id = serializers.UUIDField()
    slot_id = serializers.UUIDField()
    lease_no = serializers.IntegerField()
    expires_at = serializers.DateTimeField()
    path = serializers.CharField()
    media_url = serializers.CharField()
    thumb_url = serializers.CharField()
    label_id = serializers.IntegerField(allow_null=True)
    labeler = serializers.CharField()
    revision_id = serializers.UUIDField()


class AuditLeaseSerializer(serializers.Serializer[Any]):
    """The answer to an audit lease."""

    lease = AuditSlotSerializer(many=True)


class PageSerializer(serializers.Serializer[Any]):
    """A page of the portal, by an id that it makes up when it is loaded."""

    page = TextField(max_length=MAX_PAGE_LENGTH, allow_blank=True, default="")


class LeaseRequestSerializer(PageSerializer):
    """Which page asks; `prefetch` says that it has something to show already."""

    prefetch = serializers.BooleanField(default=False)  # type: ignore[assignment]


class ReturnSerializer(PageSerializer):
    """A page that takes up its person's work: of the page before it in the same tab, or all."""

    from_page = TextField(max_length=MAX_PAGE_LENGTH, allow_blank=True, default="")
    everything = serializers.BooleanField(default=False)


class LeaveSerializer(serializers.Serializer[Any]):
    """A page that goes away. A beacon carries no header, so the token is a field of its form."""

    page = TextField(max_length=MAX_PAGE_LENGTH)
    csrfmiddlewaretoken = serializers.CharField(required=False, allow_blank=True)


class ShownSlotSerializer(serializers.Serializer[Any]):
    """One item on the screen, under the lease that the page believes to hold."""

    slot = serializers.UUIDField()
    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


class ShowSerializer(serializers.Serializer[Any]):
    """The items that a page shows now."""

    page = TextField(max_length=MAX_PAGE_LENGTH)
    slots = ShownSlotSerializer(many=True, max_length=MAX_BATCH)  # type: ignore[call-arg]


class SkipReasonSerializer(serializers.Serializer[Any]):
    """Why an item is passed on."""

    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    reason = TextField(max_length=500, allow_blank=True, default="")


class HolderSerializer(serializers.Serializer[Any]):
    """Somebody else who holds work of the task."""

    name = serializers.CharField()
    returned = serializers.BooleanField(help_text="Sent back to them; it has no end.")
    items = serializers.IntegerField()
    until = serializers.DateTimeField(allow_null=True)
    working = serializers.BooleanField(help_text="Their page has confirmed it lately.")


class WaitingSerializer(serializers.Serializer[Any]):
    """Why there is nothing for the caller, or how much there is by now."""

    open = serializers.IntegerField(help_text="Items that the caller would get now.")
    elsewhere = serializers.IntegerField(help_text="Held by another open page of the caller.")
    skipped = serializers.IntegerField(help_text="Skipped by the caller, and not done yet.")
    holders = HolderSerializer(many=True)


class SkipShownSerializer(serializers.Serializer[Any]):
    """A skip of an item: the person and the reason."""

    name = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)


class LeaseNoSerializer(serializers.Serializer[Any]):
    """The lease that the caller believes to hold."""

    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


class BeatSerializer(LeaseNoSerializer):
    """The same, and which page holds it."""

    page = TextField(max_length=MAX_PAGE_LENGTH, allow_blank=True, default="")


class HeartbeatSerializer(serializers.Serializer[Any]):
    """When the lease ends now; null when it does not end."""

    lease_no = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True)


class DraftSerializer(serializers.Serializer[Any]):
    """Unsent work; `seq` grows with every save."""

    seq = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
    document = serializers.DictField()


class SubmitSerializer(serializers.Serializer[Any]):
    """A submission: `label_id`, or a whole `document`."""

    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    idempotency_key = TextField(max_length=100)
    label_id = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)
    document = serializers.DictField(required=False)
    active_ms = serializers.IntegerField(min_value=0, max_value=_MAX_ACTIVE_MS, default=0)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Bring both forms to a document."""
        if ("label_id" in attrs) == ("document" in attrs):
            raise serializers.ValidationError(
                {"label_id": Sentence("labeling.answer_missing", "Give label_id or document.")}
            )
        if "label_id" in attrs:
            attrs["document"] = {"label_id": attrs["label_id"]}
        return attrs


class BatchSubmissionSerializer(SubmitSerializer):
    """A submission within a batch."""

    slot = serializers.UUIDField()


class SubmitBatchSerializer(serializers.Serializer[Any]):
    """Up to 200 submissions of one task."""

    submissions = BatchSubmissionSerializer(many=True, max_length=MAX_BATCH)  # type: ignore[call-arg]


class SlotResultSerializer(serializers.Serializer[Any]):
    """The result of one submission or decision; `code` names the failure."""

    slot = serializers.UUIDField()
    ok = serializers.BooleanField()
    revision = serializers.UUIDField(required=False, allow_null=True)
    code = serializers.CharField(required=False)
    detail = serializers.CharField(required=False)
    action = serializers.CharField(required=False, help_text="The next step for a person.")


class SlotResultsSerializer(serializers.Serializer[Any]):
    """One result per entry, in the request's order."""

    results = SlotResultSerializer(many=True)


class DecisionSerializer(serializers.Serializer[Any]):
    """A verdict on one revision."""

    slot = serializers.UUIDField()
    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    revision = serializers.UUIDField()
    verdict = serializers.ChoiceField(choices=states.VERDICTS)
    error_code = TextField(max_length=60, allow_blank=True, default="")
    comment = TextField(max_length=4000, allow_blank=True, default="")


class DecisionsSerializer(serializers.Serializer[Any]):
    """Up to 200 verdicts."""

    decisions = DecisionSerializer(many=True, max_length=MAX_BATCH)  # type: ignore[call-arg]


class RevisionSerializer(serializers.ModelSerializer[AnnotationRevision]):
    """One immutable submission, with the verdict on it."""

    slot = serializers.UUIDField(source="slot_id")
    item_id = serializers.UUIDField(source="work_item_id")
    user = serializers.CharField(source="user.username")
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]
    label_id = serializers.IntegerField(allow_null=True)
    document = serializers.DictField(source="decoded")
    verdict = serializers.CharField(source="audit_decision.verdict", default=None, allow_null=True)
    comment = serializers.CharField(source="audit_decision.comment", default=None, allow_null=True)
    auditor = serializers.CharField(
        source="audit_decision.auditor.username", default=None, allow_null=True
    )

    class Meta:
        model = AnnotationRevision
        fields = (
            "id", "slot", "item_id", "user", "lease_no", "parent", "source", "label_id",
            "document", "sha256", "active_ms", "accepted", "verdict", "comment", "auditor",
            "created_at",
        )  # fmt: skip


class WorkItemSerializer(serializers.Serializer[Any]):
    """An item of a task with its present label."""

    id = serializers.UUIDField()
    path = serializers.CharField()
    digest = serializers.CharField()
    state = serializers.ChoiceField(choices=sorted(states.ITEM_STATES))
    label_id = serializers.IntegerField(allow_null=True)
    labeler = serializers.CharField(allow_null=True)
    left_out_from = serializers.CharField(allow_blank=True)
    skips = SkipShownSerializer(many=True)
    media_url = serializers.CharField()
    thumb_url = serializers.CharField()


class LabelerStatsSerializer(serializers.Serializer[Any]):
    """One labeler's work in a task; `median_active_ms` is per counted submission."""

    labeler = serializers.CharField()
    submitted = serializers.IntegerField()
    returned = serializers.IntegerField()
    accepted = serializers.IntegerField()
    stale = serializers.IntegerField()
    median_active_ms = serializers.FloatField(allow_null=True)


class LabelTaskStatsSerializer(serializers.Serializer[Any]):
    """All labelers of a task."""

    results = LabelerStatsSerializer(many=True)
    next = serializers.CharField(allow_null=True)


def render_slot(slot: WorkSlot) -> dict[str, Any]:
    """Return a held label slot; drafts of the caller are prefetched as `my_drafts`."""
    drafts = getattr(slot, "my_drafts", [])
    return {
        "id": slot.pk,
        "item_id": slot.work_item_id,
        "state": slot.state,
        "lease_no": slot.lease_no,
        "expires_at": slot.expires_at,
        "path": slot.work_item.path,
        **item_urls(slot.label_task.project_id, slot.work_item),
        "draft": drafts[0].decoded if drafts else None,
        "draft_seq": drafts[0].seq if drafts else None,
        "label_id": slot.revision.label_id if slot.revision else None,
        "returned_code": slot.returned_code or None,
        "returned_comment": slot.returned_comment or None,
    }


def render_audit(slot: WorkSlot, label_slot: WorkSlot) -> dict[str, Any]:
    """Return a held audit slot with the submission that it is about."""
    revision, labeler = label_slot.revision, label_slot.user
    assert revision is not None and isinstance(labeler, User)  # noqa: PT018  # submitted work
    return {
        "item_id": slot.work_item_id,
        "slot_id": slot.pk,
        "lease_no": slot.lease_no,
        "expires_at": slot.expires_at,
        "path": slot.work_item.path,
        **item_urls(slot.label_task.project_id, slot.work_item),
        "label_id": revision.label_id,
        "labeler": labeler.username,
        "revision_id": revision.pk,
    }


def render_item(project_id: Any, item: WorkItem) -> dict[str, Any]:
    """Return an item; its label slots are prefetched as `label_slots`."""
    slot: WorkSlot | None = next(iter(getattr(item, "label_slots", [])), None)
    return {
        "id": item.pk,
        "path": item.path,
        "digest": item.digest,
        "state": item.state,
        "label_id": slot.revision.label_id if slot and slot.revision else None,
        "labeler": slot.user.username if slot and slot.user else None,
        "left_out_from": item.left_out_from,
        "skips": [
            {"name": skip.user.full_name or skip.user.username, "reason": skip.reason}
            for skip in item.skips.all()
        ],
        **item_urls(project_id, item),
    }
