"""Datasets, versions, branches and tags."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, authorize, user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import words
from atom.datasets.catalog.actions.catalogue import (
    create_dataset,
    create_tag,
    delete_tag,
    describe_dataset,
)
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.api.serializers import (
    BranchSerializer,
    DatasetChangeSerializer,
    DatasetSerializer,
    ExpectedHeadSerializer,
    NewDatasetSerializer,
    NewRefSerializer,
    TagSerializer,
    VersionSerializer,
)
from atom.datasets.catalog.history import history
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.catalog.refs_listing import branches_with_facts, tags_with_facts
from atom.datasets.commits.actions.branches import create_branch, delete_branch
from atom.datasets.errors import DeletionUnconfirmed, RefNotFound
from atom.datasets.models import Branch, Dataset, Tag, Version, resolve_ref
from atom.datasets.retention.actions.deletion import delete_dataset, is_unused
from atom.datasets.sentences import branch_unknown

_PART_OF_NAME = OpenApiParameter("q", str, description="part of the name")


class DatasetListView(ProjectScopedView, generics.ListAPIView[Dataset]):
    """The datasets of a project."""

    write_scope = "push"

    serializer_class = DatasetSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("q",)

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return the project's datasets with the head of `main`."""
        if getattr(self, "swagger_fake_view", False):
            return Dataset.objects.none()
        found = Dataset.objects.in_project(self.project).with_summary()
        return found.filter(name__icontains=words(self.request, "q"))

    @extend_schema(parameters=[_PART_OF_NAME])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewDatasetSerializer, responses={201: DatasetSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Add a dataset."""
        body = NewDatasetSerializer(data=request.data)
        check(body)
        dataset = create_dataset(self.project, user=user_of(request), **body.validated_data)
        found = Dataset.objects.in_project(self.project).with_summary().get(pk=dataset.pk)
        return Response(DatasetSerializer(found).data, status=status.HTTP_201_CREATED)


class DatasetView(ProjectScopedView, APIView):
    """One dataset; researchers may describe it, administrators may delete it."""

    required_roles: ClassVar = {"DELETE": "researcher"}
    # A push that fails takes back the dataset that it made; another is deleted with `write`.
    write_scope = "push"

    @extend_schema(responses=DatasetSerializer, operation_id="dataset_retrieve")
    def get(self, request: Request, project: str, dataset: str) -> Response:
        """Return the dataset."""
        return self._shown(find_dataset(self.project, dataset))

    @extend_schema(
        request=DatasetChangeSerializer,
        responses=DatasetSerializer,
        operation_id="dataset_describe",
    )
    def patch(self, request: Request, project: str, dataset: str) -> Response:
        """Replace the description of the dataset."""
        # The scope `push` of this view adds data; it changes nothing that is there.
        authorize(request, self.project, "researcher", "write")
        body = DatasetChangeSerializer(data=request.data)
        check(body)
        found = find_dataset(self.project, dataset)
        return self._shown(describe_dataset(found, user=user_of(request), **body.validated_data))

    @extend_schema(
        parameters=[OpenApiParameter("name", str, required=True, description="The name again.")],
        responses={204: None},
        operation_id="dataset_destroy",
    )
    def delete(self, request: Request, project: str, dataset: str) -> Response:
        """Delete the dataset; for a while it can be restored.

        Administrators may; and whoever made it, as long as it never had a version.
        """
        found = find_dataset(self.project, dataset)
        delete_dataset(found, user_of(request), self._permit_deletion)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _shown(self, dataset: Dataset) -> Response:
        found = Dataset.objects.in_project(self.project).with_summary().get(pk=dataset.pk)
        return Response(DatasetSerializer(found).data)

    def _permit_deletion(self, locked: Dataset) -> None:
        if not (locked.created_by_id == user_of(self.request).pk and is_unused(locked)):
            authorize(self.request, self.project, "admin")
        if self.request.query_params.get("name") != locked.name:
            raise DeletionUnconfirmed


class VersionListView(DatasetScopedView, generics.ListAPIView[Version]):
    """The history of a branch."""

    serializer_class = VersionSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("branch",)

    @extend_schema(parameters=[OpenApiParameter("branch", str, description="Default: main.")])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Return versions, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Version]:
        """Return the versions of the branch."""
        if getattr(self, "swagger_fake_view", False):
            return Version.objects.none()
        return history(self.dataset, self.request.query_params.get("branch", "main"))


class VersionView(DatasetScopedView, APIView):
    """One version."""

    @extend_schema(responses=VersionSerializer, operation_id="dataset_version_retrieve")
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the version that the ref names."""
        return Response(VersionSerializer(self.version).data)


class BranchListView(DatasetScopedView, generics.ListAPIView[Branch]):
    """The branches of a dataset."""

    serializer_class = BranchSerializer
    pagination_class = KeysetPagination
    keyset = ("name",)
    filters = ("q",)

    @extend_schema(parameters=[_PART_OF_NAME])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page by name, each with how far it is from `main`."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Branch]:
        """Return the branches with their heads; staging branches are listed with their writers."""
        if getattr(self, "swagger_fake_view", False):
            return Branch.objects.none()
        named = self.dataset.branches.filter(name__icontains=words(self.request, "q"))
        return named.filter(writer=None).select_related("head__author")

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page with the facts that are not in the rows."""
        return branches_with_facts(self.dataset, super().paginate_queryset(queryset) or [])

    @extend_schema(request=NewRefSerializer, responses={201: BranchSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Add a branch that begins at a version."""
        name, at = _new_ref(request, self.dataset)
        branch = create_branch(self.dataset, name, at, user_of(request))
        branches_with_facts(self.dataset, [branch])
        return Response(BranchSerializer(branch).data, status=status.HTTP_201_CREATED)


class BranchView(DatasetScopedView, APIView):
    """One branch."""

    @extend_schema(responses=BranchSerializer, operation_id="branch_retrieve")
    def get(self, request: Request, project: str, dataset: str, name: str) -> Response:
        """Return the branch with its head."""
        found = self.dataset.branches.select_related("head__author").filter(name=name).first()
        if found is None:
            raise RefNotFound(branch_unknown(self.dataset.name, name))
        branches_with_facts(self.dataset, [found])
        return Response(BranchSerializer(found).data)

    @extend_schema(parameters=[ExpectedHeadSerializer], responses={204: None})
    def delete(self, request: Request, project: str, dataset: str, name: str) -> Response:
        """Remove a branch that is still where the caller saw it; its versions stay."""
        query = ExpectedHeadSerializer(data=request.query_params.dict())
        check(query)
        head = query.validated_data["expected_head"]
        delete_branch(self.dataset, name, head, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TagListView(DatasetScopedView, generics.ListAPIView[Tag]):
    """The tags of a dataset."""

    serializer_class = TagSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")
    filters = ("q",)

    @extend_schema(parameters=[_PART_OF_NAME])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, newest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Tag]:
        """Return the tags with their versions."""
        if getattr(self, "swagger_fake_view", False):
            return Tag.objects.none()
        named = self.dataset.tags.filter(name__icontains=words(self.request, "q"))
        return named.select_related("version__author")

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page with who gave the tags."""
        return tags_with_facts(self.dataset, super().paginate_queryset(queryset) or [])

    @extend_schema(request=NewRefSerializer, responses={201: TagSerializer})
    @idempotent
    def post(self, request: Request, project: str, dataset: str) -> Response:
        """Give a version a name that never moves."""
        name, at = _new_ref(request, self.dataset)
        tag = create_tag(self.dataset, name, at, user_of(request))
        tags_with_facts(self.dataset, [tag])
        return Response(TagSerializer(tag).data, status=status.HTTP_201_CREATED)


class TagView(DatasetScopedView, APIView):
    """One tag. It never moves; administrators may take away one that was given by mistake."""

    required_roles: ClassVar = {"DELETE": "admin"}

    @extend_schema(responses={204: None}, operation_id="tag_destroy")
    def delete(self, request: Request, project: str, dataset: str, name: str) -> Response:
        """Remove the tag; its version stays."""
        delete_tag(self.dataset, name, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _new_ref(request: Request, dataset: Dataset) -> tuple[str, Version]:
    body = NewRefSerializer(data=request.data)
    check(body)
    return body.validated_data["name"], resolve_ref(dataset, body.validated_data["at"])
