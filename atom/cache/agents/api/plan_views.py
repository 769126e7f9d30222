"""Warm-up plans of a project, and the agents of a cluster."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Prefetch, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.api.people_views import require_installation
from atom.cache.agents.actions.evicting import promised_on
from atom.cache.agents.actions.joining import DAEMON_SET
from atom.cache.agents.actions.plans import (
    PlanOptions,
    cancel_plan,
    find_plan,
    start_plan,
    usable_cluster,
)
from atom.cache.agents.api.plan_shapes import (
    NewWarmPlanSerializer,
    NodeAgentSerializer,
    WarmPlanSerializer,
)
from atom.cache.agents.engines.manifest import AgentOrder, agent_yaml
from atom.cache.errors import AgentImageUnset
from atom.cache.models import NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_STATES
from atom.clusters.api.views import ClusterViewBase
from atom.clusters.errors import ClusterNotFound
from atom.clusters.kubernetes.pod_address import pod_api_url
from atom.clusters.kubernetes.pod_identity import audience_of, installation
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import choice
from atom.datasets.catalog.api.scope import DatasetScopedView


def _shown(plans: list[WarmPlan]) -> list[WarmPlan]:
    """Set `shown_parts` of plans: their nodes, with the bytes of open fetches added."""
    moving: dict[tuple[UUID, UUID], int] = {}
    for fetch in PackFetch.objects.filter(plan__in=plans):
        place = (fetch.plan_id, fetch.node_id)
        moving[place] = moving.get(place, 0) + fetch.bytes_done
    for plan in plans:
        parts = sorted(plan.parts.all(), key=lambda part: part.node.name)
        for part in parts:
            present = part.bytes_present + moving.get((plan.pk, part.node_id), 0)
            part.bytes_present = min(present, part.bytes_total)
        plan.shown_parts = parts  # type: ignore[attr-defined]  # read by the serializer
    return plans


def _plan_line(project_id: UUID, plan_id: UUID) -> dict[str, Any]:
    (plan,) = _shown([find_plan(project_id, plan_id)])
    return dict(WarmPlanSerializer(plan).data)


def _with_parts(plans: QuerySet[WarmPlan]) -> QuerySet[WarmPlan]:
    parts = Prefetch("parts", WarmPlanNode.objects.select_related("node", "replaced_by"))
    return plans.prefetch_related(parts).select_related("version__dataset", "cluster", "created_by")


class PlanListView(generics.ListAPIView[WarmPlan]):
    """A list of plans, newest first."""

    serializer_class = WarmPlanSerializer
    pagination_class = KeysetPagination

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page of plans with the bytes of open fetches."""
        paginator = KeysetPagination()
        page = _shown(paginator.paginate_queryset(self.get_queryset(), request, self))
        return paginator.get_paginated_response(WarmPlanSerializer(page, many=True).data)


class VersionWarmPlansView(DatasetScopedView, PlanListView):
    """`…/versions/<ref>/warm-plans/`."""

    def get_queryset(self) -> QuerySet[WarmPlan]:
        """Return the version's plans."""
        if getattr(self, "swagger_fake_view", False):
            return WarmPlan.objects.none()
        return _with_parts(WarmPlan.objects.filter(version=self.version))

    @extend_schema(operation_id="version_warm_plans")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the warm-up plans of a version, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="warm_plans_create",
        request=NewWarmPlanSerializer,
        responses={201: WarmPlanSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Bring the version to nodes of a cluster by their agents."""
        version = self.version
        body = NewWarmPlanSerializer(data=request.data)
        check(body)
        options = dict(body.validated_data)
        cluster = usable_cluster(self.project, user_of(request), options.pop("cluster"))
        plan = start_plan(version, cluster, PlanOptions(**options), user_of(request))
        return Response(_plan_line(self.project.pk, plan.pk), status=201)


class WarmPlansView(ProjectScopedView, PlanListView):
    """`projects/<project>/warm-plans/`."""

    filters = ("state",)

    def get_queryset(self) -> QuerySet[WarmPlan]:
        """Return the project's plans; with `state` those that are in it."""
        if getattr(self, "swagger_fake_view", False):
            return WarmPlan.objects.none()
        plans = _with_parts(WarmPlan.objects.filter(project=self.project))
        state = choice(self.request, "state", WARM_PLAN_STATES)
        return plans.filter(state=state) if state else plans

    @extend_schema(
        operation_id="warm_plans_list",
        parameters=[OpenApiParameter("state", str, enum=list(WARM_PLAN_STATES))],
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the project's warm-up plans, newest first."""
        return super().get(request, *args, **kwargs)


class WarmPlanView(ProjectScopedView, APIView):
    """`projects/<project>/warm-plans/<id>/`."""

    @extend_schema(operation_id="warm_plans_get", responses=WarmPlanSerializer)
    def get(self, request: Request, project: str, plan_id: UUID) -> Response:
        """Show a plan with the progress of each node."""
        return Response(_plan_line(self.project.pk, plan_id))


class WarmPlanCancelView(ProjectScopedView, APIView):
    """`projects/<project>/warm-plans/<id>/cancel/`."""

    @extend_schema(operation_id="warm_plans_cancel", request=None, responses=WarmPlanSerializer)
    def post(self, request: Request, project: str, plan_id: UUID) -> Response:
        """Cancel a plan that runs, or release the pin of one that is done."""
        cancel_plan(find_plan(self.project.pk, plan_id), user_of(request))
        return Response(_plan_line(self.project.pk, plan_id))


class ClusterAgentsView(ClusterViewBase):
    """`clusters/<name>/agents/`."""

    @extend_schema(
        operation_id="cluster_agents", responses=NodeAgentSerializer(many=True), filters=False
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the node agents of a cluster, for administrators of the installation."""
        found = self.cluster_named(cluster)
        require_installation(request)
        agents = NodeAgent.objects.filter(node__cluster=found).select_related("node")
        rows = list(agents.annotate(volume_count=Count("node__volumes")).order_by("node__name"))
        context = {"promised": promised_on([agent.node_id for agent in rows])}
        return Response(NodeAgentSerializer(rows, many=True, context=context).data)


class AgentManifestView(ClusterViewBase):
    """`clusters/<name>/agent-manifest/`."""

    @extend_schema(
        operation_id="cluster_agent_manifest",
        parameters=[
            OpenApiParameter(
                "volumes",
                bool,
                description="With the driver of volumes; its containers are privileged.",
            )
        ],
        responses={(200, "application/yaml"): OpenApiTypes.STR},
    )
    def get(self, request: Request, cluster: str) -> HttpResponse:
        """Return the YAML that installs the node agent, for administrators of the installation."""
        found = self.cluster_named(cluster)
        require_installation(request)
        if not found.is_registered:
            raise ClusterNotFound
        if not settings.ATOM_AGENT_IMAGE:
            raise AgentImageUnset
        order = AgentOrder(
            name=DAEMON_SET,
            cluster_id=str(found.pk),
            namespace=found.namespace,
            image=str(settings.ATOM_AGENT_IMAGE),
            api_url=pod_api_url(),
            audience=audience_of(installation()),
            has_volumes=request.query_params.get("volumes") == "true",
        )
        return HttpResponse(agent_yaml(order), content_type="application/yaml")
