"""Where a version may go: clusters of the project with their nodes that have an agent."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import user_of
from atom.cache.agents.actions.choices import node_choices
from atom.clusters.models import Cluster
from atom.datasets.catalog.api.scope import DatasetScopedView


class WarmNodeChoiceSerializer(serializers.Serializer[Any]):
    """A node with an agent, and what it has of the version; sizes in bytes."""

    node = serializers.CharField()
    is_reporting = serializers.BooleanField()
    is_read_only = serializers.BooleanField()
    problem = serializers.CharField(allow_blank=True)
    free_bytes = serializers.IntegerField(help_text="Bytes by which its cache may still grow.")
    bytes_present = serializers.IntegerField()
    bytes_total = serializers.IntegerField()
    lacking_bytes = serializers.IntegerField(help_text="Bytes that fit only if others are evicted.")


class WarmChoiceSerializer(serializers.Serializer[Any]):
    """A cluster that the project may use, with its nodes that have an agent."""

    cluster = serializers.CharField()
    nodes = WarmNodeChoiceSerializer(many=True)


class WarmChoicesView(DatasetScopedView, APIView):
    """`…/versions/<ref>/warm-choices/`."""

    @extend_schema(
        operation_id="warm_choices", responses=WarmChoiceSerializer(many=True), filters=False
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """List the clusters and nodes where the version may go."""
        clusters = Cluster.objects.all().visible_to(user_of(request), self.project.pk)
        choices = node_choices(self.version, list(clusters.registered().order_by("name")))
        return Response(WarmChoiceSerializer(choices, many=True).data)
