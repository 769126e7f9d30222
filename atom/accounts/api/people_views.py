"""All people of the installation, for its administrators; others get 404."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.actions.passwords import make_reset_link
from atom.accounts.actions.people import deactivate, reactivate
from atom.accounts.actions.second_factor import reset_second_factor
from atom.accounts.actions.sessions import end_sessions
from atom.accounts.api.mixins import ScopedView, token_of, user_of
from atom.accounts.api.scopes import find_person
from atom.accounts.models import SecondFactor, User
from atom.accounts.permissions import require_scope
from atom.accounts.reads import named, people
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination
from atom.core.query import choice, words

STATES = ("active", "inactive")


class AccountSerializer(serializers.ModelSerializer[User]):
    """A person of the installation."""

    is_admin = serializers.BooleanField(source="is_superuser", read_only=True)
    role_count = serializers.IntegerField(read_only=True)
    session_count = serializers.IntegerField(read_only=True)
    has_second_factor = serializers.BooleanField(read_only=True)
    last_seen_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = User
        fields = (
            "id",
            "username",
            "full_name",
            "email",
            "is_active",
            "is_admin",
            "role_count",
            "session_count",
            "has_second_factor",
            "last_seen_at",
            "date_joined",
        )


class ChangedPersonSerializer(serializers.Serializer[Any]):
    """Whether the person may sign in."""

    is_active = serializers.BooleanField()


class ResetLinkSerializer(serializers.Serializer[Any]):
    """A link that sets a new password once."""

    link = serializers.CharField()


def require_installation(request: Request) -> None:
    """Refuse all but administrators of the installation, and tokens that do not administer."""
    token = token_of(request)
    if not user_of(request).is_superuser or (token and token.project_id is not None):
        raise NotFound
    require_scope(token, "admin")


class InstallationView(ScopedView):
    """For administrators of the installation: 404 for everybody else."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse everybody else, and tokens that do not administer."""
        super().initial(request, *args, **kwargs)
        require_installation(request)


def shown_people() -> QuerySet[User]:
    """Return people with what a list shows."""
    confirmed = SecondFactor.objects.filter(user=OuterRef("pk"), confirmed_at__isnull=False)
    live = Q(sessions__expire_date__gt=Now())
    return people().annotate(
        role_count=Count("role_bindings", distinct=True),
        session_count=Count("sessions", filter=live, distinct=True),
        last_seen_at=Max("sessions__last_seen_at"),
        has_second_factor=Exists(confirmed),
    )


class PersonListView(InstallationView, generics.ListAPIView[User]):
    """The people of the installation."""

    serializer_class = AccountSerializer
    pagination_class = KeysetPagination
    keyset = ("username",)
    filters = ("q", "state")

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="Part of the name or address."),
            OpenApiParameter(
                "state", str, enum=STATES, description="Accounts that may sign in, or may not."
            ),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, by user name."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[User]:
        """Return the people that the query chooses."""
        if getattr(self, "swagger_fake_view", False):
            return User.objects.none()
        found = named(shown_people(), words(self.request, "q"))
        if state := choice(self.request, "state", STATES):
            found = found.filter(is_active=state == "active")
        return found


class PersonView(InstallationView, APIView):
    """One person."""

    @extend_schema(request=ChangedPersonSerializer, responses=AccountSerializer)
    def patch(self, request: Request, user_id: str) -> Response:
        """Deactivate the person, which ends sessions, tokens and invitations; or let them in."""
        person = find_person(user_id)
        body = ChangedPersonSerializer(data=request.data)
        check(body)
        act = reactivate if body.validated_data["is_active"] else deactivate
        act(person, user_of(request))
        return Response(AccountSerializer(shown_people().get(pk=person.pk)).data)


class PersonSessionsView(InstallationView, APIView):
    """The sessions of a person."""

    @extend_schema(responses={204: None}, operation_id="person_sessions_end")
    def delete(self, request: Request, user_id: str) -> Response:
        """End all of them."""
        end_sessions(find_person(user_id), user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class PersonSecondFactorView(InstallationView, APIView):
    """The second factor of a person who has lost it."""

    @extend_schema(responses={204: None}, operation_id="person_second_factor_reset")
    def delete(self, request: Request, user_id: str) -> Response:
        """Forget it, and end the person's sessions."""
        if not reset_second_factor(find_person(user_id), user_of(request)):
            raise NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)


class PersonResetLinkView(InstallationView, APIView):
    """A way back in for a person, where no mail is sent."""

    @extend_schema(
        request=None, responses={201: ResetLinkSerializer}, operation_id="person_reset_link"
    )
    def post(self, request: Request, user_id: str) -> Response:
        """Make a link that sets a new password once; hand it over by a way that is safe."""
        person = find_person(user_id)
        if not person.is_active:
            raise NotFound
        link = make_reset_link(person, user_of(request))
        return Response({"link": link}, status=status.HTTP_201_CREATED)
