"""Invitations: administrators make them, whoever holds the link accepts."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.actions.invitations import (
    NewInvitation,
    NewPerson,
    accept_as,
    accept_as_new,
    invite,
    open_invitation,
    renew_invitation,
    revoke_invitation,
)
from atom.accounts.actions.signing_in import note_guess, refuse_guessing
from atom.accounts.api.invitation_serializers import (
    AcceptedSerializer,
    InvitationSerializer,
    LinkSerializer,
    MadeInvitationSerializer,
    NewInvitationSerializer,
    NewPersonSerializer,
    OpenInvitationSerializer,
    RenewalSerializer,
)
from atom.accounts.api.mixins import user_of
from atom.accounts.api.scopes import OfProject, OfUnit, PlaceView
from atom.accounts.api.sign_in import let_in
from atom.accounts.authentication import SessionAuthentication
from atom.accounts.errors import InvitationOver, InvitationUnknown
from atom.accounts.models import Invitation, Project
from atom.accounts.reads import scope_fields
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination


def _shown(made: NewInvitation) -> dict[str, Any]:
    row = InvitationSerializer(made.invitation).data
    return {**row, "link": made.link, "mail": made.mail}


class _InvitationList(PlaceView, generics.ListAPIView[Invitation]):
    serializer_class = InvitationSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return the pending invitations, also those that have expired."""
        if getattr(self, "swagger_fake_view", False):
            return Invitation.objects.none()
        pending = Invitation.objects.pending().filter(**scope_fields(self.place))
        return pending.select_related("invited_by")

    @extend_schema(request=NewInvitationSerializer, responses={201: MadeInvitationSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Invite somebody. The link is in this answer only, so the call is not replayable."""
        body = NewInvitationSerializer(data=request.data)
        check(body)
        values = body.validated_data
        made = invite(self.place, user_of(request), values["role"], values["email"], values["days"])
        return Response(_shown(made), status=status.HTTP_201_CREATED)


class _InvitationView(PlaceView, APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, invitation_id: str, **kwargs: Any) -> Response:
        """Take the invitation back."""
        revoke_invitation(find_invitation(self, invitation_id), user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class _Renewal(PlaceView, APIView):
    @extend_schema(request=RenewalSerializer, responses=MadeInvitationSerializer)
    def post(self, request: Request, invitation_id: str, **kwargs: Any) -> Response:
        """Make a new link, and mail it; the old one is worthless."""
        body = RenewalSerializer(data=request.data)
        check(body)
        found = find_invitation(self, invitation_id)
        made = renew_invitation(found, user_of(request), body.validated_data["days"])
        return Response(_shown(made))


def find_invitation(view: PlaceView, pk: str) -> Invitation:
    """Return an invitation of the view's place. Raises NotFound."""
    found = Invitation.objects.filter(pk=pk, **scope_fields(view.place)).first()
    if found is None:
        raise NotFound
    return found


class ProjectInvitationListView(OfProject, _InvitationList):
    """The pending invitations to a project."""


class UnitInvitationListView(OfUnit, _InvitationList):
    """The pending invitations to a unit."""


class ProjectInvitationView(OfProject, _InvitationView):
    """One invitation to a project."""


class UnitInvitationView(OfUnit, _InvitationView):
    """One invitation to a unit."""


class ProjectInvitationRenewalView(OfProject, _Renewal):
    """A new link for an invitation to a project."""


class UnitInvitationRenewalView(OfUnit, _Renewal):
    """A new link for an invitation to a unit."""


@method_decorator(csrf_protect, name="dispatch")
class OpenInvitationView(APIView):
    """The offer of a link. The link comes in the body, since logs contain addresses."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(
        request=LinkSerializer, responses=OpenInvitationSerializer, operation_id="invitation_open"
    )
    def post(self, request: Request) -> Response:
        """Return what the invitation offers; say why if it cannot be used."""
        body = LinkSerializer(data=request.data)
        check(body)
        found = _guarded(request, body.validated_data["token"])
        inviter = found.invited_by
        scope = found.scope
        return Response(
            OpenInvitationSerializer(
                {
                    "place": scope.name,
                    "kind": "project" if isinstance(scope, Project) else "unit",
                    "role": found.role,
                    "invited_by": (inviter.full_name or inviter.username) if inviter else "",
                    "email": found.email,
                    "expires_at": found.expires_at,
                }
            ).data
        )


def _guarded(request: Request, token: str) -> Invitation:
    refuse_guessing(request._request)
    try:
        return open_invitation(token)
    except (InvitationUnknown, InvitationOver):
        note_guess(request._request)
        raise


@method_decorator(csrf_protect, name="dispatch")
class SignUpView(APIView):
    """An invitation accepted with a new account, which is signed in then."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(
        request=NewPersonSerializer, responses=AcceptedSerializer, operation_id="invitation_sign_up"
    )
    def post(self, request: Request) -> Response:
        """Make the account, give it the role and start a session."""
        body = NewPersonSerializer(data=request.data)
        check(body)
        values = dict(body.validated_data)
        token = values.pop("token")
        found = _guarded(request, token)
        user = accept_as_new(NewPerson(**values), token)
        # Every sign-in records its place, so that the first one from elsewhere notifies.
        let_in(request._request, user)
        return Response(_accepted(found))


class AcceptInvitationView(APIView):
    """Accept an invitation as a signed-in person; tokens of programs may not."""

    authentication_classes = (SessionAuthentication,)

    @extend_schema(
        request=LinkSerializer, responses=AcceptedSerializer, operation_id="invitation_accept"
    )
    def post(self, request: Request) -> Response:
        """Give the role to the caller."""
        body = LinkSerializer(data=request.data)
        check(body)
        token = body.validated_data["token"]
        _guarded(request, token)
        return Response(_accepted(accept_as(user_of(request), token)))


def _accepted(invitation: Invitation) -> dict[str, Any]:
    project = invitation.project
    return {
        "place": invitation.scope.name,
        "project": project.slug if project else None,
        "unit": str(invitation.unit_id) if invitation.unit_id else None,
    }
