"""Labels from class folders, asked for when the files are there already."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.fields import SlugField
from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.names import TextField
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.actions.folder_labels import request_folder_labels
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer


class FolderLabelsSerializer(serializers.Serializer[Any]):
    """A request for labels from class folders."""

    branch = SlugField(default="main")
    message = TextField(max_length=10_000, allow_blank=True, default="")


class FolderLabelsView(DatasetScopedView, APIView):
    """Labelling what is there by its folders."""

    @extend_schema(
        operation_id="dataset_label_by_folder",
        request=FolderLabelsSerializer,
        responses={202: CommitRequestSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker for a version whose files have their last folder's name as label."""
        body = FolderLabelsSerializer(data=request.data)
        check(body)
        commit = request_folder_labels(self.dataset, **body.validated_data, user=user_of(request))
        commit.refresh_from_db()
        return Response(CommitRequestSerializer(commit).data, status=status.HTTP_202_ACCEPTED)
