"""Shapes of leased work, submissions, audits and statistics."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import TextField
from atom.labeling import states
from atom.labeling.api.issue_serializers import IssueSerializer
from atom.labeling.engines.json_patch import MAX_OPERATIONS
from atom.labeling.models.work import MAX_PAGE_LENGTH
from atom_sdk.sentences import Sentence

MAX_BATCH = 200
# Where the document of a leased slot comes from.
DRAFT, REVISION, PRE_LABEL = "draft", "revision", "pre_label"
_MAX_ACTIVE_MS = 2**31 - 1


class PictureSerializer(serializers.Serializer[Any]):
    """The picture of an item: where its bytes are, and its size after the EXIF orientation."""

    path = serializers.CharField()
    digest = serializers.CharField(help_text="BLAKE3 of the bytes, in hex.")
    width = serializers.IntegerField(allow_null=True, help_text="Null where it is not known.")
    height = serializers.IntegerField(allow_null=True)
    tiled = serializers.BooleanField(
        help_text="It is large, deep, or nothing that browsers decode: show its tiles."
    )
    media_url = serializers.CharField()
    thumb_url = serializers.CharField()


class LeasedSlotSerializer(PictureSerializer):
    """A slot that the caller holds, with the picture and what was begun."""

    id = serializers.UUIDField()
    item_id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=sorted(states.SLOT_HELD))
    lease_no = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True)
    document = serializers.DictField(
        allow_null=True,
        help_text="To begin with: the draft, else the last revision, else the version's objects.",
    )
    document_source = serializers.ChoiceField(choices=[DRAFT, REVISION, PRE_LABEL], allow_null=True)
    pre_label_left_out = serializers.BooleanField(
        help_text="The version's objects are about other sides than the picture has."
    )
    draft = serializers.DictField(allow_null=True)
    draft_seq = serializers.IntegerField(allow_null=True)
    label_id = serializers.IntegerField(allow_null=True)
    returned_code = serializers.CharField(allow_null=True)
    returned_comment = serializers.CharField(allow_null=True)
    issues = IssueSerializer(many=True)


class LeaseSerializer(serializers.Serializer[Any]):
    """The answer to a lease."""

    lease = LeasedSlotSerializer(many=True)


class MyWorkSerializer(serializers.Serializer[Any]):
    """Everything that the caller holds."""

    results = LeasedSlotSerializer(many=True)
    next = serializers.CharField(allow_null=True)


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
    """Unsent work; `seq` grows with every save.

    Either the whole `document`, or `patch`: JSON Patch (RFC 6902) on the draft of the seq `base`.
    """

    seq = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
    document = serializers.DictField(required=False)
    base = serializers.IntegerField(min_value=0, max_value=2**63 - 1, required=False)
    patch = serializers.ListField(
        child=serializers.DictField(), max_length=MAX_OPERATIONS, required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of both forms, whole."""
        whole, patched = "document" in attrs, "patch" in attrs
        if whole == patched or patched != ("base" in attrs):
            raise serializers.ValidationError(
                {
                    "document": Sentence(
                        "labeling.draft_missing", "Give document, or base and patch."
                    )
                }
            )
        return attrs


class SavedDraftSerializer(serializers.Serializer[Any]):
    """The draft that is kept; a patched one is not sent back."""

    seq = serializers.IntegerField()
    document = serializers.DictField(allow_null=True)


class PlaceSerializer(serializers.Serializer[Any]):
    """A point of the picture at which a field of the document is wrong."""

    pointer = serializers.CharField(help_text="Such as document/objects/3/parts.")
    at = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)


class SubmitSerializer(serializers.Serializer[Any]):
    """A submission: `label_id`, or a whole `document`."""

    lease_no = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    idempotency_key = TextField(max_length=100)
    label_id = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)
    document = serializers.DictField(required=False)
    digest = TextField(
        max_length=64,
        required=False,
        help_text="The digest of the shown picture; 409 if the item has another one by now.",
    )
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


class ErrorCodeSerializer(serializers.Serializer[Any]):
    """One mistake by its code and the values that its sentence names."""

    code = serializers.CharField()
    params = serializers.DictField()


class SlotResultSerializer(serializers.Serializer[Any]):
    """The result of one submission or decision; `code` names the failure."""

    slot = serializers.UUIDField()
    ok = serializers.BooleanField()
    revision = serializers.UUIDField(required=False, allow_null=True)
    code = serializers.CharField(required=False)
    detail = serializers.CharField(required=False)
    detail_code = serializers.CharField(
        required=False, help_text="The code of the detail's sentence, where it has one."
    )
    detail_params = serializers.DictField(required=False)
    action = serializers.CharField(required=False, help_text="The next step for a person.")
    errors = serializers.DictField(  # type: ignore[assignment]  # DRF lifts it
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="By pointer, such as document/objects/3/box.",
    )
    error_codes = serializers.DictField(
        child=serializers.ListField(child=ErrorCodeSerializer()),
        required=False,
        help_text="The same by codes and parameters, for other languages.",
    )
    places = PlaceSerializer(many=True, required=False)


class SlotResultsSerializer(serializers.Serializer[Any]):
    """One result per entry, in the request's order."""

    results = SlotResultSerializer(many=True)


class PreLabelEditsSerializer(serializers.Serializer[Any]):
    """Labels of pre-labels that a person kept and changed; a label is an object or a class."""

    kept = serializers.IntegerField()
    reshaped = serializers.IntegerField(help_text="Moved or drawn anew, of the same class.")
    relabelled = serializers.IntegerField(help_text="Its class or its attributes changed.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()


class LabelerStatsSerializer(serializers.Serializer[Any]):
    """One labeler's work in a task; `median_active_ms` is per counted submission."""

    labeler = serializers.CharField()
    submitted = serializers.IntegerField()
    returned = serializers.IntegerField()
    accepted = serializers.IntegerField()
    stale = serializers.IntegerField()
    median_active_ms = serializers.FloatField(allow_null=True)
    pre_label_edits = PreLabelEditsSerializer(
        allow_null=True, help_text="Adds up the last answers; null without a pre-label."
    )


class LabelTaskStatsSerializer(serializers.Serializer[Any]):
    """All labelers of a task."""

    results = LabelerStatsSerializer(many=True)
    next = serializers.CharField(allow_null=True)
