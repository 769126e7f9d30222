"""The activity of a dataset, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.core.errors import Invalid
from atom.core.pagination import decode_cursor, encode_cursor, parse_limit
from atom.core.query import refuse_unknown
from atom.core.sentences import cursor_invalid
from atom.datasets.browsing.activity import KINDS, ActivityFilter, activity
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import VersionShortSerializer
from atom_sdk.sentences import Sentence

_MAX_NAME = 150


class HappeningSerializer(serializers.Serializer[Any]):
    """One line of a dataset's activity."""

    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=KINDS)
    verb = serializers.CharField(help_text="For instance `tag.created` or `version.merge`.")
    actor = serializers.CharField(help_text="A user name; empty for Atom itself.")
    object_id = serializers.CharField()
    data = serializers.DictField(help_text="Names and numbers of what was done.")  # type: ignore[assignment]
    version = VersionShortSerializer(allow_null=True)


class ActivityPageSerializer(serializers.Serializer[Any]):
    """One page of a dataset's activity."""

    results = HappeningSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class ActivityView(DatasetScopedView, APIView):
    """The events of a dataset, with the person who caused each."""

    @extend_schema(
        operation_id="dataset_activity",
        parameters=[
            OpenApiParameter("kind", str, description=f"Some of {', '.join(KINDS)}, by commas."),
            OpenApiParameter("actor", str, description="A user name."),
            OpenApiParameter("limit", int, description="At most 200; default 50."),
            OpenApiParameter("cursor", str, description="`next` of the last page."),
        ],
        responses=ActivityPageSerializer,
    )
    def get(self, request: Request, project: str, dataset: str) -> Response:
        """Return its versions and what was done around them, newest first."""
        refuse_unknown(request, ("kind", "actor", "limit", "cursor"))
        limit = parse_limit(request)
        lines = activity(self.dataset, _activity_filter(request), limit + 1)
        last = lines[limit - 1] if len(lines) > limit else None
        shown: Any = HappeningSerializer(lines[:limit], many=True).data
        return Response({"results": shown, "next": encode_cursor(last.key) if last else None})


def _activity_filter(request: Request) -> ActivityFilter:
    kinds = tuple(filter(None, request.query_params.get("kind", "").split(",")))
    if set(kinds) - set(KINDS):
        raise Invalid(
            errors={
                "kind": [
                    Sentence("fields.some_of", "Give some of {choices}.", choices=", ".join(KINDS))
                ]
            }
        )
    actor = request.query_params.get("actor", "")[:_MAX_NAME]
    return ActivityFilter(kinds, actor, _before(request))


def _before(request: Request) -> tuple[datetime, UUID] | None:
    cursor = request.query_params.get("cursor")
    if not cursor:
        return None
    at, pk = decode_cursor(cursor, 2)
    try:
        when, found = datetime.fromisoformat(at), UUID(pk)
    except ValueError:
        when, found = None, None
    if when is None or found is None or when.tzinfo is None:
        raise Invalid(errors={"cursor": [cursor_invalid()]})
    return when, found
