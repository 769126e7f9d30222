"""Caches of a cluster's nodes: their settings, and the coverage of versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import token_of, user_of
from atom.accounts.api.people_views import require_installation
from atom.accounts.models import Project
from atom.cache.agents.actions.coverage_map import coverage_map
from atom.cache.agents.actions.settings import cache_settings, change_cache_settings
from atom.cache.models import CacheSettings
from atom.cache.needs import NeedRank
from atom.clusters.api.views import ClusterViewBase
from atom.core.bodies import check
from atom.core.errors import NotFound

_MAX_BYTES = 1 << 50
_DAY_S = 86_400


class CacheSettingsSerializer(serializers.Serializer[Any]):
    """How the caches of a cluster's nodes behave."""

    limit_bytes = serializers.IntegerField(
        allow_null=True,
        min_value=1,
        max_value=_MAX_BYTES,
        help_text="How large each cache may grow; null: as large as its disk allows.",
    )
    replace_after_s = serializers.IntegerField(
        min_value=60,
        max_value=_DAY_S,
        help_text="After so long a silence another node takes a node's part in a plan.",
    )


class CoverageNodeSerializer(serializers.Serializer[Any]):
    """A node of the map."""

    node = serializers.CharField()
    is_reporting = serializers.BooleanField()


class CoverageVersionSerializer(serializers.Serializer[Any]):
    """A version of the map."""

    id = serializers.UUIDField()
    project = serializers.CharField()
    dataset = serializers.CharField()
    ref = serializers.CharField()
    bytes_total = serializers.IntegerField()
    packs_total = serializers.IntegerField()


class CoverageCellSerializer(serializers.Serializer[Any]):
    """How much of a version is on a node."""

    node = serializers.CharField()
    version = serializers.UUIDField()
    state = serializers.CharField()
    bytes_present = serializers.IntegerField()
    bytes_total = serializers.IntegerField()
    packs_present = serializers.IntegerField()
    coverage = serializers.FloatField(help_text="Share of the bytes that are there, 0 to 1.")
    need = serializers.ChoiceField(
        choices=[rank.word for rank in NeedRank],
        help_text="Eviction begins with what is cold and never takes what is running or pinned.",
    )
    used_at = serializers.DateTimeField(allow_null=True)


class CoverageMapSerializer(serializers.Serializer[Any]):
    """The coverage of a cluster's nodes; cells without a byte are left out."""

    nodes = CoverageNodeSerializer(many=True)
    versions = CoverageVersionSerializer(many=True)
    cells = CoverageCellSerializer(many=True)
    left_out = serializers.IntegerField(help_text="Further versions, with fewer bytes there.")


class CacheSettingsView(ClusterViewBase):
    """`clusters/<name>/cache/`, for administrators of the installation."""

    def _row(self, request: Request, name: str) -> CacheSettings:
        cluster = self.cluster_named(name)
        require_installation(request)
        return cache_settings(cluster)

    @extend_schema(operation_id="cluster_cache_get", responses=CacheSettingsSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Show the settings of the caches of a cluster's nodes."""
        return Response(CacheSettingsSerializer(self._row(request, cluster)).data)

    @extend_schema(
        operation_id="cluster_cache_set",
        request=CacheSettingsSerializer,
        responses=CacheSettingsSerializer,
    )
    def put(self, request: Request, cluster: str) -> Response:
        """Replace the settings; agents learn the limit within seconds, and evict down to it."""
        row = self._row(request, cluster)
        body = CacheSettingsSerializer(data=request.data)
        check(body)
        row = change_cache_settings(row.cluster, **body.validated_data, user=user_of(request))
        return Response(CacheSettingsSerializer(row).data)


class CoverageView(ClusterViewBase):
    """`clusters/<name>/coverage/`: administrators see all projects, others their own."""

    @extend_schema(
        operation_id="cluster_coverage",
        responses=CoverageMapSerializer,
        parameters=[OpenApiParameter("project", str, description="The versions of one project.")],
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Show how much of each version is on each node."""
        shown = coverage_map(self.cluster_named(cluster), self._projects(request))
        return Response(CoverageMapSerializer(asdict(shown)).data)

    def _projects(self, request: Request) -> list[Project] | None:
        """Return the projects to show, None for all. Raises NotFound for a foreign one."""
        token, user = token_of(request), user_of(request)
        projects = Project.objects.all().visible_to(user)
        if token is not None and token.project_id is not None:
            projects = projects.filter(pk=token.project_id)
        elif user.is_superuser and "project" not in request.query_params:
            return None
        if slug := request.query_params.get("project"):
            rows = list(projects.filter(slug=slug))
            if not rows:
                raise NotFound
            return rows
        return list(projects)
