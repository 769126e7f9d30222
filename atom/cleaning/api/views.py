"""Cleaning reports: start, follow, look at, and act on what they found."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.cleaning import actions, reads
from atom.cleaning.actions import Removal
from atom.cleaning.api.serializers import (
    KINDS,
    CleaningReportSerializer,
    FindingPageSerializer,
    FindingPathsSerializer,
    RemovalSerializer,
    ThresholdsSerializer,
)
from atom.cleaning.errors import ReportNotFound
from atom.cleaning.models import CleaningReport
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination, decode_cursor, encode_cursor, parse_limit
from atom.core.query import check_choices, refuse_unknown
from atom.core.sentences import cursor_invalid
from atom.datasets.browsing.api.rendering import EntryRenderer
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer

_KIND = OpenApiParameter("kind", str, enum=KINDS, required=True)
_CURSOR = OpenApiParameter("cursor", str, description="`next` of the last page.")
_OFFSET_DIGITS = 12


class ReportListView(DatasetScopedView, generics.GenericAPIView[CleaningReport]):
    """The reports of a version."""

    serializer_class = CleaningReportSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[CleaningReport]:
        """Return the reports."""
        if getattr(self, "swagger_fake_view", False):
            return CleaningReport.objects.none()
        return CleaningReport.objects.for_display().filter(version=self.version)

    @extend_schema(
        responses=CleaningReportSerializer(many=True), operation_id="cleaning_reports_list"
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        rows = self.paginate_queryset(self.get_queryset()) or []
        return self.get_paginated_response(CleaningReportSerializer(rows, many=True).data)

    @extend_schema(
        request=ThresholdsSerializer,
        responses={202: CleaningReportSerializer},
        operation_id="cleaning_reports_create",
    )
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Start a report; the images that were not measured before are measured by a run."""
        body = ThresholdsSerializer(data=request.data)
        check(body)
        made = actions.start_report(self.version, body.thresholds(), user_of(request))
        report = CleaningReport.objects.for_display().get(pk=made.pk)
        return Response(CleaningReportSerializer(report).data, status=status.HTTP_202_ACCEPTED)


class ReportScopedView(ProjectScopedView, APIView):
    """Below `cleaning/<report>/`."""

    @cached_property
    def report(self) -> CleaningReport:
        """The report of the path. Raises ReportNotFound."""
        reports = CleaningReport.objects.for_display().in_project(self.project)
        found = reports.filter(pk=self.kwargs["report_id"]).first()
        if found is None:
            raise ReportNotFound
        return found


class ReportView(ReportScopedView):
    """One report."""

    @extend_schema(responses=CleaningReportSerializer, operation_id="cleaning_reports_retrieve")
    def get(self, request: Request, project: str, report_id: UUID) -> Response:
        """Return the report with its counts."""
        return Response(CleaningReportSerializer(self.report).data)


class CancelView(ReportScopedView):
    """Stopping a report."""

    @extend_schema(request=None, responses=CleaningReportSerializer)
    def post(self, request: Request, project: str, report_id: UUID) -> Response:
        """Stop making the report, and its run."""
        actions.cancel_report(self.report, user_of(request))
        report = CleaningReport.objects.for_display().get(pk=report_id)
        return Response(CleaningReportSerializer(report).data)


class FindingsView(ReportScopedView):
    """What was found."""

    @extend_schema(
        operation_id="cleaning_findings",
        parameters=[
            _KIND,
            OpenApiParameter("limit", int, description="At most 200; default 50."),
            _CURSOR,
        ],
        responses=FindingPageSerializer,
    )
    def get(self, request: Request, project: str, report_id: UUID) -> Response:
        """Return one page of a kind, the worst first."""
        refuse_unknown(request, ("kind", "limit", "cursor"))
        kind, start, limit = _kind_of(request), _start_of(request), parse_limit(request)
        rows, total = reads.page(self.report, kind, start, limit)
        browser = open_version(self.report.version)
        renderer = EntryRenderer(self.project)
        entries = renderer.render_at(browser, [row["path"] for row in rows])
        for row in rows:
            row["entry"] = entries.get(row["path"])
        following = _next(start + len(rows), total)
        return Response({"results": rows, "next": following, "total": total})


class FindingPathsView(ReportScopedView):
    """All files of a kind that should go."""

    @extend_schema(
        operation_id="cleaning_finding_paths",
        parameters=[_KIND, _CURSOR],
        responses=FindingPathsSerializer,
    )
    def get(self, request: Request, project: str, report_id: UUID) -> Response:
        """Return the paths; of a group, all but the one that stays."""
        refuse_unknown(request, ("kind", "cursor"))
        start = _start_of(request)
        paths, total = reads.selected_paths(self.report, _kind_of(request), start)
        following = _next(start + len(paths), total)
        return Response({"paths": paths, "next": following, "total": total})


class RemovalView(ReportScopedView):
    """Removing findings from the dataset."""

    @extend_schema(
        request=RemovalSerializer,
        responses={202: CommitRequestSerializer},
        operation_id="cleaning_removals_create",
    )
    @idempotent
    def post(self, request: Request, project: str, report_id: UUID) -> Response:
        """Ask a worker for a version of the branch without these files."""
        body = RemovalSerializer(data=request.data)
        check(body)
        removal = Removal(**body.validated_data)
        commit = actions.request_removal(self.report, removal, user_of(request))
        commit.refresh_from_db()
        return Response(CommitRequestSerializer(commit).data, status=status.HTTP_202_ACCEPTED)


def _kind_of(request: Request) -> str:
    kind: str = request.query_params.get("kind", "")
    check_choices("kind", [kind], KINDS)
    return kind


def _next(end: int, total: int) -> str | None:
    return encode_cursor([end]) if end < total else None


def _start_of(request: Request) -> int:
    cursor = request.query_params.get("cursor")
    if not cursor:
        return 0
    start = decode_cursor(cursor, 1)[0]
    if not (start.isascii() and start.isdigit() and len(start) <= _OFFSET_DIGITS):
        raise Invalid(errors={"cursor": [cursor_invalid()]})
    return int(start)
