"""Replicas of a version and of a project."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.models import Replica
from atom.datasets.replicas.actions import replicas
from atom.datasets.replicas.api.replica_serializers import (
    NewReplicaSerializer,
    ReplicaEndSerializer,
    ReplicaPreviewSerializer,
    ReplicaSerializer,
)
from atom.datasets.replicas.reads import find_replica, find_store, replicas_in


class VersionReplicasView(DatasetScopedView, APIView):
    """`…/versions/<ref>/replicas/`."""

    @extend_schema(
        operation_id="version_replicas", responses=ReplicaSerializer(many=True), filters=False
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """List the replicas of the version, newest first."""
        rows = replicas_in(self.project).filter(version=self.version)
        return Response(ReplicaSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="version_replicate",
        request=NewReplicaSerializer,
        responses={201: ReplicaSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Have the version copied into a second store; only packs that it lacks are sent."""
        body = NewReplicaSerializer(data=request.data)
        check(body)
        options = dict(body.validated_data)
        store = find_store(options.pop("store"))
        terms = replicas.ReplicaTerms(**options)
        replica = replicas.start_replica(self.version, store, terms, user_of(request))
        replica.refresh_from_db()
        return Response(ReplicaSerializer(replica).data, status=status.HTTP_201_CREATED)


class ReplicaPreviewView(DatasetScopedView, APIView):
    """`…/versions/<ref>/replica-preview/`."""

    @extend_schema(
        operation_id="version_replica_preview",
        parameters=[OpenApiParameter("store", str, required=True)],
        responses=ReplicaPreviewSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return what a replica in the store would copy, and its price; nothing starts."""
        store = find_store(request.query_params.get("store", ""))
        expected = replicas.preview(self.version, store)
        shown = {
            "store": store.name,
            "packs_total": expected.packs_total,
            "bytes_total": expected.bytes_total,
            "packs_to_copy": expected.packs_to_copy,
            "bytes_to_copy": expected.bytes_to_copy,
            "cost": expected.cost.once,
            "cost_per_month": expected.cost.per_month,
            "currency": expected.cost.currency,
        }
        return Response(ReplicaPreviewSerializer(shown).data)


class VersionReplicaView(DatasetScopedView, APIView):
    """`…/versions/<ref>/replicas/<store>/`."""

    @extend_schema(operation_id="version_replica", responses=ReplicaSerializer)
    def get(self, request: Request, project: str, dataset: str, ref: str, store: str) -> Response:
        """Show the version's replica in a store."""
        return Response(ReplicaSerializer(find_replica(self.version, store)).data)

    @extend_schema(
        operation_id="version_replica_change",
        request=ReplicaEndSerializer,
        responses=ReplicaSerializer,
    )
    @idempotent
    def patch(self, request: Request, project: str, dataset: str, ref: str, store: str) -> Response:
        """Pin the replica, or give it another end."""
        body = ReplicaEndSerializer(data=request.data)
        check(body)
        replica = find_replica(self.version, store)
        replicas.change_replica(replica, user_of(request), **body.validated_data)
        return Response(ReplicaSerializer(find_replica(self.version, store)).data)

    @extend_schema(operation_id="version_replica_remove", responses={202: ReplicaSerializer})
    def delete(
        self, request: Request, project: str, dataset: str, ref: str, store: str
    ) -> Response:
        """Stop the copy and remove the replica, once the last address of it has expired."""
        replica = replicas.remove_replica(find_replica(self.version, store), user_of(request))
        return Response(ReplicaSerializer(replica).data, status=status.HTTP_202_ACCEPTED)


class ReplicasView(ProjectScopedView, generics.ListAPIView[Replica]):
    """`projects/<project>/replicas/`."""

    serializer_class = ReplicaSerializer
    pagination_class = KeysetPagination
    keyset = ("-created_at", "-id")

    def get_queryset(self) -> QuerySet[Replica]:
        """Return the project's replicas, newest first."""
        if getattr(self, "swagger_fake_view", False):
            return Replica.objects.none()
        return replicas_in(self.project)

    @extend_schema(operation_id="replicas_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the project's replicas, newest first."""
        return super().get(request, *args, **kwargs)
