"""`clusters/<cluster>/runs/`: the open runs of a cluster."""

from __future__ import annotations

from django.db.models import OuterRef, Q, QuerySet, Subquery
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ScopedView, token_of, user_of
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster
from atom.core.states import choices
from atom.jobs import states
from atom.jobs.api_base import PAGE, listing, page_of
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.run_search import on_cluster


class ClusterRunSerializer(serializers.ModelSerializer[Run]):
    """An open run of a cluster."""

    project = serializers.CharField(source="project.slug")
    state = serializers.ChoiceField(choices=choices(states.RUN_STATES))
    node = serializers.CharField(source="last_node", allow_null=True)
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)

    class Meta:
        model = Run
        fields = (
            "id", "number", "name", "project", "state", "node", "cpus", "memory_bytes", "gpus",
            "accelerator", "created_by", "created_at", "started_at",
        )  # fmt: skip


class ClusterRunsView(ScopedView, APIView):
    """`clusters/<cluster>/runs/`, for everybody who may see the cluster."""

    @extend_schema(
        operation_id="cluster_runs",
        parameters=PAGE,
        responses=listing(ClusterRunSerializer, "ClusterRunPage"),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the open runs of a cluster in the caller's projects, newest first."""
        token = token_of(request)
        project_id = token.project_id if token else None
        user = user_of(request)
        row = Cluster.objects.all().visible_to(user, project_id).filter(name=cluster).first()
        if row is None:
            raise ClusterNotFound
        runs = Run.objects.all().visible_to(user).filter(_is_on(row), state__in=states.ACTIVE)
        if project_id is not None:
            runs = runs.filter(project=project_id)
        return page_of(self, _shown(runs), ClusterRunSerializer)


def _is_on(cluster: Cluster) -> Q:
    # A removed cluster's name is free: its runs are not those of the next one.
    return Q(cluster=cluster) if cluster.is_registered else on_cluster(cluster.name)


def _shown(runs: QuerySet[Run]) -> QuerySet[Run]:
    last = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number")
    related = runs.select_related("project", "created_by")
    own = ("id", "number", "name", "state", "cpus", "memory_bytes", "gpus", "created_at")
    more = ("accelerator", "started_at", "project__slug", "created_by__username")
    return related.only(*own, *more).annotate(last_node=Subquery(last.values("node__name")[:1]))
