"""One task: looking at it, and changing it while people work."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.labeling import permissions
from atom.labeling.actions import settings
from atom.labeling.api.scoped import TaskView
from atom.labeling.api.serializers import (
    LabelTaskSerializer,
    MoveOntologySerializer,
    TaskSettingsSerializer,
)
from atom.labeling.api.views.people import people_named
from atom.labeling.api.views.tasks import render_tasks
from atom.labeling.models import OntologyVersion
from atom_sdk.sentences import Sentence


class LabelTaskView(TaskView):
    """One task."""

    required_role = permissions.ROLE_FOR[permissions.CHANGE]

    @extend_schema(responses=LabelTaskSerializer, operation_id="labelx_tasks_retrieve")
    def get(self, request: Request, task_id: UUID) -> Response:
        """Return the task with its progress."""
        return Response(render_tasks([self.task], self.user)[0])

    @extend_schema(
        request=TaskSettingsSerializer,
        responses=LabelTaskSerializer,
        operation_id="labelx_tasks_partial_update",
    )
    def patch(self, request: Request, task_id: UUID) -> Response:
        """Change the audit share of later submissions, the people, the due date, the priority."""
        body = TaskSettingsSerializer(data=request.data)
        check(body)
        changes = dict(body.validated_data)
        if "assignees" in changes:
            changes["assignees"] = people_named(self.task.project, changes["assignees"])
        task = settings.change_settings(self.task, self.user, changes)
        return Response(render_tasks([task], self.user)[0])


class MoveOntologyView(TaskView):
    """Going on with a newer version of the task's ontology."""

    required_role = permissions.ROLE_FOR[permissions.CHANGE]

    @extend_schema(
        request=MoveOntologySerializer,
        responses=LabelTaskSerializer,
        operation_id="labelx_tasks_move_ontology",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        """Move the task; 409 counts the work that uses labels which the version lacks."""
        body = MoveOntologySerializer(data=request.data)
        check(body)
        versions = OntologyVersion.objects.filter(ontology__project=self.task.project)
        version = versions.filter(pk=body.validated_data["ontology_version"]).first()
        if version is None:
            sentence = Sentence("labeling.version_unknown", "The project has no such version.")
            raise Invalid(errors={"ontology_version": [sentence]})
        task = settings.move_to_version(self.task, self.user, version)
        return Response(render_tasks([task], self.user)[0])
