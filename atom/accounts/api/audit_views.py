"""The audit trail: filtered, page by page, or whole as a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ScopedView, token_of, user_of
from atom.accounts.api.serializers import AuditEventSerializer
from atom.accounts.models import AuditEvent, Project, User
from atom.accounts.reads import roles_of
from atom.core.errors import Invalid, PermissionDenied
from atom.core.pagination import KeysetPagination
from atom.core.query import choice, refuse_unknown
from atom.core.streaming import streamed
from atom_sdk.sentences import Sentence

FILTERS = ("project", "actor", "verb", "object", "from", "to")
FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
_COLUMNS = (
    "at", "actor", "verb", "object_type", "object_id", "project", "data", "request_id", "id"
)  # fmt: skip
_ROWS_AT_ONCE = 500
# A spreadsheet reads a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_PARAMETERS = [
    OpenApiParameter("project", str, description="Project slug."),
    OpenApiParameter("actor", str, description="User name."),
    OpenApiParameter(
        "verb", str, description="For instance `token.created`, or `token` for all of them."
    ),
    OpenApiParameter("object", str, description="Kind or id of what it was done to."),
    OpenApiParameter("from", OpenApiTypes.DATETIME, description="Not before this time."),
    OpenApiParameter("to", OpenApiTypes.DATETIME, description="Before this time."),
]


class AuditListView(ScopedView, generics.ListAPIView[AuditEvent]):
    """The audit trail of the projects that the caller administers."""

    serializer_class = AuditEventSerializer
    pagination_class = KeysetPagination
    keyset = ("-at", "-id")
    filters = FILTERS

    @extend_schema(parameters=_PARAMETERS)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return events, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[AuditEvent]:
        """Return what the caller may see, filtered by the query."""
        if getattr(self, "swagger_fake_view", False):
            return AuditEvent.objects.none()
        return selected(self.request)


class AuditExportView(ScopedView, APIView):
    """The events of the audit log that a filter selects, as a file."""

    @extend_schema(
        parameters=[
            *_PARAMETERS,
            OpenApiParameter("as", str, enum=tuple(FORMATS), description="Default: csv."),
        ],
        responses={
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/x-ndjson"): OpenApiTypes.STR,
        },
        operation_id="audit_export",
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Stream the events, newest first."""
        refuse_unknown(request, (*FILTERS, "as"))
        form = choice(request, "as", FORMATS, "csv")
        pages = _pages(selected(request))
        lines = as_csv(pages) if form == "csv" else as_json_lines(pages)
        response = StreamingHttpResponse(streamed(lines), content_type=FORMATS[form])
        response["Content-Disposition"] = f'attachment; filename="audit.{form}"'
        response["Cache-Control"] = "no-store"
        return response


def selected(request: Request) -> QuerySet[AuditEvent]:
    """Return the events that the caller may see and asks for. Raises Invalid for a bad filter."""
    user, query = user_of(request), request.query_params
    administered = _administered(user)
    events = AuditEvent.objects.select_related("project")
    if not user.is_superuser:
        events = events.filter(project__in=administered)
    token = token_of(request)
    if token is not None and token.project_id is not None:
        events = events.filter(project=token.project_id)
    choice(request, "project", administered.values())
    lookups = {"project": "project__slug", "actor": "actor_name"}
    events = events.filter(**{lookups[name]: query[name] for name in lookups if query.get(name)})
    if verb := query.get("verb"):
        whole = Q(verb=verb) if "." in verb else Q(verb__startswith=f"{verb}.")
        events = events.filter(whole)
    if thing := query.get("object"):
        events = events.filter(Q(object_type=thing) | Q(object_id=thing))
    if since := _time(request, "from"):
        events = events.filter(at__gte=since)
    if until := _time(request, "to"):
        events = events.filter(at__lt=until)
    return events


def _time(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        # A plus in an address is a space.
        found = parse_datetime(text.replace(" ", "+"))
        if found is not None and found.tzinfo is not None:
            # PostgreSQL knows fewer zones than Python does, and both only some years.
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    said = Sentence(
        "fields.time_with_zone", "Give a time with its zone, like 2026-01-31T08:00:00Z."
    )
    raise Invalid(errors={name: [said]})


def _administered(user: User) -> dict[Any, str]:
    """Return `{id: slug}` of the projects that the user administers. Raises PermissionDenied."""
    ids = [pk for pk, role in roles_of(user).items() if role == "admin"]
    if not ids and not user.is_superuser:
        raise PermissionDenied(
            Sentence(
                "accounts.audit_needs_administrator", "Only administrators read the audit trail."
            )
        )
    return dict(Project.objects.filter(pk__in=ids).values_list("pk", "slug"))


def _pages(events: QuerySet[AuditEvent]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in pages by key: a long download holds neither memory nor a transaction."""
    rest = events.order_by("-at", "-id")
    while page := list(rest[:_ROWS_AT_ONCE]):
        shown: Any = AuditEventSerializer(page, many=True).data
        yield [dict(row) for row in shown]
        last = page[-1]
        rest = events.filter(Q(at__lt=last.at) | Q(at=last.at, id__lt=last.id))
        rest = rest.order_by("-at", "-id")


def as_csv(pages: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the rows as CSV; no cell is a formula to a spreadsheet."""
    yield _csv_lines([list(_COLUMNS)])
    for page in pages:
        yield _csv_lines([_cell(row[name]) for name in _COLUMNS] for row in page)


def as_json_lines(pages: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the rows as JSON, one in a line."""
    for page in pages:
        yield "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in page)


def _csv_lines(rows: Iterable[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False, default=str) if value else ""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
