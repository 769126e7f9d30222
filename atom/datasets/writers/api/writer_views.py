"""Writers: opening, persisting onto the staging branch, committing, abandoning."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, token_of, user_of
from atom.accounts.permissions import ScopeMissing, require_scope
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice
from atom.datasets.catalog.api.provenance import with_maker
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer
from atom.datasets.models import CommitRequest, Upload, WriteJob, Writer
from atom.datasets.writers.actions.writers import (
    NewWriter,
    abandon_writer,
    find_writer,
    note_uploading,
    open_writer,
    request_flush,
    request_write,
)
from atom.datasets.writers.api.writer_serializers import (
    NewFlushSerializer,
    NewWriterSerializer,
    NewWriteSerializer,
    UploadingSerializer,
    WriterSerializer,
)
from atom.datasets.writers.errors import WriteJobUnknown, WriterOfAnother, WriterUnknown
from atom_sdk.sentences import Sentence


class WriterScopedView(DatasetScopedView, APIView):
    """A view of one writer."""

    write_scope = "push"

    def writer(self, writer_id: UUID) -> Writer:
        """Return the writer. Raises WriterUnknown; where it is changed, WriterOfAnother."""
        found = find_writer(self.dataset, writer_id)
        if found is None:
            raise WriterUnknown(
                Sentence(
                    "datasets.writer_unknown",
                    "{dataset} has no such writer.",
                    dataset=self.dataset.name,
                )
            )
        if self.request.method not in SAFE:
            refuse_of_another(self.request, found)
        return found

    def rendered(self, writer: Writer, code: int = status.HTTP_200_OK) -> Response:
        """Return the writer as it is now."""
        return Response(WriterSerializer(self.writer(writer.pk)).data, status=code)


def accepted(request: CommitRequest) -> Response:
    """Return a commit request that a worker is asked for."""
    request.refresh_from_db()
    return Response(CommitRequestSerializer(request).data, status=status.HTTP_202_ACCEPTED)


def refuse_of_another(request: Request, found: Writer | WriteJob) -> None:
    """Raise WriterOfAnother for a token that only pushes and is not of who opened it.

    Such tokens are in programs and runs; that somebody else's work ends is for people to say.
    """
    token = token_of(request)
    if token is None or found.created_by_id == token.user_id:
        return
    try:
        require_scope(token, "write")
    except ScopeMissing as exc:
        raise WriterOfAnother from exc


class WriterListView(WriterScopedView, generics.ListAPIView[Writer]):
    """The writers of a dataset."""

    serializer_class = WriterSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("open",)

    @extend_schema(
        parameters=[
            OpenApiParameter("open", bool, description="Only those that have not ended."),
        ]
    )
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Return writers, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Writer]:
        """Return the dataset's writers."""
        if getattr(self, "swagger_fake_view", False):
            return Writer.objects.none()
        found = Writer.objects.of_dataset(self.dataset)
        is_open = choice(self.request, "open", ("true", "false"), "false") == "true"
        return found.open() if is_open else found

    @extend_schema(request=NewWriterSerializer, responses={201: WriterSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Open a writer."""
        body = NewWriterSerializer(data=request.data)
        check(body)
        said = body.validated_data
        job = self._job(said["write_job"])
        target = job.target if job else said["branch"]
        origin = with_maker(said["provenance"], request)
        new = NewWriter(target, said["message"], job, said["task"], origin)
        writer = open_writer(self.dataset, new, user_of(request))
        return self.rendered(writer, status.HTTP_201_CREATED)

    def _job(self, job_id: UUID | None) -> WriteJob | None:
        if job_id is None:
            return None
        found = WriteJob.objects.select_related("base").filter(dataset=self.dataset, pk=job_id)
        job = found.first()
        if job is None:
            raise WriteJobUnknown(
                Sentence(
                    "datasets.write_job_unknown",
                    "{dataset} has no such write job.",
                    dataset=self.dataset.name,
                )
            )
        return job


class WriterView(WriterScopedView):
    """One writer."""

    @extend_schema(responses=WriterSerializer, operation_id="writer_retrieve")
    def get(self, request: Request, project: str, dataset: str, writer_id: UUID) -> Response:
        """Return the writer's state."""
        return self.rendered(self.writer(writer_id))


class WriterUploadingView(WriterScopedView):
    """That a writer is sending."""

    @extend_schema(request=UploadingSerializer, responses=WriterSerializer)
    def post(self, request: Request, project: str, dataset: str, writer_id: UUID) -> Response:
        """Show what the client is about to send."""
        body = UploadingSerializer(data=request.data)
        check(body)
        return self.rendered(note_uploading(self.writer(writer_id), **body.validated_data))


class WriterFlushView(WriterScopedView):
    """Persisting."""

    @extend_schema(request=NewFlushSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str, writer_id: UUID) -> Response:
        """Ask a worker to put uploaded changes on the staging branch."""
        body = NewFlushSerializer(data=request.data)
        check(body)
        head = body.validated_data["expected_head"] or ""
        changes = self._changes(body.validated_data["changes_upload"])
        writer = self.writer(writer_id)
        return accepted(request_flush(writer, changes, head, user_of(request)))

    def _changes(self, upload_id: UUID) -> Upload:
        uploads = Upload.objects.filter(dataset=self.dataset, kind="changes")
        found = uploads.filter(pk=upload_id).first()
        if found is None:
            message = Sentence(
                "datasets.changes_upload_unknown", "The dataset has no changes upload of this id."
            )
            raise Invalid(errors={"changes_upload": [message]})
        return found


class WriterCommitView(WriterScopedView):
    """Committing."""

    @extend_schema(request=NewWriteSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str, writer_id: UUID) -> Response:
        """Ask a worker for the version of what is persisted; asked again, it is the same."""
        body = NewWriteSerializer(data=request.data)
        check(body)
        said = body.validated_data
        writer = self.writer(writer_id)
        return accepted(request_write(writer, body.arguments(), said["message"], user_of(request)))


class WriterAbandonView(WriterScopedView):
    """Giving up."""

    @extend_schema(request=None, responses=WriterSerializer)
    def post(self, request: Request, project: str, dataset: str, writer_id: UUID) -> Response:
        """Abandon what is not committed."""
        writer = self.writer(writer_id)
        return self.rendered(abandon_writer(writer, user_of(request)))
