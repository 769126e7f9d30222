"""Merges, reverts, cherry-picks and edits: each is asked for, or looked at first."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.datasets.browsing.actions.dismissals import dismiss_ended_operations, dismiss_operation
from atom.datasets.browsing.api.rendering import EntryRenderer
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.reads import operations_of_now
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer
from atom.datasets.models import CommitRequest
from atom.datasets.operations.actions.operations import (
    NewOperation,
    ShownConflict,
    preview_operation,
    request_operation,
)
from atom.datasets.operations.api.operation_serializers import (
    EditSerializer,
    MergeSerializer,
    OperationPreviewSerializer,
    OperationSerializer,
    PickSerializer,
    RevertSerializer,
    RunningOperationSerializer,
)


class OperationListView(DatasetScopedView, generics.ListAPIView[CommitRequest]):
    """Operations that the server runs for people, or ended lately."""

    serializer_class = RunningOperationSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")

    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Return merges, reverts, picks, edits and splits, newest first.

        These run, made a version within ten minutes, or failed within seven days; those that the
        caller has dismissed are left out.
        """
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[CommitRequest]:
        """Return the dataset's operations."""
        if getattr(self, "swagger_fake_view", False):
            return CommitRequest.objects.none()
        return operations_of_now(self.dataset, user_of(self.request))


class OperationDismissView(DatasetScopedView, APIView):
    """How an operation ended, which somebody has read."""

    required_roles: ClassVar = {"POST": "viewer"}

    @extend_schema(request=None, responses={204: None}, operation_id="operation_dismiss")
    def post(self, request: Request, project: str, dataset: str, operation_id: UUID) -> Response:
        """Leave an operation out of the caller's list once it is over. Repeatable."""
        dismiss_operation(self.dataset, operation_id, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class OperationDismissAllView(DatasetScopedView, APIView):
    """How operations ended, which somebody has read."""

    required_roles: ClassVar = {"POST": "viewer"}

    @extend_schema(request=None, responses={204: None}, operation_id="operation_dismiss_all")
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Leave every operation that is over out of the caller's list. Repeatable."""
        dismiss_ended_operations(self.dataset, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class OperationScopedView(DatasetScopedView, APIView):
    """A view of one operation."""

    operation: ClassVar[str]
    body: ClassVar[type[OperationSerializer]]

    def new_operation(self, request: Request) -> NewOperation:
        """Return what the body asks for."""
        body = self.body(data=request.data)
        check(body)
        given = body.validated_data
        return NewOperation(
            self.operation,
            given["branch"],
            body.arguments(self.dataset),
            given["expected_head"] or "",
            given["message"],
        )

    def accepted(self, request: Request) -> Response:
        """Ask a worker for it."""
        commit = request_operation(self.dataset, self.new_operation(request), user_of(request))
        commit.refresh_from_db()
        return Response(CommitRequestSerializer(commit).data, status=status.HTTP_202_ACCEPTED)

    def previewed(self, request: Request) -> Response:
        """Work it out without a trace."""
        preview = preview_operation(self.dataset, self.new_operation(request))
        renderer = EntryRenderer(self.project)
        conflicts = [render_conflict(each, renderer) for each in preview.conflicts]
        shown = {**vars(preview), "conflicts": conflicts}
        return Response(OperationPreviewSerializer(shown).data)


class _Merge(OperationScopedView):
    operation = "merge"
    body = MergeSerializer


class _Revert(OperationScopedView):
    operation = "revert"
    body = RevertSerializer


class _Pick(OperationScopedView):
    operation = "cherry_pick"
    body = PickSerializer


class _Edit(OperationScopedView):
    operation = "edit"
    body = EditSerializer


class MergeView(_Merge):
    """Merging one branch or version into a branch."""

    @extend_schema(request=MergeSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker to merge; follow the commit request that this gives."""
        return self.accepted(request)


class MergePreviewView(_Merge):
    """The effect that a merge would have."""

    @extend_schema(request=MergeSerializer, responses=OperationPreviewSerializer)
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return counts and conflicts; nothing is stored."""
        return self.previewed(request)


class RevertView(_Revert):
    """Undoing a version."""

    @extend_schema(request=RevertSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker for a version that undoes another."""
        return self.accepted(request)


class RevertPreviewView(_Revert):
    """The effect that a revert would have."""

    @extend_schema(request=RevertSerializer, responses=OperationPreviewSerializer)
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return counts and conflicts; nothing is stored."""
        return self.previewed(request)


class PickView(_Pick):
    """Bringing paths of another version to a branch."""

    @extend_schema(request=PickSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker to pick."""
        return self.accepted(request)


class PickPreviewView(_Pick):
    """The effect that a cherry-pick would have."""

    @extend_schema(request=PickSerializer, responses=OperationPreviewSerializer)
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return counts and conflicts; nothing is stored."""
        return self.previewed(request)


class EditView(_Edit):
    """Removing, moving, copying files and setting attributes, without their bytes."""

    @extend_schema(request=EditSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker to edit; all edits are one version."""
        return self.accepted(request)


class EditPreviewView(_Edit):
    """The effect that edits would have."""

    @extend_schema(request=EditSerializer, responses=OperationPreviewSerializer)
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Return counts; nothing is stored."""
        return self.previewed(request)


def render_conflict(found: ShownConflict, renderer: EntryRenderer) -> dict[str, Any]:
    """Return a conflict with the small pictures of both sides."""
    ours, theirs = (renderer.thumb_url(row) if row else None for row in (found.ours, found.theirs))
    return {**found.conflict, "our_thumb_url": ours, "their_thumb_url": theirs}
