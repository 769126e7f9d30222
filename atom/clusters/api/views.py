"""`clusters/`: where runs can run, and what is taken there."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ScopedView
from atom.clusters.models import Cluster, Node
from atom.core.pagination import KeysetPagination


class UsedSerializer(serializers.Serializer[Any]):
    """Resources that attempts hold on a node."""

    cpus = serializers.IntegerField(source="used_cpus")
    memory_bytes = serializers.IntegerField(source="used_memory_bytes")
    gpus = serializers.IntegerField(source="used_gpus")


class NodeSerializer(serializers.ModelSerializer[Node]):
    """A machine; the queryset is `Node.objects.with_used()`."""

    used = UsedSerializer(source="*")

    class Meta:
        model = Node
        fields = (
            "id", "name", "cpu_count", "memory_bytes", "gpu_count", "gpu_model", "schedulable",
            "heartbeat_at", "used",
        )  # fmt: skip


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A set of machines."""

    nodes = NodeSerializer(many=True)

    class Meta:
        model = Cluster
        fields = ("id", "name", "kind", "state", "single_user", "nodes")


class ClustersView(ScopedView, APIView):
    """`clusters/`."""

    keyset = ("name", "id")

    @extend_schema(
        operation_id="clusters_list",
        responses=inline_serializer(
            "ClusterPage",
            {
                "results": ClusterSerializer(many=True),
                "next": serializers.CharField(allow_null=True),
            },
        ),
    )
    def get(self, request: Request) -> Response:
        """List the clusters with their machines."""
        nodes = Prefetch("nodes", Node.objects.with_used().order_by("name"))
        paginator = KeysetPagination()
        found = Cluster.objects.prefetch_related(nodes)
        page = paginator.paginate_queryset(found, request, self)
        return paginator.get_paginated_response(ClusterSerializer(page, many=True).data)
