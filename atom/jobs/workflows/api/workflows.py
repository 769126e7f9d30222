"""Workflows: the forms that start runs."""

from __future__ import annotations

from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ScopedView, authorize, user_of
from atom.accounts.models import Project
from atom.core.errors import NotFound
from atom.jobs.api_base import PAGE, listing, page_of
from atom.jobs.models import Workflow
from atom.jobs.workflows.actions import workflows
from atom.jobs.workflows.api.workflow_serializers import WorkflowSerializer


class WorkflowsView(ScopedView, APIView):
    """`workflows/`: what may be started with a form."""

    keyset = ("slug", "id")
    filters = ("project",)

    @extend_schema(
        operation_id="workflows_list",
        parameters=[*PAGE, OpenApiParameter("project", str)],
        responses=listing(WorkflowSerializer, "WorkflowPage"),
    )
    def get(self, request: Request) -> Response:
        """List the built-in workflows and those of a project."""
        project = _project_of_query(request)
        visible = Q(project=None) | Q(project=project) if project else Q(project=None)
        return page_of(self, Workflow.objects.filter(visible), WorkflowSerializer)


class WorkflowView(ScopedView, APIView):
    """`workflows/<slug>/`."""

    @extend_schema(
        operation_id="workflows_get",
        parameters=[OpenApiParameter("project", str)],
        responses=WorkflowSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return one workflow with its typed parameters."""
        found = workflows.find(_project_of_query(request), slug)
        if found is None:
            raise NotFound
        return Response(WorkflowSerializer(found).data)


def _project_of_query(request: Request) -> Project | None:
    slug = request.query_params.get("project")
    if not slug:
        return None
    project = Project.objects.visible_to(user_of(request)).filter(slug=slug).first()
    if project is None:
        raise NotFound
    authorize(request, project, "viewer")
    return project
