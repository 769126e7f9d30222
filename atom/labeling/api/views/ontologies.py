"""Ontologies and their versions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.models import Project
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.schema import whole_list
from atom.labeling.actions import ontologies as actions
from atom.labeling.actions.ontologies import OntologyContent
from atom.labeling.actions.version_classes import classes_of
from atom.labeling.api.ontology_serializers import (
    NewOntologySerializer,
    NewOntologyVersionSerializer,
    OntologySerializer,
    OntologyVersionSerializer,
    TemplateSerializer,
    VersionClassesParametersSerializer,
    VersionClassesSerializer,
)
from atom.labeling.api.scoped import LabelXView, version_named
from atom.labeling.engines.ontologies import full_labels, full_schema
from atom.labeling.engines.templates import TEMPLATES
from atom.labeling.models import Ontology, OntologyVersion


def _with_versions() -> QuerySet[Ontology]:
    versions = OntologyVersion.objects.order_by("-number")
    return Ontology.objects.prefetch_related(Prefetch("versions", versions))


class OntologyListView(ProjectScopedView, generics.ListAPIView[Ontology]):
    """The project's ontologies."""

    serializer_class = OntologySerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[Ontology]:
        """Return the project's ontologies with their versions."""
        if getattr(self, "swagger_fake_view", False):
            return Ontology.objects.none()
        return _with_versions().filter(project=self.project)

    @extend_schema(request=NewOntologySerializer, responses={201: OntologySerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make an ontology with its first version."""
        body = NewOntologySerializer(data=request.data)
        check(body)
        data = dict(body.validated_data)
        name = data.pop("name")
        content = OntologyContent(**data)
        version = actions.create_ontology(self.project, user_of(request), name, content)
        ontology = _with_versions().get(pk=version.ontology_id)
        return Response(OntologySerializer(ontology).data, status=status.HTTP_201_CREATED)


class _OntologyView(LabelXView):
    """Below `labelx/ontologies/<id>/`."""

    required_role = "researcher"

    def find_project(self) -> Project:
        """Return the ontology's project."""
        self.ontology = self._find(self.kwargs["ontology_id"])
        return self.ontology.project

    def _find(self, ontology_id: UUID) -> Ontology:
        visible = Project.objects.visible_to(self.user)
        found = _with_versions().filter(project__in=visible, pk=ontology_id)
        ontology = found.select_related("project__unit").first()
        if ontology is None:
            raise NotFound
        return ontology


class OntologyView(_OntologyView):
    """One ontology."""

    @extend_schema(responses=OntologySerializer, operation_id="labelx_ontologies_retrieve")
    def get(self, request: Request, ontology_id: UUID) -> Response:
        """Return the ontology with its versions."""
        return Response(OntologySerializer(self.ontology).data)


class OntologyVersionListView(_OntologyView):
    """Adding versions."""

    @extend_schema(request=NewOntologyVersionSerializer, responses={201: OntologyVersionSerializer})
    @idempotent
    def post(self, request: Request, ontology_id: UUID) -> Response:
        """Add the next version."""
        body = NewOntologyVersionSerializer(data=request.data)
        check(body)
        content = OntologyContent(**body.validated_data)
        version = actions.add_version(self.ontology, self.user, content)
        data = OntologyVersionSerializer(version).data
        return Response(data, status=status.HTTP_201_CREATED)


class OntologyVersionView(_OntologyView):
    """Changing a version before work begins."""

    @extend_schema(request=NewOntologyVersionSerializer, responses=OntologyVersionSerializer)
    def put(self, request: Request, ontology_id: UUID, number: int) -> Response:
        """Replace labels and guideline; refused once a task has started with the version."""
        body = NewOntologyVersionSerializer(data=request.data)
        check(body)
        version = self.ontology.versions.filter(number=number).first()
        if version is None:
            raise NotFound
        content = OntologyContent(**body.validated_data)
        edited = actions.edit_version(version, self.user, content)
        return Response(OntologyVersionSerializer(edited).data)


class TemplatesView(APIView):
    """Ontologies to start with."""

    @extend_schema(
        responses=whole_list(TemplateSerializer, "TemplateList"),
        operation_id="labelx_templates_list",
    )
    def get(self, request: Request) -> Response:
        """Return every template with its labels, as a new task or ontology takes them."""
        results = [
            {
                "key": template.key,
                "name": template.name,
                "description": template.description,
                "modality": template.modality,
                "labels": full_labels(template.labels),
                "schema": full_schema(template.schema),
                "batch_size": template.batch_size,
            }
            for template in TEMPLATES.values()
        ]
        return Response({"results": results, "next": None})


class VersionClassesView(ProjectScopedView, APIView):
    """The classes that a version's objects have."""

    filters = ("dataset",)

    @extend_schema(
        responses=VersionClassesSerializer,
        parameters=[VersionClassesParametersSerializer],
        operation_id="labelx_version_classes",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return them as labels to start with; without objects the list is empty."""
        asked = VersionClassesParametersSerializer(data=request.query_params)
        check(asked)
        version = version_named(self.project, asked.validated_data["dataset"])
        return Response(VersionClassesSerializer(classes_of(version)).data)
