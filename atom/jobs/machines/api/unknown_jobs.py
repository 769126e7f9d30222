"""`clusters/<name>/unknown-jobs/`: Jobs that Atom made and no longer knows."""

from __future__ import annotations

import shlex

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.people_views import InstallationView
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster
from atom.core.pagination import KeysetPagination
from atom.jobs.models import UnknownJob


class UnknownJobSerializer(serializers.ModelSerializer[UnknownJob]):
    """A Job with this installation's label that belongs to no run of this database."""

    made_at = serializers.DateTimeField(
        allow_null=True, help_text="When the cluster made it, by the cluster's clock."
    )
    pods = serializers.IntegerField(help_text="How many of its pods have not ended.")
    seen_at = serializers.DateTimeField(source="updated_at")
    command = serializers.SerializerMethodField(
        help_text="Deletes the Job with its pods. Atom never does it by itself."
    )

    class Meta:
        model = UnknownJob
        fields = ("id", "namespace", "name", "uid", "made_at", "pods", "seen_at", "command")

    def get_command(self, job: UnknownJob) -> str:
        """Return the command by which an administrator of the cluster deletes the Job."""
        name, namespace = shlex.quote(job.name), shlex.quote(job.namespace)
        # Without a cascade the pods would stay and keep their accelerators.
        return f"kubectl delete job {name} --namespace {namespace} --cascade=background"


class UnknownJobsView(InstallationView, APIView):
    """`clusters/<name>/unknown-jobs/`, for administrators of the installation."""

    keyset = ("name", "id")

    @extend_schema(
        operation_id="cluster_unknown_jobs",
        responses=inline_serializer(
            "UnknownJobPage",
            {
                "results": UnknownJobSerializer(many=True),
                "next": serializers.CharField(allow_null=True),
            },
        ),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the cluster's Jobs of this installation that belong to no run it knows."""
        row = Cluster.objects.present().filter(name=cluster).first()
        if row is None:
            raise ClusterNotFound
        paginator = KeysetPagination()
        page = paginator.paginate_queryset(UnknownJob.objects.filter(cluster=row), request, self)
        return paginator.get_paginated_response(UnknownJobSerializer(page, many=True).data)
