"""`clusters/`: where runs can run, what is taken there, and the registration of more."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, ScopedView, token_of, user_of
from atom.accounts.api.people_views import InstallationView, require_installation
from atom.clusters.api.serializers import (
    ClusterChangesSerializer,
    ClusterDetailSerializer,
    ClusterSerializer,
    CredentialsSerializer,
    DryRunResultSerializer,
    NewClusterSerializer,
)
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster, Node
from atom.clusters.node_use import add_node_use
from atom.clusters.registration.actions import registering
from atom.core.bodies import check
from atom.core.pagination import KeysetPagination


class ClusterViewBase(ScopedView, APIView):
    """Everybody reads what their projects may use; administrators of the installation write."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse writes of everybody else."""
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE:
            require_installation(request)

    def clusters(self) -> QuerySet[Cluster]:
        """Return the clusters that the caller may see."""
        nodes = Node.objects.with_used().prefetch_related("accelerators").order_by("name")
        token = token_of(self.request)
        visible = Cluster.objects.all().visible_to(
            user_of(self.request), token.project_id if token else None
        )
        return visible.prefetch_related(Prefetch("nodes", nodes), "prices", "routes")

    def cluster_named(self, name: str) -> Cluster:
        """Return a cluster by its name. Raises ClusterNotFound."""
        cluster = self.clusters().filter(name=name).first()
        if cluster is None:
            raise ClusterNotFound
        add_node_use([cluster])
        return cluster

    def answer(self, name: str, status: int = 200) -> Response:
        """Return a cluster as the caller may see it."""
        token = token_of(self.request)
        administrates = user_of(self.request).is_superuser and not (token and token.project_id)
        context = {"administrates": administrates}
        data = ClusterDetailSerializer(self.cluster_named(name), context=context).data
        return Response(data, status=status)


class ClustersView(ClusterViewBase):
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
        """List the clusters that the caller's projects may use, with their machines."""
        paginator = KeysetPagination()
        page = paginator.paginate_queryset(self.clusters(), request, self)
        add_node_use(page)
        return paginator.get_paginated_response(ClusterSerializer(page, many=True).data)

    @extend_schema(
        operation_id="cluster_register",
        request=NewClusterSerializer,
        responses={201: ClusterDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        """Register a cluster that can be reached; its state says whether a check failed."""
        body = NewClusterSerializer(data=request.data)
        check(body)
        name = body.validated_data["name"]
        credentials = body.credentials or registering.Credentials()
        registering.register(name, credentials, body.options, user_of(request))
        return self.answer(name, 201)


class DryRunView(InstallationView, APIView):
    """`clusters/check/`, for administrators of the installation."""

    @extend_schema(
        operation_id="cluster_dry_run",
        request=CredentialsSerializer,
        responses=DryRunResultSerializer,
    )
    def post(self, request: Request) -> Response:
        """Check a cluster before it is registered; nothing is kept."""
        body = CredentialsSerializer(data=request.data)
        check(body)
        credentials = body.credentials or registering.Credentials()
        namespace = body.validated_data.get("namespace", "")
        access, result = registering.dry_run(credentials, namespace)
        shown = {
            "server": access.server,
            "context": access.context,
            "passed": result.passed,
            "findings": [finding.as_json() for finding in result.findings],
            "facts": result.facts,
        }
        return Response(DryRunResultSerializer(shown).data)


class ClusterView(ClusterViewBase):
    """`clusters/<name>/`."""

    @extend_schema(operation_id="cluster_get", responses=ClusterDetailSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Show a cluster."""
        return self.answer(cluster)

    @extend_schema(
        operation_id="cluster_change",
        request=ClusterChangesSerializer,
        responses=ClusterDetailSerializer,
    )
    def patch(self, request: Request, cluster: str) -> Response:
        """Change settings and prices, or give another kubeconfig, which is checked first."""
        row = self.cluster_named(cluster)
        body = ClusterChangesSerializer(data=request.data)
        check(body)
        registering.change(row, body.credentials, body.options, user_of(request))
        return self.answer(cluster)

    @extend_schema(operation_id="cluster_remove", responses={204: None})
    def delete(self, request: Request, cluster: str) -> Response:
        """Forget the cluster and its kubeconfig; refused while runs are there."""
        registering.remove(self.cluster_named(cluster), user_of(request))
        return Response(status=204)


class ClusterCheckView(ClusterViewBase):
    """`clusters/<name>/check/`."""

    @extend_schema(
        operation_id="cluster_check", request=None, responses={200: ClusterDetailSerializer}
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Ask the cluster again; one that does not answer becomes unreachable."""
        registering.check_now(self.cluster_named(cluster))
        return self.answer(cluster)


class ClusterDrainView(ClusterViewBase):
    """`clusters/<name>/drain/`."""

    @extend_schema(
        operation_id="cluster_drain", request=None, responses={200: ClusterDetailSerializer}
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Keep new runs off the cluster; runs that are there go on."""
        registering.drain(self.cluster_named(cluster), user_of(request))
        return self.answer(cluster)


class ClusterResumeView(ClusterViewBase):
    """`clusters/<name>/resume/`."""

    @extend_schema(
        operation_id="cluster_resume", request=None, responses={200: ClusterDetailSerializer}
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Let the cluster take runs again, once a check passes."""
        registering.resume(self.cluster_named(cluster), user_of(request))
        return self.answer(cluster)
