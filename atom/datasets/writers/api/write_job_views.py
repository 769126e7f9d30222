"""Write jobs: many tasks, one version."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice
from atom.datasets.catalog.api.provenance import with_maker
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.commits.api.commit_serializers import CommitRequestSerializer
from atom.datasets.models import WriteJob
from atom.datasets.writers.actions.write_jobs import (
    NewWriteJob,
    abort_write_job,
    commit_task,
    open_write_job,
    request_job_commit,
)
from atom.datasets.writers.actions.writers import find_writer
from atom.datasets.writers.api.writer_serializers import (
    CommittedTaskSerializer,
    NewWriteJobSerializer,
    NewWriteSerializer,
    WriteJobSerializer,
)
from atom.datasets.writers.api.writer_views import accepted, refuse_of_another
from atom.datasets.writers.errors import WriteJobUnknown, WriterUnknown
from atom_sdk.sentences import Sentence


class WriteJobScopedView(DatasetScopedView, APIView):
    """A view of one write job."""

    write_scope = "push"

    def job(self, job_id: UUID) -> WriteJob:
        """Return the job. Raises WriteJobUnknown."""
        found = WriteJob.objects.with_counts().filter(dataset=self.dataset, pk=job_id).first()
        if found is None:
            raise WriteJobUnknown(
                Sentence(
                    "datasets.write_job_unknown",
                    "{dataset} has no such write job.",
                    dataset=self.dataset.name,
                )
            )
        return found

    def own_job(self, request: Request, job_id: UUID) -> WriteJob:
        """Return a job that the caller may change. Raises WriteJobUnknown, WriterOfAnother."""
        found = self.job(job_id)
        refuse_of_another(request, found)
        return found

    def rendered(self, job: WriteJob, code: int = status.HTTP_200_OK) -> Response:
        """Return the job as it is now."""
        return Response(WriteJobSerializer(self.job(job.pk)).data, status=code)


class WriteJobListView(WriteJobScopedView, generics.ListAPIView[WriteJob]):
    """The write jobs of a dataset."""

    serializer_class = WriteJobSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("open",)

    @extend_schema(
        parameters=[
            OpenApiParameter("open", bool, description="Only those that have not ended."),
        ]
    )
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Return jobs, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[WriteJob]:
        """Return the dataset's jobs."""
        if getattr(self, "swagger_fake_view", False):
            return WriteJob.objects.none()
        found = WriteJob.objects.with_counts().filter(dataset=self.dataset)
        is_open = choice(self.request, "open", ("true", "false"), "false") == "true"
        return found.open() if is_open else found

    @extend_schema(request=NewWriteJobSerializer, responses={201: WriteJobSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Open a job, or return the one of that name, whatever its state."""
        body = NewWriteJobSerializer(data=request.data)
        check(body)
        said = dict(body.validated_data)
        said["provenance"] = with_maker(said["provenance"], request)
        new = NewWriteJob(target=said.pop("branch"), **said)
        job = open_write_job(self.dataset, new, user_of(request))
        return self.rendered(job, status.HTTP_201_CREATED)


class WriteJobView(WriteJobScopedView):
    """One job."""

    @extend_schema(responses=WriteJobSerializer, operation_id="write_job_retrieve")
    def get(self, request: Request, project: str, dataset: str, write_job_id: UUID) -> Response:
        """Return the job's state."""
        return self.rendered(self.job(write_job_id))


class WriteJobTaskView(WriteJobScopedView):
    """Committing tasks."""

    @extend_schema(request=CommittedTaskSerializer, responses=WriteJobSerializer)
    def post(self, request: Request, project: str, dataset: str, write_job_id: UUID) -> Response:
        """Make an attempt the one that counts for its task; it replaces an earlier one."""
        body = CommittedTaskSerializer(data=request.data)
        check(body)
        job = self.own_job(request, write_job_id)
        writer = find_writer(self.dataset, body.validated_data["writer"])
        if writer is None:
            raise WriterUnknown(
                Sentence(
                    "datasets.writer_unknown",
                    "{dataset} has no such writer.",
                    dataset=self.dataset.name,
                )
            )
        commit_task(job, body.validated_data["task"], writer)
        return self.rendered(job)


class WriteJobCommitView(WriteJobScopedView):
    """Committing the job."""

    @extend_schema(request=NewWriteSerializer, responses={202: CommitRequestSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str, write_job_id: UUID) -> Response:
        """Ask a worker for the version of all committed tasks; asked again, it is the same."""
        body = NewWriteSerializer(data=request.data)
        check(body)
        said = body.validated_data
        job = self.own_job(request, write_job_id)
        return accepted(
            request_job_commit(job, body.arguments(), said["message"], user_of(request))
        )


class WriteJobAbortView(WriteJobScopedView):
    """Giving up the job."""

    @extend_schema(request=None, responses=WriteJobSerializer)
    def post(self, request: Request, project: str, dataset: str, write_job_id: UUID) -> Response:
        """Abandon every attempt of the job."""
        job = self.own_job(request, write_job_id)
        return self.rendered(abort_write_job(job, user_of(request)))
