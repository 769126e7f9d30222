"""Schedules of warm-up plans of a project."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.cache.agents.actions.plans import usable_cluster
from atom.cache.agents.actions.schedules import (
    ScheduleOptions,
    create_schedule,
    delete_schedule,
    find_schedule,
    pause_schedule,
    resume_schedule,
)
from atom.cache.agents.api.schedule_shapes import NewWarmScheduleSerializer, WarmScheduleSerializer
from atom.cache.models import WarmSchedule
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.datasets.catalog.api.scope import DatasetScopedView


class DatasetWarmSchedulesView(DatasetScopedView, APIView):
    """`…/datasets/<d>/warm-schedules/`."""

    @extend_schema(
        operation_id="warm_schedules_create",
        request=NewWarmScheduleSerializer,
        responses={201: WarmScheduleSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Bring the newest version of a ref to nodes of a cluster, again and again."""
        body = NewWarmScheduleSerializer(data=request.data)
        check(body)
        options = dict(body.validated_data)
        user = user_of(request)
        cluster = usable_cluster(self.project, user, options.pop("cluster"))
        row = create_schedule(self.dataset, cluster, ScheduleOptions(**options), user)
        return Response(WarmScheduleSerializer(row).data, status=201)


class WarmSchedulesView(ProjectScopedView, generics.ListAPIView[WarmSchedule]):
    """`projects/<project>/warm-schedules/`."""

    serializer_class = WarmScheduleSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[WarmSchedule]:
        """Return the project's schedules, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return WarmSchedule.objects.none()
        rows = WarmSchedule.objects.filter(project=self.project)
        return rows.select_related("dataset", "cluster", "created_by", "last_plan")

    @extend_schema(operation_id="warm_schedules_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the project's schedules of warm-up plans, newest first."""
        return super().get(request, *args, **kwargs)


class _ScheduleView(ProjectScopedView, APIView):
    def row(self, schedule_id: UUID) -> WarmSchedule:
        """Return the schedule of the path. Raises WarmScheduleNotFound."""
        return find_schedule(self.project.pk, schedule_id)


class WarmScheduleView(_ScheduleView):
    """`projects/<project>/warm-schedules/<id>/`."""

    @extend_schema(operation_id="warm_schedules_get", responses=WarmScheduleSerializer)
    def get(self, request: Request, project: str, schedule_id: UUID) -> Response:
        """Show a schedule with its next time."""
        return Response(WarmScheduleSerializer(self.row(schedule_id)).data)

    @extend_schema(operation_id="warm_schedules_delete", responses={204: None})
    def delete(self, request: Request, project: str, schedule_id: UUID) -> Response:
        """Remove a schedule; its plans stay."""
        delete_schedule(self.row(schedule_id), user_of(request))
        return Response(status=204)


class WarmSchedulePauseView(_ScheduleView):
    """`projects/<project>/warm-schedules/<id>/pause/`."""

    @extend_schema(
        operation_id="warm_schedules_pause", request=None, responses=WarmScheduleSerializer
    )
    def post(self, request: Request, project: str, schedule_id: UUID) -> Response:
        """Start no plans until the schedule is resumed."""
        row = self.row(schedule_id)
        pause_schedule(row, user_of(request))
        return Response(WarmScheduleSerializer(row).data)


class WarmScheduleResumeView(_ScheduleView):
    """`projects/<project>/warm-schedules/<id>/resume/`."""

    @extend_schema(
        operation_id="warm_schedules_resume", request=None, responses=WarmScheduleSerializer
    )
    def post(self, request: Request, project: str, schedule_id: UUID) -> Response:
        """Start plans again, at the next time from now on."""
        row = self.row(schedule_id)
        resume_schedule(row, user_of(request))
        return Response(WarmScheduleSerializer(row).data)
