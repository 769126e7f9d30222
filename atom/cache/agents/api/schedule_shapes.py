"""Shapes of schedules of warm-up plans."""

from __future__ import annotations

from zoneinfo import available_timezones

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.cache.agents.api.plan_shapes import ErrorFields, WarmPlaceSerializer
from atom.cache.engines.cron import CronError, next_time
from atom.cache.models import WarmSchedule
from atom.core import clock
from atom.core.names import TextField
from atom_sdk.sentences import Sentence

_MAX_SECONDS = 366 * 86_400


def _seconds(text: str) -> serializers.IntegerField:
    return serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=60,
        max_value=_MAX_SECONDS,
        default=None,
        help_text=text,
    )


class NewWarmScheduleSerializer(WarmPlaceSerializer):
    """When the newest version of a ref goes where."""

    ref = TextField(max_length=200, help_text="A branch or tag, such as main.")
    cron = TextField(max_length=100, help_text="Minute, hour, day, month and day of the week.")
    timezone = TextField(
        required=False, max_length=64, default="UTC", help_text="Such as Europe/Berlin."
    )
    deadline_s = _seconds("Each plan fails unless it is done by then.")
    keep_s = _seconds("For so long a version stays needed after its time, if there is room.")

    def validate_timezone(self, value: str) -> str:
        """Refuse a name that no zone has."""
        if value not in available_timezones():
            raise serializers.ValidationError(
                Sentence("cache.timezone_unknown", "There is no time zone {zone}.", zone=value)
            )
        return value

    def validate_cron(self, value: str) -> str:
        """Refuse what is no schedule, or what never comes."""
        try:
            next_time(value, "UTC", clock.now())
        except CronError as error:
            raise serializers.ValidationError(
                Sentence(
                    "cache.cron_wrong",
                    "Write five fields of cron whose time comes, such as 0 3 * * *.",
                )
            ) from error
        return value


class WarmScheduleSerializer(ErrorFields):
    """A schedule of warm-up plans; `error` says why the last time made no plan."""

    id = serializers.UUIDField()
    dataset = serializers.CharField(source="dataset.name")
    ref = serializers.CharField()
    cluster = serializers.CharField(source="cluster.name")
    nodes = serializers.ListField(child=serializers.CharField())
    copies = serializers.IntegerField(allow_null=True)
    rate_bytes_s = serializers.IntegerField(allow_null=True)
    priority = serializers.IntegerField()
    cron = serializers.CharField()
    timezone = serializers.CharField()
    deadline_s = serializers.IntegerField(allow_null=True)
    keep_s = serializers.IntegerField(allow_null=True)
    paused = serializers.SerializerMethodField()
    next_at = serializers.DateTimeField(allow_null=True, help_text="Null while it is paused.")
    last_at = serializers.DateTimeField(allow_null=True)
    last_plan = serializers.UUIDField(source="last_plan_id", allow_null=True)
    last_plan_state = serializers.SerializerMethodField()
    created_by = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    def get_paused(self, row: WarmSchedule) -> bool:
        """Return whether no time starts a plan."""
        return row.next_at is None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_last_plan_state(self, row: WarmSchedule) -> str | None:
        """Return the state of the last plan, null without one."""
        return row.last_plan.state if row.last_plan else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, row: WarmSchedule) -> str | None:
        """Return who made it, null once the account is gone."""
        return row.created_by.username if row.created_by else None
