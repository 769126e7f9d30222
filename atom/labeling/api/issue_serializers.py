"""Shapes of issues and their comments."""

from __future__ import annotations

import math
from typing import Any, Final

from rest_framework import serializers

from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import TextField
from atom.labeling import states
from atom.labeling.models import Issue, IssueComment
from atom_sdk.sentences import Sentence

MAX_ISSUES: Final = 200
MAX_TEXT: Final = 4000
OBJECT_ID: Final = r"^[0-9a-f]{16}$"


class CommentSerializer(serializers.ModelSerializer[IssueComment]):
    """One answer below an issue."""

    author = UserShortSerializer()

    class Meta:
        model = IssueComment
        fields = ("id", "author", "text", "created_at")


class IssueSerializer(serializers.ModelSerializer[Issue]):
    """A remark that is pinned to an object, a point, both or neither."""

    item_id = serializers.UUIDField(source="work_item_id")
    revision_id = serializers.UUIDField(allow_null=True)
    object = serializers.SerializerMethodField(help_text="The object's id in the document.")
    at = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="[x, y] in pixels"
    )
    state = serializers.ChoiceField(choices=sorted(states.ISSUE_STATES))
    author = UserShortSerializer()
    resolved_by = UserShortSerializer(allow_null=True)
    comments = CommentSerializer(many=True)

    class Meta:
        model = Issue
        fields = (
            "id", "item_id", "revision_id", "object", "at", "text", "state", "author",
            "resolved_by", "resolved_at", "comments", "created_at",
        )  # fmt: skip

    def get_object(self, issue: Issue) -> str | None:
        """Return the object's id."""
        return issue.object_id or None


class NewIssueSerializer(serializers.Serializer[Any]):
    """A new remark."""

    object = serializers.RegexField(OBJECT_ID, allow_null=True, default=None)
    at = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, default=None
    )
    text = TextField(max_length=MAX_TEXT)

    def validate_at(self, at: list[float] | None) -> list[float] | None:
        """Refuse a point that is nowhere."""
        if at is not None and not all(map(math.isfinite, at)):
            raise serializers.ValidationError(
                Sentence("labeling.point_not_finite", "Give a point of the picture.")
            )
        return at


class NewCommentSerializer(serializers.Serializer[Any]):
    """A new answer."""

    text = TextField(max_length=MAX_TEXT)


class ResolveSerializer(serializers.Serializer[Any]):
    """Whether the issue is settled; false opens it again."""

    resolved = serializers.BooleanField(default=True)
