"""People who may label in a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.accounts.api.serializers import UserShortSerializer
from atom.accounts.models import Project, User
from atom.accounts.permissions import role_in
from atom.core.errors import Invalid
from atom.core.query import refuse_unknown, words
from atom.labeling import permissions
from atom.labeling.reads import labelers_of
from atom_sdk.sentences import Sentence

MAX_SUGGESTED = 20


def people_named(project: Project, names: Sequence[str]) -> list[User]:
    """Return the people with these user names who may label in the project. Raises Invalid."""
    people = {one.username: one for one in User.objects.filter(username__in=names, is_active=True)}
    unknown = [
        name
        for name in names
        if name not in people
        or not permissions.may(role_in(people[name], project), permissions.LABEL)
    ]
    if unknown:
        sentence = Sentence(
            "labeling.not_a_labeler", "There is no person {name} who may label here.",
            name=unknown[0],
        )  # fmt: skip
        raise Invalid(errors={"assignees": [sentence]})
    return list(people.values())


class LabelersView(ProjectScopedView, APIView):
    """People who may label, for a picker of assignees."""

    filters = ("q",)

    @extend_schema(
        responses=UserShortSerializer(many=True),
        parameters=[OpenApiParameter("q", str, description="part of the name or address")],
        operation_id="labelx_labelers_list",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the first of them, by user name."""
        refuse_unknown(request, self.filters)
        able = labelers_of(self.project, words(request, "q"))[:MAX_SUGGESTED]
        return Response(UserShortSerializer(able, many=True).data)
