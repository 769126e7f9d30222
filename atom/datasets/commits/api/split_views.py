"""Splitting what is there: a look beforehand, and a new version with the same files."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.actions.commits import request_split
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer
from atom.datasets.commits.api.split_serializers import (
    NewSplitSerializer,
    SplitPreviewSerializer,
    SplitSerializer,
)
from atom.datasets.commits.splits import preview_split, written_out
from atom_sdk.manifests.split_requests import SplitRequest


class SplitListView(DatasetScopedView, APIView):
    """Asking for splits."""

    @extend_schema(request=NewSplitSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker for a version of the branch's head with this split."""
        body = NewSplitSerializer(data=request.data)
        check(body)
        split = dict(body.validated_data)
        branch, message = split.pop("branch"), split.pop("message")
        asked = written_out(self.dataset, split)
        commit = request_split(self.dataset, branch, message, asked, user_of(request))
        commit.refresh_from_db()
        return Response(CommitRequestSerializer(commit).data, status=status.HTTP_202_ACCEPTED)


class SplitPreviewView(DatasetScopedView, APIView):
    """A split that nobody has asked for yet."""

    @extend_schema(
        operation_id="split_preview",
        parameters=[SplitSerializer],
        responses=SplitPreviewSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return how many files of each label every split would get."""
        body = SplitSerializer(data=request.query_params.dict())
        check(body)
        asked = written_out(self.dataset, body.validated_data)
        counts = preview_split(self.version, SplitRequest.from_json(asked))
        return Response({"splits": [asdict(count) for count in counts]})
