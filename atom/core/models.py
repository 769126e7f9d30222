"""Base classes of every table, and the tables that the kernel itself needs."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from atom.core.clock import RowTimeField
from atom.core.ids import uuid7


class TimestampedModel(models.Model):
    """A row with a time-ordered id and the two times that every list shows."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = RowTimeField(auto_now_add=True)
    updated_at = RowTimeField(auto_now=True)

    class Meta:
        abstract = True


class IdempotencyRecord(models.Model):
    """The answer that was given to an `Idempotency-Key`, kept for a day."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = RowTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_user_key"),
        ]
        indexes: ClassVar = [models.Index(fields=["created_at"])]


class OutboxEvent(models.Model):
    """Something that happened, until it was handed on (`atom.core.outbox`)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # No foreign key: `core` knows no app. A task removes events of deleted projects.
    # Null: the event is about a person, in no project.
    project_id = models.UUIDField(null=True)
    kind = models.CharField(max_length=60)
    data = models.JSONField(default=dict)
    at = RowTimeField(auto_now_add=True)
    # When webhooks had it, and when the people whom it concerns had.
    taken_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    people = ArrayField(models.UUIDField(), default=list)
    # The object of the event, so that events about one object become one notification.
    subject = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["at"]),
            models.Index(fields=["id"], condition=models.Q(taken_at=None), name="outbox_open"),
            models.Index(fields=["at"], condition=models.Q(told_at=None), name="outbox_untold"),
        ]
