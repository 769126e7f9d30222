"""Members of projects and of units: roles, and the places that give them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import actions
from atom.accounts.api.member_serializers import (
    CandidateSerializer,
    MemberSerializer,
    NewMemberSerializer,
    NewRoleSerializer,
)
from atom.accounts.api.mixins import user_of
from atom.accounts.api.scopes import OfProject, OfUnit, PlaceView, find_person
from atom.accounts.models import ROLES, User
from atom.accounts.reads import bindings_reaching, candidates_for, members_of, people
from atom.core.bodies import check
from atom.core.errors import Invalid, NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice, refuse_unknown, words


class _MemberList(PlaceView, generics.ListAPIView[User]):
    serializer_class = MemberSerializer
    pagination_class = KeysetPagination
    keyset = ("username",)
    filters = ("q", "role")

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the place, to distinguish own roles from those of units above."""
        if getattr(self, "swagger_fake_view", False):
            return {**super().get_serializer_context()}
        return {**super().get_serializer_context(), "place": self.place}

    def get_queryset(self) -> QuerySet[User]:
        """Return the people with a role here, by name."""
        if getattr(self, "swagger_fake_view", False):
            return User.objects.none()
        found = members_of(self.place, words(self.request, "q"))
        if role := choice(self.request, "role", ROLES):
            having = bindings_reaching(self.place).filter(role=role)
            found = found.filter(pk__in=having.values("user"))
        return found

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="Part of the name or address."),
            OpenApiParameter(
                "role", str, enum=ROLES, description="People who have this role, by any way."
            ),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, by user name."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewMemberSerializer, responses={201: MemberSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Give a person, who has an account, a role here."""
        body = NewMemberSerializer(data=request.data)
        check(body)
        name = body.validated_data["username"]
        person = people().filter(username=name, is_active=True).first()
        if person is None:
            said = ErrorDetail("There is nobody of that name.", code="does_not_exist")
            raise Invalid(errors={"username": [said]})
        actions.add_member(person, body.validated_data["role"], self.place, user_of(request))
        shown = self.get_serializer(members_of(self.place).get(pk=person.pk))
        return Response(shown.data, status=status.HTTP_201_CREATED)


class _MemberView(PlaceView, APIView):
    @extend_schema(request=NewRoleSerializer, responses=MemberSerializer)
    def patch(self, request: Request, user_id: str, **kwargs: Any) -> Response:
        """Change the role that was given here."""
        person = self._member(user_id)
        body = NewRoleSerializer(data=request.data)
        check(body)
        actions.change_role(person, body.validated_data["role"], self.place, user_of(request))
        changed = members_of(self.place).get(pk=person.pk)
        return Response(MemberSerializer(changed, context={"place": self.place}).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, user_id: str, **kwargs: Any) -> Response:
        """Take the role away, and revoke the person's keys of what they no longer may see."""
        actions.remove_member(self._member(user_id), self.place, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _member(self, user_id: str) -> User:
        person = find_person(user_id)
        if not bindings_reaching(self.place).filter(user=person).exists():
            raise NotFound
        return person


class _Candidates(PlaceView, APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="Begins the user name, or is in the full one.")
        ],
        responses=CandidateSerializer(many=True),
    )
    def get(self, request: Request, **kwargs: Any) -> Response:
        """Return up to ten people of the organisation who have no role of their own here."""
        refuse_unknown(request, ("q",))
        found = candidates_for(self.place, user_of(request), words(request, "q"))
        return Response(CandidateSerializer(found, many=True).data)


class ProjectMemberListView(OfProject, _MemberList):
    """The members of a project."""


class UnitMemberListView(OfUnit, _MemberList):
    """The members of a unit."""


class ProjectMemberView(OfProject, _MemberView):
    """One member of a project."""


class UnitMemberView(OfUnit, _MemberView):
    """One member of a unit."""


class ProjectCandidatesView(OfProject, _Candidates):
    """People who could be added to a project."""


class UnitCandidatesView(OfUnit, _Candidates):
    """People who could be added to a unit."""
