"""Webhooks and deliveries as the API shows them. Secrets go in and never come out."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from atom.core.names import NameField, TextField
from atom.webhooks import states
from atom.webhooks.events import EVENT_KINDS
from atom.webhooks.models import Delivery, Webhook

MAX_OVERLAP_HOURS = 7 * 24


class SecretField(serializers.CharField):
    """A secret of one's own; only ever written."""

    def __init__(self, **options: Any) -> None:
        """The options of a CharField."""
        limits = {"min_length": 16, "max_length": 200, "write_only": True}
        super().__init__(**{**limits, "trim_whitespace": False, "required": False, **options})


class _EventsField(serializers.ListField):
    child = serializers.ChoiceField(
        choices=sorted(EVENT_KINDS),
        error_messages={
            "invalid_choice": '"{input}" is not a valid choice. '
            f"Choose from {', '.join(sorted(EVENT_KINDS))}."
        },
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_empty=False, max_length=len(EVENT_KINDS), **options)


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A new webhook."""

    name = NameField(max_length=100)
    url = TextField(max_length=2000)
    events = _EventsField()
    secret = SecretField(help_text="Made by the server when it is left out.")


class WebhookChangesSerializer(serializers.Serializer[Any]):
    """Changes to a webhook."""

    name = NameField(max_length=100, required=False)
    url = TextField(max_length=2000, required=False)
    events = _EventsField(required=False)
    active = serializers.BooleanField(required=False, help_text="Whether it is sent to.")


class RotationSerializer(serializers.Serializer[Any]):
    """Another secret."""

    secret = SecretField(help_text="Made by the server when it is left out.")
    overlap_hours = serializers.IntegerField(
        min_value=0,
        max_value=MAX_OVERLAP_HOURS,
        default=24,
        help_text="For so long the old secret signs as well.",
    )


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook, without its secret."""

    active = serializers.SerializerMethodField()
    events = serializers.ListField(child=serializers.CharField())
    off_reason = serializers.ChoiceField(choices=["", *states.OFF_REASONS])
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    old_secret_until = serializers.SerializerMethodField()

    class Meta:
        model = Webhook
        fields: ClassVar = [
            "id",
            "name",
            "url",
            "events",
            "active",
            "off_reason",
            "off_at",
            "old_secret_until",
            "last_success_at",
            "created_by",
            "created_at",
        ]

    def get_active(self, webhook: Webhook) -> bool:
        """Return whether it is sent to."""
        return not webhook.off_reason

    def get_old_secret_until(self, webhook: Webhook) -> str | None:
        """Return until when the secret before signs as well."""
        until = webhook.old_secret_until
        return until.isoformat() if until else None


class NewSecretSerializer(WebhookSerializer):
    """A webhook with its new secret, which is shown this once."""

    secret = serializers.CharField()

    class Meta(WebhookSerializer.Meta):
        fields: ClassVar = [*WebhookSerializer.Meta.fields, "secret"]


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """One event for one webhook."""

    gives_up_at = serializers.SerializerMethodField()

    class Meta:
        model = Delivery
        fields: ClassVar = [
            "id",
            "kind",
            "state",
            "tries",
            "created_at",
            "tried_at",
            "next_at",
            "gives_up_at",
            "duration_ms",
            "status_code",
            "error",
        ]

    def get_gives_up_at(self, delivery: Delivery) -> str | None:
        """Return when it is no longer tried; null once it has ended."""
        from atom.webhooks.engines.backoff import GIVEN_UP_AFTER

        is_open = delivery.state == states.PENDING
        return (delivery.queued_at + GIVEN_UP_AFTER).isoformat() if is_open else None


class DeliveryDetailSerializer(DeliverySerializer):
    """A delivery with what was sent and what came back."""

    request_headers = serializers.SerializerMethodField()

    class Meta(DeliverySerializer.Meta):
        fields: ClassVar = [
            *DeliverySerializer.Meta.fields,
            "body",
            "request_headers",
            "response_excerpt",
        ]

    def get_request_headers(self, delivery: Delivery) -> dict[str, str]:
        """Return the headers by which a receiver knows it; the signature is of each try alone."""
        return {
            "Atom-Event": delivery.kind,
            "Atom-Delivery": str(delivery.pk),
            "Atom-Signature": "t=…,v1=…",
            "Content-Type": "application/json",
        }
