"""Sources of a project and their scans."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
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
from atom.core.query import words
from atom.datasets.models import Source, SourceScan
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.actions import scans, sources
from atom.datasets.sources.api.source_serializers import (
    NewSourceSerializer,
    ProbeSerializer,
    ScanSerializer,
    SourceChangesSerializer,
    SourceProbeSerializer,
    SourceSerializer,
)
from atom.datasets.sources.errors import SourceNotFound
from atom_sdk.sentences import Sentence


def _with_last_scan(rows: QuerySet[Source]) -> QuerySet[Source]:
    newest = SourceScan.objects.filter(source=OuterRef("source")).order_by("-created_at", "-id")
    last = SourceScan.objects.filter(pk__in=Subquery(newest.values("pk")[:1]))
    last = last.select_related("version")
    return rows.prefetch_related(Prefetch("scans", queryset=last, to_attr="last_scans"))


class SourceScopedView(ProjectScopedView):
    """A view under `projects/<p>/sources/<name>/`."""

    kwargs: dict[str, Any]

    @property
    def source(self) -> Source:
        """Return the source of the path. Raises SourceNotFound."""
        rows = _with_last_scan(Source.objects.in_project(self.project))
        found = rows.filter(name=self.kwargs["source"]).first()
        if found is None:
            raise SourceNotFound(
                Sentence(
                    "datasets.source_unknown",
                    "{project} has no source {source}.",
                    project=self.project.slug,
                    source=self.kwargs["source"],
                )
            )
        return found


class SourceListView(ProjectScopedView, generics.ListAPIView[Source]):
    """The sources of a project."""

    serializer_class = SourceSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("q",)

    def get_queryset(self) -> QuerySet[Source]:
        """Return the sources with their newest scans."""
        if getattr(self, "swagger_fake_view", False):
            return Source.objects.none()
        found = _with_last_scan(Source.objects.in_project(self.project))
        return found.filter(name__icontains=words(self.request, "q"))

    @extend_schema(parameters=[OpenApiParameter("q", str, description="part of the name")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewSourceSerializer, responses={201: SourceSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Add a source; nothing is scanned yet."""
        body = NewSourceSerializer(data=request.data)
        check(body)
        new = sources.NewSource(**body.validated_data)
        source = sources.add_source(self.project, new, user_of(request))
        return Response(SourceSerializer(source).data, status=status.HTTP_201_CREATED)


class SourceProbeView(ProjectScopedView, APIView):
    """Trying a connection before a source is added."""

    @extend_schema(
        request=SourceProbeSerializer, responses=ProbeSerializer, operation_id="source_probe"
    )
    def post(self, request: Request, project: str) -> Response:
        """List the first objects and read a byte of one; nothing is stored."""
        body = SourceProbeSerializer(data=request.data)
        check(body)
        found = sources.probe(SourceSpec(id="", **body.validated_data))
        return Response(ProbeSerializer(found).data)


class SourceView(SourceScopedView, APIView):
    """One source."""

    @extend_schema(responses=SourceSerializer, operation_id="source_retrieve")
    def get(self, request: Request, project: str, source: str) -> Response:
        """Return the source."""
        return Response(SourceSerializer(self.source).data)

    @extend_schema(
        request=SourceChangesSerializer, responses=SourceSerializer, operation_id="source_change"
    )
    @idempotent
    def patch(self, request: Request, project: str, source: str) -> Response:
        """Change schedule, patterns or credentials."""
        body = SourceChangesSerializer(data=request.data, partial=True)
        check(body)
        sources.change_source(self.source, body.validated_data, user_of(request))
        return Response(SourceSerializer(self.source).data)

    @extend_schema(responses={204: None}, operation_id="source_remove")
    def delete(self, request: Request, project: str, source: str) -> Response:
        """Forget the source and its credentials; no object of it is touched."""
        sources.remove_source(self.source, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ScanListView(SourceScopedView, generics.ListAPIView[SourceScan]):
    """The scans of a source."""

    serializer_class = ScanSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")

    def get_queryset(self) -> QuerySet[SourceScan]:
        """Return the scans, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return SourceScan.objects.none()
        return self.source.scans.select_related("version")

    @extend_schema(request=None, responses={201: ScanSerializer})
    @idempotent
    def post(self, request: Request, project: str, source: str) -> Response:
        """Begin a scan, or go on with one that failed a short while ago."""
        scan = scans.request_scan(self.source, user_of(request))
        return Response(ScanSerializer(scan).data, status=status.HTTP_201_CREATED)


class ScanView(SourceScopedView, APIView):
    """One scan."""

    @extend_schema(responses=ScanSerializer, operation_id="scan_retrieve")
    def get(self, request: Request, project: str, source: str, scan_id: UUID) -> Response:
        """Return the scan."""
        return Response(ScanSerializer(self._scan(scan_id)).data)

    @extend_schema(responses=ScanSerializer, operation_id="scan_cancel")
    def delete(self, request: Request, project: str, source: str, scan_id: UUID) -> Response:
        """Cancel the scan, unless it makes its version already."""
        scan = scans.cancel_scan(self._scan(scan_id), user_of(request))
        return Response(ScanSerializer(scan).data)

    def _scan(self, scan_id: UUID) -> SourceScan:
        found = self.source.scans.select_related("version").filter(pk=scan_id).first()
        if found is None:
            raise NotFound(Sentence("datasets.scan_unknown", "The source has no such scan."))
        return found
