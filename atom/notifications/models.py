"""Notifications, preferences, and the places of earlier sign-ins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project, User
from atom.core.models import TimestampedModel
from atom.notifications.engines.timing import DailyTime
from atom.notifications.events import MAIL_CHOICES


class NotificationQuerySet(models.QuerySet["Notification"]):
    """Reads of notifications."""

    def visible_to(self, user: User) -> NotificationQuerySet:
        """Return the user's own, without those of projects that they no longer see."""
        open_to = Q(project=None) | Q(project__in=Project.objects.visible_to(user))
        return self.filter(open_to, user=user)

    def listed_for(self, user: User) -> NotificationQuerySet:
        """Return what the portal lists: of these, those of topics that are not hidden."""
        return self.visible_to(user).filter(in_app=True)

    def unread(self) -> NotificationQuerySet:
        """Return what was not read."""
        return self.filter(read_at=None)

    def missing(self, ids: Sequence[UUID]) -> list[UUID]:
        """Return those of the ids that name none of these."""
        there = set(self.filter(pk__in=ids).order_by().values_list("pk", flat=True))
        return [one for one in dict.fromkeys(ids) if one not in there]


class Notification(TimestampedModel):
    """A notification of one person. `data` is the event's own, opaque to us."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications"
    )
    project = models.ForeignKey(
        Project, null=True, on_delete=models.CASCADE, related_name="notifications"
    )
    kind = models.CharField(max_length=60)
    # The newest event of it, in the outbox, whose rows are gone sooner.
    event_id = models.UUIDField()
    subject = models.CharField(max_length=100, blank=True)
    data = models.JSONField(default=dict)
    # How many events it stands for: more than one of a grouped kind only.
    count = models.PositiveIntegerField(default=1)
    is_grouped = models.BooleanField(default=False)
    # When its newest event happened.
    at = models.DateTimeField()
    in_app = models.BooleanField(default=True)
    read_at = models.DateTimeField(null=True)
    # When it is to be mailed, or tried again; null: it is not.
    mail_at = models.DateTimeField(null=True)
    mail_tries = models.PositiveSmallIntegerField(default=0)
    mailed_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "event_id"], name="notification_once"),
            models.UniqueConstraint(
                fields=["user", "kind", "subject"],
                condition=Q(read_at=None, is_grouped=True),
                name="notification_grouped",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["user", "-at", "-id"], name="notification_newest"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="notification_unread"),
            models.Index(fields=["user", "subject"], name="notification_subject"),
            models.Index(
                fields=["mail_at"], condition=Q(mail_at__isnull=False), name="notification_mail"
            ),
            models.Index(fields=["at"], name="notification_at"),
        ]


class Preference(TimestampedModel):
    """A person's preference for a topic; without a row the topic's default counts."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notification_preferences"
    )
    topic = models.CharField(max_length=20)
    in_app = models.BooleanField()
    mail = models.CharField(max_length=10)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "topic"], name="preference_once"),
            models.CheckConstraint(condition=Q(mail__in=MAIL_CHOICES), name="preference_mail"),
        ]


class MailTime(TimestampedModel):
    """When somebody's daily mail comes; without a row it is `DailyTime()`."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_time"
    )
    # An IANA name. Which there are is not for a constraint to say: they change by the year.
    time_zone = models.CharField(max_length=64)
    hour = models.PositiveSmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(hour__lte=23), name="mail_time_hour"),
        ]

    @property
    def daily(self) -> DailyTime:
        """Return it as the engine takes it."""
        return DailyTime(self.time_zone, self.hour)


class SeenBrowser(TimestampedModel):
    """A browser, system and network from which somebody signed in."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen_browsers"
    )
    fingerprint = models.CharField(max_length=64)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "fingerprint"], name="browser_once"),
        ]
