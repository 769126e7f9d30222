"""Label tasks: list, create, start, pause, publish, look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.models import User
from atom.accounts.permissions import role_in
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice, words
from atom.datasets.browsing.queries import combine_with_view
from atom.labeling import permissions, reads, states
from atom.labeling.actions import continuing, label_tasks, publishing, skips
from atom.labeling.actions.label_tasks import TaskPlan
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.api.audit_serializers import WorkItemSerializer
from atom.labeling.api.rendering import render_item
from atom.labeling.api.scoped import TaskView, version_named
from atom.labeling.api.serializers import (
    LabelTaskSerializer,
    NewLabelTaskSerializer,
    PublishSerializer,
    SettledSerializer,
    SettleSkippedSerializer,
    TaskPreviewParametersSerializer,
    TaskPreviewSerializer,
)
from atom.labeling.api.views.people import people_named
from atom.labeling.api.work_serializers import LabelTaskStatsSerializer
from atom.labeling.engines import layers, objects
from atom.labeling.engines.templates import TEMPLATES
from atom.labeling.models import LabelTask, OntologyVersion, WorkItem
from atom.labeling.models.tasks import IMAGE_OBJECTS, ORDERS, item_counts, left_out_counts
from atom.labeling.models.work import audit_counts, held_counts, skipped_counts
from atom_sdk.sentences import Sentence


def render_tasks(tasks: Sequence[LabelTask], user: User) -> list[dict[str, Any]]:
    """Return tasks of one project with their counts: six queries, however many tasks."""
    ids = [task.pk for task in tasks]
    context = {
        "counts": item_counts(ids),
        "left_out": left_out_counts(ids),
        "skipped": skipped_counts(ids),
        "held": held_counts(ids, user),
        "audits": audit_counts(ids, user),
        "role": role_in(user, tasks[0].project) if tasks else None,
        "user": user,
    }
    return list(LabelTaskSerializer(tasks, many=True, context=context).data)


class LabelTaskListView(ProjectScopedView, generics.GenericAPIView[LabelTask]):
    """The project's label tasks."""

    serializer_class = LabelTaskSerializer
    pagination_class = KeysetPagination
    filters = ("state", "q", "mine", "order")

    @property
    def keyset(self) -> tuple[str, ...]:
        """The order that the caller asks for; the newest first without one."""
        return ORDERS[choice(self.request, "order", ORDERS) or "created"]

    def get_queryset(self) -> QuerySet[LabelTask]:
        """Return the project's tasks."""
        if getattr(self, "swagger_fake_view", False):
            return LabelTask.objects.none()
        return LabelTask.objects.for_display().by_urgency().filter(project=self.project)

    @extend_schema(
        responses=LabelTaskSerializer(many=True),
        parameters=[
            OpenApiParameter("state", str, enum=sorted(states.TASK_STATES)),
            OpenApiParameter("q", str, description="part of the name"),
            OpenApiParameter("mine", str, enum=["true"], description="assigned to the caller"),
            OpenApiParameter(
                "order",
                str,
                enum=list(ORDERS),
                description="urgency: open tasks first, by priority, then by due date",
            ),
        ],
        operation_id="labelx_tasks_list",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first unless `order` says otherwise."""
        tasks = self.get_queryset()
        if state := choice(request, "state", states.TASK_STATES):
            tasks = tasks.filter(state=state)
        tasks = tasks.filter(name__icontains=words(request, "q"))
        if choice(request, "mine", ["true"]):
            tasks = tasks.filter(assignees=user_of(request))
        page = self.paginate_queryset(tasks) or []
        return self.get_paginated_response(render_tasks(page, user_of(request)))

    @extend_schema(
        request=NewLabelTaskSerializer,
        responses={201: LabelTaskSerializer},
        operation_id="labelx_tasks_create",
    )
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a draft task over the entries that the filter leaves."""
        body = NewLabelTaskSerializer(data=request.data)
        check(body)
        user = user_of(request)
        task = label_tasks.create_task(self.project, user, self._plan(body.validated_data))
        return Response(render_tasks([task], user)[0], status=status.HTTP_201_CREATED)

    def _plan(self, data: dict[str, Any]) -> TaskPlan:
        chosen = data.get("filter", {})
        version = version_named(self.project, data["dataset"])
        template = TEMPLATES.get(data.get("template", ""))
        return TaskPlan(
            name=data["name"],
            version=version,
            modality=data["modality"],
            ontology_version=self._ontology_version(data.get("ontology_version")),
            labels=template.labels if template else data.get("labels", ()),
            schema=template.schema if template else data.get("schema", {}),
            pre_label=data["pre_label"],
            assignees=people_named(self.project, data.get("assignees", [])),
            due_on=data["due_on"],
            priority=data["priority"],
            guideline=data["guideline"],
            prefix=chosen.get("prefix", ""),
            paths=frozenset(chosen.get("paths", ())),
            labelled=chosen.get("labelled", False),
            where=combine_with_view(
                version.dataset, chosen.get("where", ""), chosen.get("view", "")
            ),
            batch_size=data["batch_size"],
            audit_percent=data["audit_percent"],
            lease_ttl_s=data["lease_ttl_s"],
        )

    def _ontology_version(self, pk: UUID | None) -> OntologyVersion | None:
        if pk is None:
            return None
        versions = OntologyVersion.objects.filter(ontology__project=self.project, pk=pk)
        found = versions.select_related("ontology").first()
        if found is None:
            raise Invalid(
                errors={
                    "ontology_version": [
                        Sentence("labeling.version_unknown", "The project has no such version.")
                    ]
                }
            )
        return found


class TaskPreviewView(ProjectScopedView, APIView):
    """The images that a new task would have."""

    filters = ("dataset", "modality", "prefix", "labelled", "where", "view")
    _LABELLED: ClassVar = {"true": True, "false": False, "any": None}

    @extend_schema(
        responses=TaskPreviewSerializer,
        parameters=[TaskPreviewParametersSerializer],
        operation_id="labelx_task_preview",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Count the images that the filter leaves, and the files that are none."""
        asked = TaskPreviewParametersSerializer(data=request.query_params)
        check(asked)
        data = asked.validated_data
        version = version_named(self.project, data["dataset"])
        where = combine_with_view(version.dataset, data["where"], data["view"])
        labelled = self._LABELLED[data["labelled"]]
        kind = objects.KIND if data["modality"] == IMAGE_OBJECTS else layers.KIND
        chosen = ImageSelection(version, data["prefix"], labelled, where=where, kind=kind)
        return Response(TaskPreviewSerializer(chosen.counted()).data)


class StartView(TaskView):
    """Handing out work."""

    required_role = permissions.ROLE_FOR[permissions.START]

    @extend_schema(request=None, responses=LabelTaskSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Start or resume; the labels are fixed from here on."""
        task = label_tasks.start_task(self.task, self.user)
        return Response(render_tasks([task], self.user)[0])


class PauseView(TaskView):
    """Handing out no more work."""

    required_role = permissions.ROLE_FOR[permissions.PAUSE]

    @extend_schema(request=None, responses=LabelTaskSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Pause; what people hold may still be submitted."""
        task = label_tasks.pause_task(self.task, self.user)
        return Response(render_tasks([task], self.user)[0])


class PublishView(TaskView):
    """Turning accepted labels into the next version of the dataset."""

    required_role = permissions.ROLE_FOR[permissions.PUBLISH]

    @extend_schema(request=PublishSerializer, responses={202: LabelTaskSerializer})
    def post(self, request: Request, task_id: UUID) -> Response:
        """Publish in the background; `state` and `output_version` say when it is done."""
        body = PublishSerializer(data=request.data)
        check(body)
        task = publishing.request_publish(self.task, self.user, **body.validated_data)
        return Response(render_tasks([task], self.user)[0], status=status.HTTP_202_ACCEPTED)


class ContinueView(TaskView):
    """Finishing what a publication left out."""

    required_role = permissions.ROLE_FOR[permissions.CONTINUE]

    @extend_schema(request=None, responses={201: LabelTaskSerializer})
    def post(self, request: Request, task_id: UUID) -> Response:
        """Make and start a task over the left-out items; asking again returns the same task."""
        made = continuing.continue_task(self.task, self.user)
        return Response(render_tasks([made], self.user)[0], status=status.HTTP_201_CREATED)


class SettleSkippedView(TaskView):
    """Settle skipped items."""

    required_role = permissions.ROLE_FOR[permissions.SETTLE_SKIPPED]

    @extend_schema(request=SettleSkippedSerializer, responses=SettledSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Put skipped items back for everybody, or leave them out of the task."""
        body = SettleSkippedSerializer(data=request.data)
        check(body)
        data = body.validated_data
        count = skips.settle_skipped(self.task, self.user, data["how"], data.get("items"))
        return Response({"count": count})


class TaskItemsView(TaskView):
    """The task's items."""

    keyset = ("position", "id")
    filters = ("state", "skipped", "held", "replaced")
    pagination_class = KeysetPagination

    @extend_schema(
        responses=WorkItemSerializer(many=True),
        parameters=[
            OpenApiParameter("state", str, enum=sorted(states.ITEM_STATES)),
            OpenApiParameter("skipped", str, enum=["true"], description="only skipped items"),
            OpenApiParameter("held", str, enum=["true"], description="only items with `holders`"),
            OpenApiParameter(
                "replaced",
                str,
                enum=["true"],
                description="only accepted items whose picture was replaced or removed",
            ),
            OpenApiParameter("limit", int),
            OpenApiParameter("cursor", str),
        ],
        operation_id="labelx_tasks_items_list",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        """Return one page in the task's order, with each item's present label."""
        state = choice(request, "state", states.ITEM_STATES)
        only = {
            name: choice(request, name, ["true"]) == "true"
            for name in ("skipped", "held", "replaced")
        }
        pages = KeysetPagination()
        items: list[WorkItem] = pages.paginate_queryset(
            reads.items_of(self.task, state, **only), request, self
        )
        rendered = [render_item(self.task.project_id, item) for item in items]
        return pages.get_paginated_response(rendered)


class TaskStatsView(TaskView):
    """How the labelers do."""

    @extend_schema(responses=LabelTaskStatsSerializer, operation_id="labelx_tasks_stats")
    def get(self, request: Request, task_id: UUID) -> Response:
        """Return counts and the median time per labeler."""
        return Response({"results": reads.labeler_stats(self.task), "next": None})
