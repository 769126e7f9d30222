"""Notifications and preferences as the API shows them."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from atom.core.names import TextField
from atom.notifications.api.fields import TimeZoneField
from atom.notifications.engines.links import path_of
from atom.notifications.engines.wording import title_of
from atom.notifications.events import KINDS, MAIL_CHOICES, TOPICS
from atom.notifications.models import Notification
from atom_sdk.sentences import Sentence

MAX_IDS = 200


class NotificationProjectSerializer(serializers.Serializer[Any]):
    """The project in which something happened."""

    slug = serializers.CharField()
    name = serializers.CharField()


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    """A notification of the caller."""

    topic = serializers.SerializerMethodField()
    project = NotificationProjectSerializer(allow_null=True)
    data = serializers.DictField()  # type: ignore[assignment]  # the metaclass takes it
    title = serializers.SerializerMethodField(
        help_text="The event in one line, in the language of the account."
    )
    path = serializers.SerializerMethodField(help_text="Where it leads in the portal.")

    class Meta:
        model = Notification
        fields: ClassVar = [
            "id",
            "kind",
            "topic",
            "project",
            "subject",
            "data",
            "count",
            "title",
            "path",
            "at",
            "read_at",
        ]

    def get_topic(self, row: Notification) -> str:
        """Return the topic of the event, which people set preferences for."""
        return KINDS[row.kind].topic

    def get_title(self, row: Notification) -> str:
        """Return what its mail says."""
        language = self.context["request"].user.language
        return title_of(row.kind, row.data, row.count, language)

    def get_path(self, row: Notification) -> str:
        """Return the path of the page, with its project."""
        return path_of(row.kind, row.data, row.project.slug if row.project else "")


class UnreadCountSerializer(serializers.Serializer[Any]):
    """How many are unread; no more than `counted_to` are counted."""

    unread = serializers.IntegerField()
    counted_to = serializers.IntegerField()


class ReadSerializer(serializers.Serializer[Any]):
    """Notifications to mark as read: one of `ids`, `subject` and `until`."""

    ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MAX_IDS, required=False, allow_empty=False
    )
    subject = TextField(max_length=100, required=False, help_text="The id of what they are about.")
    until = serializers.UUIDField(
        required=False, help_text="This notification and all that are older."
    )
    topic = serializers.ChoiceField(
        choices=sorted(TOPICS), required=False, help_text="With `until`: of this topic only."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what names no rows, or names them in two ways."""
        given = [name for name in ("ids", "subject", "until") if attrs.get(name)]
        if len(given) != 1:
            raise serializers.ValidationError(
                {
                    "ids": Sentence(
                        "notifications.selection_unclear", "Give one of ids, subject and until."
                    )
                }
            )
        if attrs.get("topic") and "until" not in attrs:
            raise serializers.ValidationError(
                {"topic": Sentence("notifications.only_with_until", "Give it with until only.")}
            )
        return attrs


class UnreadSerializer(serializers.Serializer[Any]):
    """Notifications to mark as unread."""

    ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MAX_IDS, allow_empty=False
    )


class ChangedSerializer(serializers.Serializer[Any]):
    """How many rows changed, and which ids name none of the caller's."""

    changed = serializers.IntegerField()
    unknown = serializers.ListField(child=serializers.UUIDField())


class PreferenceSerializer(serializers.Serializer[Any]):
    """The caller's preference for a topic."""

    topic = serializers.ChoiceField(choices=sorted(TOPICS))
    in_app = serializers.BooleanField()
    mail = serializers.ChoiceField(choices=MAIL_CHOICES)
    is_fixed = serializers.BooleanField(help_text="It cannot be changed.")


class DailyMailSerializer(serializers.Serializer[Any]):
    """When the daily mail comes."""

    time_zone = serializers.CharField(help_text="An IANA name; UTC until one is chosen.")
    hour = serializers.IntegerField(help_text="The hour of the clocks there, 0 to 23.")
    next_at = serializers.DateTimeField(help_text="The next one, if it has anything to say.")


class PreferencesSerializer(serializers.Serializer[Any]):
    """The caller's preferences for all topics, and whether mail would reach them."""

    sends_mail = serializers.BooleanField()
    has_address = serializers.BooleanField()
    daily = DailyMailSerializer()
    topics = PreferenceSerializer(many=True)


class PreferenceChangeSerializer(serializers.Serializer[Any]):
    """Changes to the preferences of one topic."""

    topic = serializers.ChoiceField(choices=sorted(TOPICS))
    in_app = serializers.BooleanField(required=False)
    mail = serializers.ChoiceField(choices=MAIL_CHOICES, required=False)


class DailyMailChangeSerializer(serializers.Serializer[Any]):
    """Changes to the time of the daily mail."""

    time_zone = TimeZoneField(required=False)
    hour = serializers.IntegerField(min_value=0, max_value=23, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what changes nothing."""
        if not attrs:
            raise serializers.ValidationError(
                {"hour": Sentence("notifications.time_missing", "Give time_zone, hour or both.")}
            )
        return attrs


class PreferenceChangesSerializer(serializers.Serializer[Any]):
    """Changes to preferences: `topics`, `daily` or both."""

    topics = serializers.ListField(
        child=PreferenceChangeSerializer(),
        allow_empty=False,
        max_length=len(TOPICS),
        required=False,
    )
    daily = DailyMailChangeSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what changes nothing."""
        if not attrs:
            raise serializers.ValidationError(
                {"topics": Sentence("notifications.choice_missing", "Give topics, daily or both.")}
            )
        return attrs


class UnsubscribedSerializer(serializers.Serializer[Any]):
    """The topic about which no more mails come."""

    topic = serializers.ChoiceField(choices=sorted(TOPICS))
