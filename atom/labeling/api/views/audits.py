"""Endpoints for auditors."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import authorize, user_of
from atom.accounts.models import Project
from atom.core.bodies import check
from atom.core.pagination import KeysetPagination
from atom.labeling import permissions, reads
from atom.labeling.actions import audits, leases, sizes
from atom.labeling.actions.audits import Decision, Ruling
from atom.labeling.actions.issues import NewIssue
from atom.labeling.api.audit_serializers import (
    AuditLeaseSerializer,
    CorrectionSerializer,
    DecisionsSerializer,
)
from atom.labeling.api.rendering import render_audit, render_correction
from atom.labeling.api.results import rulings_of
from atom.labeling.api.scoped import TaskView, lease_size
from atom.labeling.api.views.pages import back_of
from atom.labeling.api.views.work import LEASE_SIZE
from atom.labeling.api.work_serializers import ReturnSerializer, SlotResultsSerializer
from atom.labeling.models import AuditDecision, WorkSlot

AUDITOR_ROLE = permissions.ROLE_FOR[permissions.AUDIT]


class AuditLeaseView(TaskView):
    """Handing out submissions for audit."""

    required_role = AUDITOR_ROLE

    @extend_schema(
        request=ReturnSerializer, responses=AuditLeaseSerializer, parameters=[LEASE_SIZE]
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        """Lease up to `n` submissions of other people; what you hold already comes first."""
        n = lease_size(request, self.task.batch_size)
        slots = leases.lease_audits(self.task, self.user, n, back_of(request))
        labels = reads.label_slots_of(slots)
        sizes.know_sizes(reads.audits_for_display(slots))
        return Response({"lease": [render_audit(s, labels[s.work_item_id]) for s in slots]})


class CorrectionsView(TaskView):
    """The caller's work as auditors corrected it."""

    keyset = ("-created_at", "-id")
    filters = ()
    pagination_class = KeysetPagination

    @extend_schema(
        responses=CorrectionSerializer(many=True),
        parameters=[OpenApiParameter("limit", int), OpenApiParameter("cursor", str)],
        operation_id="labelx_tasks_corrections_list",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        """Return one page, newest first."""
        pages = KeysetPagination()
        corrected = reads.corrections_of(self.task, self.user)
        decisions: list[AuditDecision] = pages.paginate_queryset(corrected, request, self)
        rendered = [render_correction(self.task.project_id, one) for one in decisions]
        return pages.get_paginated_response(rendered)


class AuditsView(APIView):
    """Verdicts, of one or several tasks."""

    @extend_schema(request=DecisionsSerializer, responses=SlotResultsSerializer)
    def post(self, request: Request) -> Response:
        """Accept or return; returned work goes to the same person with the comment."""
        body = DecisionsSerializer(data=request.data)
        check(body)
        decisions = [_decision(row) for row in body.validated_data["decisions"]]
        return Response({"results": rulings_of(_decide(request, decisions))})


def _decision(row: dict[str, Any]) -> Decision:
    return Decision(
        slot_id=row["slot"],
        lease_no=row["lease_no"],
        revision_id=row["revision"],
        verdict=row["verdict"],
        error_code=row["error_code"],
        comment=row["comment"],
        issues=[NewIssue.of(issue) for issue in row["issues"]],
        document=row.get("document"),
    )


def _decide(request: Request, decisions: list[Decision]) -> list[Ruling]:
    """Decide project by project; a slot outside the caller's projects is not found."""
    # Before the first project: what is refused was taken in none.
    audits.require_one_each(decisions)
    projects = _projects_of(request, [decision.slot_id for decision in decisions])
    for project in {project.pk: project for project in projects.values()}.values():
        authorize(request, project, AUDITOR_ROLE)
    rulings: dict[UUID, Ruling] = {}
    for project in {project.pk: project for project in projects.values()}.values():
        here = [d for d in decisions if projects.get(d.slot_id) == project]
        rulings |= {r.slot_id: r for r in audits.decide(project, user_of(request), here)}
    return [rulings.get(d.slot_id) or audits.not_found(d) for d in decisions]


def _projects_of(request: Request, slot_ids: list[UUID]) -> dict[UUID, Project]:
    visible: QuerySet[Project] = Project.objects.visible_to(user_of(request))
    slots = WorkSlot.objects.filter(pk__in=slot_ids, label_task__project__in=visible)
    found = slots.select_related("label_task__project__unit")
    return {slot.pk: slot.label_task.project for slot in found}
