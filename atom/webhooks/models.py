"""Webhooks of projects, and what was sent to them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.core import states as tables
from atom.core.models import TimestampedModel
from atom.webhooks import states


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Reads of webhooks."""

    def switched_on(self) -> WebhookQuerySet:
        """Return those that are sent to."""
        return self.filter(off_reason="")


class Webhook(TimestampedModel):
    """An address that hears of events in a project. Its secrets are encrypted, and never shown."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=2000)
    events = ArrayField(models.CharField(max_length=60))
    encrypted_secret = models.TextField()
    # The previous secret, which also signs requests until then.
    encrypted_old_secret = models.TextField(blank=True)
    old_secret_until = models.DateTimeField(null=True)
    off_reason = models.CharField(max_length=20, blank=True)
    off_at = models.DateTimeField(null=True)
    last_success_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = WebhookQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="webhook_name"),
            models.CheckConstraint(
                condition=Q(off_reason__in=["", *states.OFF_REASONS]), name="webhook_off_reason"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Reads of deliveries."""

    def due(self) -> DeliveryQuerySet:
        """Return what should be tried now, oldest first."""
        waiting = self.filter(state=states.PENDING, next_at__lte=Now(), webhook__off_reason="")
        return waiting.order_by("next_at", "id")


class Delivery(TimestampedModel):
    """One event for one webhook. Its id and its body are the same in every try."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    # The id in the outbox, whose rows are deleted sooner.
    event_id = models.UUIDField(null=True)
    kind = models.CharField(max_length=60)
    body = models.TextField()
    state = models.CharField(
        max_length=20, choices=tables.choices(states.DELIVERY_STATES), default=states.PENDING
    )
    tries = models.PositiveIntegerField(default=0)
    # When it was asked for, from which on it is tried for a day.
    queued_at = models.DateTimeField(db_default=Now())
    next_at = models.DateTimeField(db_default=Now())
    tried_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    status_code = models.PositiveSmallIntegerField(null=True)
    response_excerpt = models.TextField(blank=True)
    error = models.CharField(max_length=300, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            tables.constraint("delivery_state", states.DELIVERY_STATES),
            models.UniqueConstraint(fields=["webhook", "event_id"], name="delivery_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["webhook", "-created_at", "-id"], name="delivery_newest"),
            models.Index(
                fields=["next_at"], condition=Q(state=states.PENDING), name="delivery_due"
            ),
        ]
