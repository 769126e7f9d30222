"""Garbage collection of a project: past runs, a new one, and taking back what one condemned."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.models import GarbageRun
from atom.datasets.retention.actions.garbage import pardon, start_garbage_run
from atom_sdk.sentences import Sentence


class GarbageRunSerializer(serializers.ModelSerializer[GarbageRun]):
    """One run; `condemned_count` objects of it can still be taken back."""

    requested_by = UserShortSerializer(read_only=True, allow_null=True)
    condemned_count = serializers.IntegerField(read_only=True)
    deleted_count = serializers.IntegerField(read_only=True)
    examples = serializers.ListField(child=serializers.CharField(), read_only=True)
    error = serializers.SerializerMethodField()

    class Meta:
        model = GarbageRun
        fields = (
            "id",
            "is_dry_run",
            "state",
            "requested_by",
            "examined_count",
            "examined_bytes",
            "garbage_count",
            "garbage_bytes",
            "staged_count",
            "staged_bytes",
            "repacked_count",
            "repacked_bytes",
            "repacked_needed_bytes",
            "condemned_count",
            "deleted_count",
            "examples",
            "created_at",
            "finished_at",
            "error",
        )
        read_only_fields = fields

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, run: GarbageRun) -> dict[str, Any] | None:
        """Return why the run failed, null if it did not."""
        otherwise = "Look at the worker's log for the id of this run."
        return stored_failure(run.error_code, run.error_detail, otherwise)


class NewGarbageRunSerializer(serializers.Serializer[Any]):
    """A run; without `is_dry_run: false` it only reports."""

    is_dry_run = serializers.BooleanField(default=True)


class GarbageScopedView(ProjectScopedView):
    """Garbage is the administrators' business."""

    required_roles: ClassVar[dict[str, str]] = {"GET": "admin", "POST": "admin"}
    kwargs: dict[str, Any]

    def runs(self) -> QuerySet[GarbageRun]:
        """Return the project's runs, with what became of the objects they condemned."""
        return (
            GarbageRun.objects.filter(project=self.project)
            .select_related("requested_by", "project")
            .annotate(
                condemned_count=Count(
                    "condemned", filter=Q(condemned__state="condemned"), distinct=True
                ),
                deleted_count=Count("deleted", distinct=True),
            )
        )

    def run(self) -> GarbageRun:
        """Return the run of the path. Raises NotFound."""
        found = self.runs().filter(pk=self.kwargs["garbage_run_id"]).first()
        if found is None:
            raise NotFound(
                Sentence("datasets.garbage_run_unknown", "The project has no such garbage run.")
            )
        return found


class GarbageRunListView(GarbageScopedView, generics.ListAPIView[GarbageRun]):
    """The garbage runs of a project."""

    serializer_class = GarbageRunSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ()

    def get_queryset(self) -> QuerySet[GarbageRun]:
        """Return the runs, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return GarbageRun.objects.none()
        return self.runs()

    @extend_schema(request=NewGarbageRunSerializer, responses={202: GarbageRunSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Look for garbage; with `is_dry_run: false`, condemn it and delete what is due."""
        body = NewGarbageRunSerializer(data=request.data)
        check(body)
        run = start_garbage_run(self.project, user_of(request), **body.validated_data)
        found = self.runs().get(pk=run.pk)
        return Response(GarbageRunSerializer(found).data, status=status.HTTP_202_ACCEPTED)


class GarbageRunView(GarbageScopedView, APIView):
    """One garbage run."""

    @extend_schema(responses=GarbageRunSerializer, operation_id="garbage_run_retrieve")
    def get(self, request: Request, project: str, garbage_run_id: UUID) -> Response:
        """Return the run."""
        return Response(GarbageRunSerializer(self.run()).data)


class GarbageRunPardonView(GarbageScopedView, APIView):
    """Taking back what a run condemned."""

    @extend_schema(request=None, responses=GarbageRunSerializer, operation_id="garbage_run_pardon")
    def post(self, request: Request, project: str, garbage_run_id: UUID) -> Response:
        """Keep the run's condemned objects for another undo window."""
        pardon(self.run(), user_of(request))
        return Response(GarbageRunSerializer(self.run()).data)
