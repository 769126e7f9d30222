"""Shapes of audits, verdicts, revisions and items."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import TextField
from atom.labeling import states
from atom.labeling.api.issue_serializers import MAX_ISSUES, IssueSerializer, NewIssueSerializer
from atom.labeling.api.work_serializers import (
    MAX_BATCH,
    PictureSerializer,
    PreLabelEditsSerializer,
    SkipShownSerializer,
)
from atom.labeling.models import AnnotationRevision
from atom_sdk.sentences import Sentence


class AuditSlotSerializer(PictureSerializer):
    """A submission to look at."""

    item_id = serializers.UUIDField()
    slot_id = serializers.UUIDField()
    lease_no = serializers.IntegerField()
    expires_at = serializers.DateTimeField()
    document = serializers.DictField()
    label_id = serializers.IntegerField(allow_null=True)
    labeler = serializers.CharField()
    revision_id = serializers.UUIDField()
    before = serializers.DictField(
        allow_null=True, help_text="The document that the labeler began with or was sent back."
    )
    pre_label_edits = PreLabelEditsSerializer(
        allow_null=True, help_text="Null where the work did not begin with a pre-label."
    )
    issues = IssueSerializer(many=True)


class AuditLeaseSerializer(serializers.Serializer[Any]):
    """The answer to an audit lease."""

    lease = AuditSlotSerializer(many=True)


class CorrectionSerializer(serializers.Serializer[Any]):
    """A picture of the caller that an auditor corrected; the revisions have the documents."""

    item_id = serializers.UUIDField()
    path = serializers.CharField()
    media_url = serializers.CharField()
    thumb_url = serializers.CharField()
    revision = serializers.UUIDField(help_text="As it was submitted.")
    correction = serializers.UUIDField(help_text="As the auditor accepted it.")
    auditor = serializers.CharField()
    comment = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class DecisionSerializer(serializers.Serializer[Any]):
    """A verdict on one revision; `document` accepts it as the auditor has corrected it."""

    slot = serializers.UUIDField()
    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    revision = serializers.UUIDField()
    verdict = serializers.ChoiceField(choices=states.VERDICTS)
    error_code = TextField(max_length=60, allow_blank=True, default="")
    comment = TextField(max_length=4000, allow_blank=True, default="")
    issues = NewIssueSerializer(many=True, default=list, max_length=MAX_ISSUES)  # type: ignore[call-arg]
    document = serializers.DictField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a correction of what is sent back."""
        if "document" in attrs and attrs["verdict"] != states.ACCEPT:
            raise serializers.ValidationError(
                {
                    "document": Sentence(
                        "labeling.correction_accepts",
                        "A corrected document is accepted. Send none to return the work.",
                    )
                }
            )
        return attrs


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
    sha256 = serializers.CharField(source="sha256_hex")
    pre_label_edits = PreLabelEditsSerializer(
        allow_null=True, read_only=True, help_text="Null where no pre-label was compared."
    )
    verdict = serializers.CharField(source="audit_decision.verdict", default=None, allow_null=True)
    comment = serializers.CharField(source="audit_decision.comment", default=None, allow_null=True)
    auditor = serializers.CharField(
        source="audit_decision.auditor.username", default=None, allow_null=True
    )

    class Meta:
        model = AnnotationRevision
        fields = (
            "id", "slot", "item_id", "user", "lease_no", "parent", "source", "label_id",
            "n_objects", "document", "sha256", "active_ms", "accepted", "pre_label_edits",
            "verdict", "comment", "auditor", "created_at",
        )  # fmt: skip


class HoldingSerializer(serializers.Serializer[Any]):
    """The person who holds a slot of an item now, and until when."""

    slot = serializers.UUIDField()
    role = serializers.ChoiceField(choices=states.ROLES)
    state = serializers.ChoiceField(choices=sorted(states.SLOT_HELD))
    name = serializers.CharField()
    username = serializers.CharField()
    until = serializers.DateTimeField(allow_null=True, help_text="Null: work sent back has no end.")
    seen_at = serializers.DateTimeField(
        allow_null=True, help_text="The last time at which their page confirmed it."
    )


class WorkItemSerializer(PictureSerializer):
    """An item of a task with its present label."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=sorted(states.ITEM_STATES))
    label_id = serializers.IntegerField(allow_null=True)
    n_objects = serializers.IntegerField(allow_null=True, help_text="Null before an answer.")
    labeler = serializers.CharField(allow_null=True)
    left_out_from = serializers.CharField(allow_blank=True)
    skips = SkipShownSerializer(many=True)
    holders = HoldingSerializer(many=True)
    open_issues = serializers.IntegerField()
