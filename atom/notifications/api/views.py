"""Notifications of the caller. Other people's cannot be read."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import permissions
from atom.accounts.actions.signing_in import note_guess, refuse_guessing
from atom.accounts.api.mixins import ScopedView, token_of, user_of
from atom.core.bodies import JSONParser, check
from atom.core.clock import now
from atom.core.pagination import KeysetPagination
from atom.core.query import choice
from atom.notifications.actions import daily, reading
from atom.notifications.api.serializers import (
    ChangedSerializer,
    NotificationSerializer,
    PreferenceChangesSerializer,
    PreferencesSerializer,
    ReadSerializer,
    UnreadCountSerializer,
    UnreadSerializer,
    UnsubscribedSerializer,
)
from atom.notifications.engines.timing import next_daily_mail
from atom.notifications.errors import UnsubscribeLinkInvalid
from atom.notifications.events import TOPICS, kinds_of
from atom.notifications.models import Notification, NotificationQuerySet

COUNTED_TO = 100


def own(request: Request) -> NotificationQuerySet:
    """Return the caller's notifications; with a project's token, those of that project."""
    rows = Notification.objects.visible_to(user_of(request))
    token = token_of(request)
    return rows.filter(project=token.project_id) if token and token.project_id else rows


def listed(request: Request) -> NotificationQuerySet:
    """Return those of them that are shown."""
    return own(request).filter(in_app=True)


class NotificationListView(ScopedView, generics.ListAPIView[Notification]):
    """Notifications of the caller, newest first."""

    serializer_class = NotificationSerializer
    pagination_class = KeysetPagination
    keyset = ("-at", "-id")
    filters = ("unread", "topic")

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "unread", str, enum=["true", "false"], description="Unread ones only."
            ),
            OpenApiParameter("topic", str, enum=sorted(TOPICS)),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page; they are kept for 90 days."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Notification]:
        """Return the caller's rows that the query chooses."""
        if getattr(self, "swagger_fake_view", False):
            return Notification.objects.none()
        rows = listed(self.request).select_related("project")
        if choice(self.request, "unread", ["true", "false"]) == "true":
            rows = rows.unread()
        if topic := choice(self.request, "topic", TOPICS):
            rows = rows.filter(kind__in=kinds_of(topic))
        return rows


class UnreadCountView(ScopedView, APIView):
    """The number at the bell."""

    @extend_schema(responses=UnreadCountSerializer, operation_id="notifications_count")
    def get(self, request: Request) -> Response:
        """Return how many are unread, counted to a hundred."""
        unread = listed(request).unread().order_by()[:COUNTED_TO].count()
        return Response({"unread": unread, "counted_to": COUNTED_TO})


class ReadView(ScopedView, APIView):
    """Reading."""

    @extend_schema(
        request=ReadSerializer, responses=ChangedSerializer, operation_id="notifications_read"
    )
    def post(self, request: Request) -> Response:
        """Mark some, or all up to one, as read; what is read already stays so."""
        body = ReadSerializer(data=request.data)
        check(body)
        chosen = reading.Choice(**body.validated_data)
        rows = own(request)
        changed = reading.mark_read(rows, user_of(request), chosen)
        return Response({"changed": changed, "unknown": rows.missing(chosen.ids)})


class UnreadView(ScopedView, APIView):
    """Undoing it."""

    @extend_schema(
        request=UnreadSerializer, responses=ChangedSerializer, operation_id="notifications_unread"
    )
    def post(self, request: Request) -> Response:
        """Mark some as unread again."""
        body = UnreadSerializer(data=request.data)
        check(body)
        rows, ids = own(request), body.validated_data["ids"]
        changed = reading.mark_unread(rows, user_of(request), ids)
        return Response({"changed": changed, "unknown": rows.missing(ids)})


class PreferencesView(ScopedView, APIView):
    """The caller's preferences."""

    @extend_schema(
        responses=PreferencesSerializer, operation_id="notification_preferences_retrieve"
    )
    def get(self, request: Request) -> Response:
        """Return it for every topic."""
        return Response(_preferences(request))

    @extend_schema(
        request=PreferenceChangesSerializer,
        responses=PreferencesSerializer,
        operation_id="notification_preferences_change",
    )
    def patch(self, request: Request) -> Response:
        """Change the preferences of some topics, for events from now on.

        Waiting daily mails come at the new time. A token of one project may not change them.
        """
        permissions.refuse_bound(token_of(request))
        body = PreferenceChangesSerializer(data=request.data)
        check(body)
        asked = body.validated_data
        reading.change_preferences(user_of(request), asked.get("topics", []), asked.get("daily"))
        return Response(_preferences(request))


def _preferences(request: Request) -> dict[str, Any]:
    user = user_of(request)
    topics = [
        {
            "topic": name,
            "in_app": found.in_app,
            "mail": found.mail,
            "is_fixed": TOPICS[name].is_fixed,
        }
        for name, found in reading.preferences_of(user).items()
    ]
    time = daily.daily_time_of(user)
    return {
        "sends_mail": settings.ATOM_SENDS_MAIL,
        "has_address": bool(user.email),
        "daily": {
            "time_zone": time.time_zone,
            "hour": time.hour,
            "next_at": next_daily_mail(now(), time),
        },
        "topics": topics,
    }


class UnsubscribeView(APIView):
    """The way out of a mail, without signing in; the link is the proof.

    Only POST ends anything: programs that look at links in mails do not unsubscribe people.
    """

    permission_classes = (AllowAny,)
    authentication_classes = ()
    # Mail programs send a form (RFC 8058).
    parser_classes = (FormParser, MultiPartParser, JSONParser)

    @extend_schema(
        request=None, responses=UnsubscribedSerializer, operation_id="notifications_unsubscribe"
    )
    def post(self, request: Request, link: str) -> Response:
        """End the mails of the topic; again is fine."""
        refuse_guessing(request._request)
        try:
            topic = reading.unsubscribe(link)
        except UnsubscribeLinkInvalid:
            note_guess(request._request)
            raise
        return Response({"topic": topic})
