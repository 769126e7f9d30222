"""Imports and exports of labels: ask, look, confirm, cancel, download."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.models import Project
from atom.core.bodies import check
from atom.core.errors import Invalid, NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice, words
from atom.datasets.browsing.queries import combine_with_view
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.models import Dataset, Upload
from atom.labeling import states
from atom.labeling.actions import transfers
from atom.labeling.actions.transfers import ExportPlan, ImportPlan
from atom.labeling.api.scoped import LabelXView, version_named
from atom.labeling.api.transfer_serializers import (
    LabelDownloadSerializer,
    LabelTransferSerializer,
    ListedLabelTransferSerializer,
    NewLabelExportSerializer,
    NewLabelImportSerializer,
)
from atom.labeling.models import LabelTask, LabelTransfer
from atom.labeling.models.transfers import DIRECTIONS, IMPORT


def _dataset_named(project: Project, name: str) -> Dataset:
    try:
        return find_dataset(project, name)
    except NotFound as exc:
        raise Invalid(errors={"dataset": [ErrorDetail(exc.detail, code="does_not_exist")]}) from exc


def _unknown(field: str) -> Invalid:
    return Invalid(errors={field: [ErrorDetail("There is none.", code="does_not_exist")]})


class LabelTransferListView(ProjectScopedView, generics.GenericAPIView[LabelTransfer]):
    """The project's imports and exports of labels."""

    serializer_class = ListedLabelTransferSerializer
    pagination_class = KeysetPagination
    filters = ("dataset", "direction", "state")

    def get_queryset(self) -> QuerySet[LabelTransfer]:
        """Return the project's transfers without their reports."""
        if getattr(self, "swagger_fake_view", False):
            return LabelTransfer.objects.none()
        rows = LabelTransfer.objects.for_display().filter(project=self.project)
        return rows.defer("report", "outcome", "options")

    @extend_schema(
        responses=ListedLabelTransferSerializer(many=True),
        parameters=[
            OpenApiParameter("dataset", str, description="the name of a dataset"),
            OpenApiParameter("direction", str, enum=list(DIRECTIONS)),
            OpenApiParameter("state", str, enum=sorted(states.TRANSFER_STATES)),
        ],
        operation_id="labelx_transfers_list",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        rows = self.get_queryset()
        if name := words(request, "dataset"):
            rows = rows.filter(dataset__name=name)
        if direction := choice(request, "direction", DIRECTIONS):
            rows = rows.filter(direction=direction)
        if state := choice(request, "state", states.TRANSFER_STATES):
            rows = rows.filter(state=state)
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response(ListedLabelTransferSerializer(page, many=True).data)


class LabelImportsView(ProjectScopedView, APIView):
    """Asking for imports of labels."""

    @extend_schema(
        request=NewLabelImportSerializer,
        responses={201: LabelTransferSerializer},
        operation_id="labelx_imports_create",
    )
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Have a worker read and match uploaded labels; nothing is published before a yes."""
        body = NewLabelImportSerializer(data=request.data)
        check(body)
        data = body.validated_data
        dataset = _dataset_named(self.project, data["dataset"])
        upload = Upload.objects.filter(dataset=dataset, kind="labels", pk=data["upload"]).first()
        if upload is None:
            raise _unknown("upload")
        plan = ImportPlan(
            dataset=dataset,
            branch=data["branch"],
            upload=upload,
            filename=data["filename"],
            format=data["format"],
            options={name: data[name] for name in ("existing", "yolo_task", "voc_origin")},
            is_confirmed=data["confirmed"],
        )
        made = transfers.request_import(plan, user_of(request))
        return Response(LabelTransferSerializer(made).data, status=status.HTTP_201_CREATED)


class LabelExportsView(ProjectScopedView, APIView):
    """Asking for exports of labels."""

    # Whoever reads the labels may have them in a file.
    required_roles: ClassVar[dict[str, str]] = {"POST": "viewer"}

    @extend_schema(
        request=NewLabelExportSerializer,
        responses={201: LabelTransferSerializer},
        operation_id="labelx_exports_create",
    )
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Have a worker count what a format keeps and loses, and write the archive after a yes."""
        body = NewLabelExportSerializer(data=request.data)
        check(body)
        data = body.validated_data
        task = self._task(data["task"])
        version = (
            version_named(self.project, data["dataset"]) if task is None else task.dataset_version
        )
        where = combine_with_view(version.dataset, data["where"], data["view"])
        plan = ExportPlan(
            version=version,
            format=data["format"],
            label_task=task,
            options={"yolo_task": data["yolo_task"], "where": where.text if where else ""},
            is_confirmed=data["confirmed"],
        )
        made = transfers.request_export(plan, user_of(request))
        return Response(LabelTransferSerializer(made).data, status=status.HTTP_201_CREATED)

    def _task(self, pk: UUID | None) -> LabelTask | None:
        if pk is None:
            return None
        tasks = LabelTask.objects.for_display().filter(project=self.project)
        task = tasks.select_related("dataset_version__dataset").filter(pk=pk).first()
        if task is None:
            raise _unknown("task")
        return task


class TransferView(LabelXView):
    """Below `labelx/transfers/<id>/`."""

    @cached_property
    def transfer(self) -> LabelTransfer:
        """The transfer of the path."""
        visible = LabelTransfer.objects.visible_to(self.user).for_display()
        transfer = visible.filter(pk=self.kwargs["transfer_id"]).first()
        if transfer is None:
            raise NotFound
        return transfer

    def find_project(self) -> Project:
        """Return the transfer's project."""
        return self.transfer.project

    @property
    def required_role(self) -> str:  # type: ignore[override]
        """Imports change the dataset; exports do not."""
        return "researcher" if self.transfer.direction == IMPORT else "viewer"


class LabelTransferView(TransferView):
    """One import or export."""

    @extend_schema(responses=LabelTransferSerializer, operation_id="labelx_transfers_retrieve")
    def get(self, request: Request, transfer_id: UUID) -> Response:
        """Return it with its reports."""
        return Response(LabelTransferSerializer(self.transfer).data)


class ConfirmTransferView(TransferView):
    """The yes of a person."""

    @extend_schema(
        request=None,
        responses={202: LabelTransferSerializer},
        operation_id="labelx_transfers_confirm",
    )
    @idempotent
    def post(self, request: Request, transfer_id: UUID) -> Response:
        """Carry out what was inspected."""
        done = transfers.confirm_transfer(self.transfer, self.user)
        return Response(LabelTransferSerializer(done).data, status=status.HTTP_202_ACCEPTED)


class CancelTransferView(TransferView):
    """The end of a transfer."""

    @extend_schema(
        request=None, responses=LabelTransferSerializer, operation_id="labelx_transfers_cancel"
    )
    def post(self, request: Request, transfer_id: UUID) -> Response:
        """Cancel it; a worker that is at it stops."""
        done = transfers.cancel_transfer(self.transfer, self.user)
        return Response(LabelTransferSerializer(done).data)


class LabelDownloadView(TransferView):
    """The archive of an export."""

    @extend_schema(responses=LabelDownloadSerializer, operation_id="labelx_transfers_download")
    def get(self, request: Request, transfer_id: UUID) -> Response:
        """Return where the archive is read for an hour."""
        address = transfers.download_address(self.transfer)
        return Response(LabelDownloadSerializer(address).data)
