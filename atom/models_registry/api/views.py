"""Models, their versions, aliases and evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import words
from atom.core.schema import whole_list
from atom.jobs.models import Run
from atom.models_registry import actions, reads
from atom.models_registry.api.serializers import (
    AliasChangeSerializer,
    AliasSerializer,
    AliasTargetSerializer,
    EvaluationSerializer,
    ModelSerializer,
    ModelVersionSerializer,
    NewModelSerializer,
    NewVersionSerializer,
)
from atom.models_registry.errors import ModelNotFound, ModelVersionNotFound
from atom.models_registry.models import AliasChange, Evaluation, Model, ModelVersion
from atom_sdk.sentences import Sentence


def render_models(models: Sequence[Model]) -> list[dict[str, Any]]:
    """Return models of `reads.models_of` with their newest versions: a fixed number of queries."""
    context = {"latest": reads.latest_versions(models)}
    return list(ModelSerializer(models, many=True, context=context).data)


class ModelListView(ProjectScopedView, generics.GenericAPIView[Model]):
    """The project's models."""

    serializer_class = ModelSerializer
    pagination_class = KeysetPagination
    filters = ("q",)

    def get_queryset(self) -> QuerySet[Model]:
        """Return the models."""
        if getattr(self, "swagger_fake_view", False):
            return Model.objects.none()
        return reads.models_of(self.project)

    @extend_schema(
        responses=ModelSerializer(many=True),
        parameters=[OpenApiParameter("q", str, description="part of the name")],
        operation_id="models_list",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        models = self.get_queryset().filter(name__icontains=words(request, "q"))
        page = self.paginate_queryset(models) or []
        return self.get_paginated_response(render_models(page))

    @extend_schema(request=NewModelSerializer, responses={201: ModelSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a model without versions."""
        body = NewModelSerializer(data=request.data)
        check(body)
        made = actions.create_model(self.project, user_of(request), **body.validated_data)
        model = reads.models_of(self.project).get(pk=made.pk)
        return Response(render_models([model])[0], status=status.HTTP_201_CREATED)


class ModelScopedView(ProjectScopedView):
    """Below `models/<model>/`."""

    @cached_property
    def model(self) -> Model:
        """The model of the path."""
        found = reads.models_of(self.project).filter(name=self.kwargs["model"]).first()
        if found is None:
            raise ModelNotFound(
                Sentence(
                    "models.model_unknown", "There is no model {model}.", model=self.kwargs["model"]
                )
            )
        return found

    @cached_property
    def version(self) -> ModelVersion:
        """The version of the path."""
        number = self.kwargs["number"]
        versions = reads.versions_for_display().filter(model=self.model)
        found = versions.filter(number=number).first()
        if found is None:
            raise ModelVersionNotFound(
                Sentence(
                    "datasets.version_unknown",
                    "{dataset} has no version {version}.",
                    dataset=self.model.name,
                    version=number,
                )
            )
        return found


class ModelView(ModelScopedView, APIView):
    """One model."""

    @extend_schema(responses=ModelSerializer, operation_id="models_retrieve")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the model with its newest version and aliases."""
        return Response(render_models([self.model])[0])


class VersionListView(ModelScopedView, generics.ListAPIView[ModelVersion]):
    """The versions of a model."""

    serializer_class = ModelVersionSerializer
    pagination_class = KeysetPagination
    keyset = ("-number",)

    def get_queryset(self) -> QuerySet[ModelVersion]:
        """Return the versions."""
        if getattr(self, "swagger_fake_view", False):
            return ModelVersion.objects.none()
        return reads.versions_for_display().filter(model=self.model)

    @extend_schema(request=NewVersionSerializer, responses={201: ModelVersionSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Register the stored files of a run; the same again answers with the same version."""
        body = NewVersionSerializer(data=request.data)
        check(body)
        data = body.validated_data
        run = Run.objects.filter(project=self.project, pk=data["run"]).first()
        if run is None:
            raise Invalid(
                errors={"run": [ErrorDetail("The project has no such run.", code="does_not_exist")]}
            )
        made = actions.register(
            self.model, run, data["artifact_path"], user_of(request), data["description"]
        )
        version = reads.versions_for_display().get(pk=made.pk)
        return Response(ModelVersionSerializer(version).data, status=status.HTTP_201_CREATED)


class VersionView(ModelScopedView, APIView):
    """One version."""

    @extend_schema(responses=ModelVersionSerializer, operation_id="models_versions_retrieve")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the version with its evaluations."""
        return Response(ModelVersionSerializer(self.version).data)


class EvaluationListView(ModelScopedView, generics.ListAPIView[Evaluation]):
    """The evaluations of a version."""

    serializer_class = EvaluationSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[Evaluation]:
        """Return the evaluations."""
        if getattr(self, "swagger_fake_view", False):
            return Evaluation.objects.none()
        found = Evaluation.objects.filter(model_version=self.version)
        return found.select_related("dataset_version__dataset", "run")


class AliasListView(ModelScopedView, APIView):
    """The aliases of a model."""

    @extend_schema(
        responses=whole_list(AliasSerializer, "AliasList"), operation_id="models_aliases_list"
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return every alias by name."""
        aliases = AliasSerializer(self.model.aliases.all(), many=True).data
        return Response({"results": aliases, "next": None})


class AliasHistoryView(ModelScopedView, generics.ListAPIView[AliasChange]):
    """How the aliases moved."""

    serializer_class = AliasChangeSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[AliasChange]:
        """Return the steps, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return AliasChange.objects.none()
        return self.model.alias_changes.select_related("old", "new", "actor")


class AliasView(ModelScopedView, APIView):
    """One alias."""

    @extend_schema(request=AliasTargetSerializer, responses=AliasSerializer)
    def put(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Point the alias at a version."""
        body = AliasTargetSerializer(data=request.data)
        check(body)
        number = body.validated_data["version"]
        version = self.model.versions.filter(number=number).first()
        if version is None:
            raise Invalid(
                errors={
                    "version": [
                        Sentence(
                            "models.version_number_unknown",
                            "{model} has no version {version}.",
                            model=self.model.name,
                            version=number,
                        )
                    ]
                }
            )
        name = NewModelSerializer(data={"name": self.kwargs["alias"]})
        check(name)
        alias = actions.set_alias(self.model, self.kwargs["alias"], version, user_of(request))
        return Response(AliasSerializer(alias).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Take the alias away; its history stays."""
        actions.remove_alias(self.model, self.kwargs["alias"], user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
