"""Commits of what was uploaded."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.core import waiting
from atom.core.bodies import check
from atom.core.errors import Invalid, NotFound
from atom.core.idempotency import idempotent
from atom.core.query import refuse_unknown
from atom.datasets.catalog.api.provenance import with_maker
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.actions.commit_progress import cancel_commit
from atom.datasets.commits.actions.commits import NewCommit, request_commit
from atom.datasets.commits.api.commit_serializers import (
    CommitRequestSerializer,
    NewCommitSerializer,
)
from atom.datasets.commits.splits import written_out
from atom.datasets.models import CommitRequest, Upload
from atom_sdk.sentences import Sentence


class CommitListView(DatasetScopedView, APIView):
    """Asking for commits."""

    write_scope = "push"

    @extend_schema(request=NewCommitSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Ask a worker to commit an uploaded changes file."""
        body = NewCommitSerializer(data=request.data)
        check(body)
        values = dict(body.validated_data)
        changes = self._changes(values.pop("changes_upload"))
        values["expected_head"] = values["expected_head"] or ""
        values["labels_from"] = values["labels_from"] or ""
        if values["split"]:
            values["split"] = written_out(self.dataset, values["split"])
            values["provenance"] = {**values["provenance"], "split": values["split"]}
        values["provenance"] = with_maker(values["provenance"], request)
        commit = request_commit(self.dataset, NewCommit(**values), changes, user_of(request))
        commit.refresh_from_db()
        return Response(CommitRequestSerializer(commit).data, status=status.HTTP_202_ACCEPTED)

    def _changes(self, upload_id: UUID) -> Upload:
        uploads = Upload.objects.filter(dataset=self.dataset, kind="changes")
        found = uploads.filter(pk=upload_id).first()
        if found is None:
            message = Sentence(
                "datasets.changes_upload_unknown", "The dataset has no changes upload of this id."
            )
            raise Invalid(errors={"changes_upload": [message]})
        return found


class CommitScopedView(DatasetScopedView, APIView):
    """A view of one commit request."""

    @property
    def commit_request(self) -> CommitRequest:
        """Return the request of the path. Raises NotFound."""
        requests = CommitRequest.objects.filter(dataset=self.dataset)
        found = requests.select_related("version__author").filter(pk=self.kwargs["commit_id"])
        request = found.first()
        if request is None:
            raise NotFound(
                Sentence(
                    "datasets.commit_request_unknown", "The dataset has no such commit request."
                )
            )
        # Known already: asking for it would be one more query.
        request.dataset = self.dataset
        return request


class CommitView(CommitScopedView):
    """One commit request."""

    @extend_schema(responses=CommitRequestSerializer, operation_id="commit_retrieve")
    def get(self, request: Request, project: str, dataset: str, commit_id: UUID) -> Response:
        """Return how far the commit is."""
        return Response(CommitRequestSerializer(self.commit_request).data)


class CommitWaitView(CommitScopedView):
    """Waiting for a commit."""

    @extend_schema(
        parameters=[waiting.TIMEOUT],
        responses=CommitRequestSerializer,
        operation_id="commit_wait_retrieve",
    )
    def get(self, request: Request, project: str, dataset: str, commit_id: UUID) -> Response:
        """Return the commit as soon as it is over, or as it is at the timeout."""
        refuse_unknown(request, ("timeout_s",))
        waiting.parse_timeout(request)
        found = self.commit_request
        if found.is_open:
            group = f"project.{self.project.pk}"
            waiting.hold_back(request, group, found.pk, found.state)
        return Response(CommitRequestSerializer(found).data)


class CommitCancelView(CommitScopedView):
    """Stopping a commit."""

    @extend_schema(
        request=None, responses=CommitRequestSerializer, operation_id="commit_cancel_create"
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str, commit_id: UUID) -> Response:
        """Cancel the commit, unless its branch moves already."""
        commit = cancel_commit(self.commit_request, user_of(request))
        return Response(CommitRequestSerializer(commit).data)
