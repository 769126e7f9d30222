"""One's own sessions and password, and the way back in without one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.actions.passwords import (
    change_password,
    find_by_link,
    request_reset,
    set_password_by_link,
)
from atom.accounts.actions.sessions import end_session, end_sessions
from atom.accounts.actions.signing_in import note_guess, refuse_guessing
from atom.accounts.api.invitation_serializers import MAX_PASSWORD, LinkSerializer
from atom.accounts.api.mixins import user_of
from atom.accounts.authentication import SessionAuthentication
from atom.accounts.engines.user_agents import describe
from atom.accounts.errors import ResetLinkInvalid
from atom.accounts.models import Session
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.names import TextField
from atom.core.pagination import KeysetPagination


class BrowserSerializer(serializers.ModelSerializer[Session]):
    """A browser that is signed in, in plain words."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    browser = serializers.SerializerMethodField()
    system = serializers.SerializerMethodField()
    is_current = serializers.SerializerMethodField()

    class Meta:
        model = Session
        fields = (
            "id",
            "browser",
            "system",
            "ip_address",
            "created_at",
            "last_seen_at",
            "is_current",
        )

    def get_browser(self, session: Session) -> str:
        """Return the browser's name; empty if unknown."""
        return describe(session.user_agent)[0]

    def get_system(self, session: Session) -> str:
        """Return the system's name; empty if unknown."""
        return describe(session.user_agent)[1]

    def get_is_current(self, session: Session) -> bool:
        """Return whether this very request came by it."""
        request = self.context["request"]
        return bool(session.session_key == request._request.session.session_key)


class NewPasswordSerializer(serializers.Serializer[Any]):
    """The present password and a new one."""

    current_password = TextField(max_length=MAX_PASSWORD, trim_whitespace=False, write_only=True)
    new_password = TextField(max_length=MAX_PASSWORD, trim_whitespace=False, write_only=True)


class ForgottenSerializer(serializers.Serializer[Any]):
    """The address of an account."""

    email = serializers.EmailField(max_length=254)


class MailSerializer(serializers.Serializer[Any]):
    """Whether this installation can mail links."""

    sends_mail = serializers.BooleanField()


class ResetSerializer(LinkSerializer):
    """A link's token and the new password."""

    password = TextField(max_length=MAX_PASSWORD, trim_whitespace=False, write_only=True)


class ResetOfferSerializer(serializers.Serializer[Any]):
    """Whose password a link sets."""

    username = serializers.CharField()


def live_sessions(**owner: Any) -> QuerySet[Session]:
    """Return sessions that have not expired."""
    return Session.objects.filter(expire_date__gt=Now(), **owner)


class OwnSessionListView(generics.ListAPIView[Session]):
    """The browsers in which the caller is signed in; programs have tokens instead."""

    authentication_classes = (SessionAuthentication,)
    serializer_class = BrowserSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-public_id")

    def get_queryset(self) -> QuerySet[Session]:
        """Return the caller's sessions."""
        if getattr(self, "swagger_fake_view", False):
            return Session.objects.none()
        return live_sessions(user=user_of(self.request))


class OwnSessionView(APIView):
    """One session of the caller."""

    authentication_classes = (SessionAuthentication,)

    @extend_schema(responses={204: None}, operation_id="session_end")
    def delete(self, request: Request, session_id: str) -> Response:
        """End it."""
        user = user_of(request)
        found = Session.objects.filter(user=user, public_id=session_id).first()
        if found is None:
            raise NotFound
        end_session(found, user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EndOthersView(APIView):
    """All sessions of the caller but this one."""

    authentication_classes = (SessionAuthentication,)

    @extend_schema(request=None, responses={204: None}, operation_id="sessions_end_others")
    def post(self, request: Request) -> Response:
        """End them."""
        user = user_of(request)
        end_sessions(user, user, except_key=request._request.session.session_key)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PasswordView(APIView):
    """The caller's password."""

    authentication_classes = (SessionAuthentication,)

    @extend_schema(
        request=NewPasswordSerializer, responses={204: None}, operation_id="password_change"
    )
    def post(self, request: Request) -> Response:
        """Change it; all other sessions end."""
        body = NewPasswordSerializer(data=request.data)
        check(body)
        values = body.validated_data
        change_password(
            request._request,
            user_of(request),
            values["current_password"],
            values["new_password"],
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


@method_decorator(csrf_protect, name="dispatch")
class ForgottenView(APIView):
    """Mail a link to set a forgotten password."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(responses=MailSerializer, operation_id="password_forgotten_options")
    def get(self, request: Request) -> Response:
        """Say whether links can be mailed."""
        return Response({"sends_mail": settings.ATOM_SENDS_MAIL})

    @extend_schema(
        request=ForgottenSerializer, responses={204: None}, operation_id="password_forgotten"
    )
    def post(self, request: Request) -> Response:
        """Mail a link, if the address is an account's; the answer is the same if it is not."""
        refuse_guessing(request._request)
        body = ForgottenSerializer(data=request.data)
        check(body)
        note_guess(request._request)
        request_reset(body.validated_data["email"])
        return Response(status=status.HTTP_204_NO_CONTENT)


@method_decorator(csrf_protect, name="dispatch")
class ResetOfferView(APIView):
    """The account that a link to set a password is for."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(
        request=LinkSerializer, responses=ResetOfferSerializer, operation_id="password_reset_open"
    )
    def post(self, request: Request) -> Response:
        """Return whose password it sets."""
        body = LinkSerializer(data=request.data)
        check(body)
        with _Guarded(request):
            user = find_by_link(body.validated_data["token"])
        return Response({"username": user.username})


@method_decorator(csrf_protect, name="dispatch")
class ResetView(APIView):
    """A password set by a link."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(request=ResetSerializer, responses={204: None}, operation_id="password_reset")
    def post(self, request: Request) -> Response:
        """Set it, and end all sessions of the person."""
        body = ResetSerializer(data=request.data)
        check(body)
        with _Guarded(request):
            set_password_by_link(body.validated_data["token"], body.validated_data["password"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class _Guarded:
    """Counts wrong links as guesses."""

    def __init__(self, request: Request) -> None:
        self._request = request._request

    def __enter__(self) -> None:
        refuse_guessing(self._request)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, ResetLinkInvalid):
            note_guess(self._request)
