"""Deleted datasets of a project: what there is, and taking one back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.datasets.catalog.api.serializers import DatasetSerializer
from atom.datasets.models import Dataset
from atom.datasets.retention.actions.deletion import restore_dataset


class DeletedDatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A deleted dataset; from `restorable_until` on its files may be collected."""

    deleted_by = UserShortSerializer(read_only=True, allow_null=True)
    deleted_at = serializers.DateTimeField(read_only=True)
    versions_count = serializers.IntegerField(read_only=True)
    restorable_until = serializers.SerializerMethodField()

    class Meta:
        model = Dataset
        fields = (
            "id",
            "name",
            "description",
            "versions_count",
            "deleted_at",
            "deleted_by",
            "restorable_until",
        )
        read_only_fields = fields

    def get_restorable_until(self, dataset: Dataset) -> datetime | None:
        """Return when the undo window closes."""
        if dataset.deleted_at is None:
            return None
        return dataset.deleted_at + timedelta(days=settings.GARBAGE_UNDO_DAYS)


class DeletedDatasetListView(ProjectScopedView, generics.ListAPIView[Dataset]):
    """The deleted datasets of a project."""

    serializer_class = DeletedDatasetSerializer
    pagination_class = KeysetPagination
    keyset = ("-deleted_at", "-id")
    filters = ()

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return what can be restored, the latest first."""
        if getattr(self, "swagger_fake_view", False):
            return Dataset.with_deleted.none()
        return Dataset.with_deleted.deleted_in(self.project).with_versions_count()


class DatasetRestoreView(ProjectScopedView, APIView):
    """Taking back a deletion."""

    required_roles: ClassVar[dict[str, str]] = {"POST": "admin"}

    @extend_schema(request=None, responses=DatasetSerializer, operation_id="dataset_restore")
    @idempotent
    def post(self, request: Request, project: str, dataset_id: UUID) -> Response:
        """Bring a deleted dataset back, with all that it had."""
        restored = restore_dataset(self.project, dataset_id, user_of(request))
        found = Dataset.objects.in_project(self.project).with_summary().get(pk=restored.pk)
        return Response(DatasetSerializer(found).data)
