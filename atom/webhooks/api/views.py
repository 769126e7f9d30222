"""Webhooks of a project: for its administrators, since payloads leave the installation."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice
from atom.core.states import all_states
from atom.webhooks import states
from atom.webhooks.actions import deliveries, hooks
from atom.webhooks.actions.hooks import NewWebhook
from atom.webhooks.api.serializers import (
    DeliveryDetailSerializer,
    DeliverySerializer,
    NewSecretSerializer,
    NewWebhookSerializer,
    RotationSerializer,
    WebhookChangesSerializer,
    WebhookSerializer,
)
from atom.webhooks.errors import WebhookNotFound
from atom.webhooks.models import Delivery, Webhook
from atom_sdk.sentences import Sentence

_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")


class _AdminView(ProjectScopedView):
    required_roles: ClassVar = dict.fromkeys(_METHODS, "admin")
    kwargs: dict[str, Any]

    @property
    def webhook(self) -> Webhook:
        """Return the webhook of the path. Raises WebhookNotFound."""
        rows = Webhook.objects.filter(project=self.project).select_related("project", "created_by")
        found = rows.filter(pk=self.kwargs["webhook_id"]).first()
        if found is None:
            raise WebhookNotFound
        return found

    @property
    def delivery(self) -> Delivery:
        """Return the delivery of the path. Raises NotFound."""
        found = self.webhook.deliveries.filter(pk=self.kwargs["delivery_id"]).first()
        if found is None:
            raise NotFound(
                Sentence(
                    "webhooks.delivery_unknown",
                    "The webhook has no such delivery; they are kept for two weeks.",
                )
            )
        return found


def _with_secret(new: NewWebhook) -> dict[str, Any]:
    return {**WebhookSerializer(new.webhook).data, "secret": new.secret}


class WebhookListView(_AdminView, generics.ListAPIView[Webhook]):
    """The webhooks of a project."""

    serializer_class = WebhookSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[Webhook]:
        """Return them, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return Webhook.objects.none()
        return Webhook.objects.filter(project=self.project).select_related("created_by")

    @extend_schema(request=NewWebhookSerializer, responses={201: NewSecretSerializer})
    def post(self, request: Request, project: str) -> Response:
        """Add a webhook. Its secret is in this answer only, so the call is not replayable."""
        body = NewWebhookSerializer(data=request.data)
        check(body)
        new = hooks.create_webhook(self.project, user_of(request), **body.validated_data)
        return Response(_with_secret(new), status=status.HTTP_201_CREATED)


class WebhookView(_AdminView, APIView):
    """One webhook."""

    @extend_schema(responses=WebhookSerializer, operation_id="webhook_retrieve")
    def get(self, request: Request, project: str, webhook_id: UUID) -> Response:
        """Return the webhook."""
        return Response(WebhookSerializer(self.webhook).data)

    @extend_schema(
        request=WebhookChangesSerializer, responses=WebhookSerializer, operation_id="webhook_change"
    )
    def patch(self, request: Request, project: str, webhook_id: UUID) -> Response:
        """Change it, or switch it on or off."""
        body = WebhookChangesSerializer(data=request.data)
        check(body)
        hooks.change_webhook(self.webhook, user_of(request), body.validated_data)
        return Response(WebhookSerializer(self.webhook).data)

    @extend_schema(responses={204: None}, operation_id="webhook_delete")
    def delete(self, request: Request, project: str, webhook_id: UUID) -> Response:
        """Remove it with its deliveries."""
        hooks.delete_webhook(self.webhook, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RotateSecretView(_AdminView, APIView):
    """Another secret for a webhook."""

    @extend_schema(
        request=RotationSerializer, responses=NewSecretSerializer, operation_id="webhook_rotate"
    )
    def post(self, request: Request, project: str, webhook_id: UUID) -> Response:
        """Give it a new secret, shown in this answer only; the old one signs for a while."""
        body = RotationSerializer(data=request.data)
        check(body)
        new = hooks.rotate_secret(self.webhook, user_of(request), **body.validated_data)
        return Response(_with_secret(new))


class TestDeliveryView(_AdminView, APIView):
    """Trying a webhook."""

    @extend_schema(request=None, responses={202: DeliverySerializer}, operation_id="webhook_test")
    @idempotent
    def post(self, request: Request, project: str, webhook_id: UUID) -> Response:
        """Send a made-up event, once; follow the delivery that this gives."""
        delivery = deliveries.send_test(self.webhook, user_of(request))
        delivery.refresh_from_db()
        return Response(DeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)


class DeliveryListView(_AdminView, generics.ListAPIView[Delivery]):
    """Deliveries of a webhook."""

    serializer_class = DeliverySerializer
    pagination_class = KeysetPagination
    filters = ("state",)

    @extend_schema(
        parameters=[OpenApiParameter("state", str, enum=all_states(states.DELIVERY_STATES))]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return deliveries of the last two weeks, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Delivery]:
        """Return the deliveries, of one state where it is given."""
        if getattr(self, "swagger_fake_view", False):
            return Delivery.objects.none()
        state = choice(self.request, "state", all_states(states.DELIVERY_STATES))
        rows = self.webhook.deliveries.defer("body", "response_excerpt")
        return rows.filter(state=state) if state else rows


class DeliveryView(_AdminView, APIView):
    """One delivery."""

    @extend_schema(responses=DeliveryDetailSerializer, operation_id="webhook_delivery")
    def get(self, request: Request, project: str, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Return what was sent and what came back."""
        return Response(DeliveryDetailSerializer(self.delivery).data)


class RedeliverView(_AdminView, APIView):
    """Sending again."""

    @extend_schema(
        request=None, responses={202: DeliverySerializer}, operation_id="webhook_redeliver"
    )
    @idempotent
    def post(self, request: Request, project: str, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Send a delivery that has ended once more, under the same id."""
        delivery = deliveries.redeliver(self.delivery, user_of(request))
        return Response(DeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)
