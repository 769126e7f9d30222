"""`clusters/<cluster>/quotas/`: the most that a project's pods hold in a cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import token_of, user_of
from atom.accounts.models import Project
from atom.clusters.api.views import ClusterViewBase
from atom.clusters.models import Cluster, ClusterQuota
from atom.clusters.quotas.actions.quotas import set_quotas
from atom.clusters.quotas.engines.limits import QuotaLimits
from atom.clusters.registration.actions.registering import refuse_local
from atom.clusters.registration.engines.profile_values import wrong_rdma_resource
from atom.core.bodies import check
from atom.jobs import effects
from atom.jobs.executors.kubernetes.quota_holdings import holdings_in
from atom_sdk.sentences import Sentence

_MAX_COUNT = 1_000_000
_MAX_ROWS = 1000
_MAX_RESOURCES = 20


class QuotaSerializer(serializers.Serializer[Any]):
    """Limits of all pods of one project together; null: as much as there is."""

    cpus = serializers.IntegerField(
        min_value=1, max_value=_MAX_COUNT, allow_null=True, default=None
    )
    memory_bytes = serializers.IntegerField(
        min_value=1 << 20, max_value=1 << 60, allow_null=True, default=None
    )
    pods = serializers.IntegerField(
        min_value=1,
        max_value=_MAX_COUNT,
        allow_null=True,
        default=None,
        help_text="Pods of runs and of builds that have not ended.",
    )
    accelerators = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=_MAX_COUNT),
        default=dict,
        help_text="Counts by the resource's name, such as nvidia.com/gpu.",
    )

    def validate_accelerators(self, counts: dict[str, int]) -> dict[str, int]:
        """Refuse what no device plugin offers."""
        if len(counts) > _MAX_RESOURCES:
            many = Sentence("clusters.settings_many", "At most {max} settings.", max=_MAX_RESOURCES)
            raise serializers.ValidationError(many)
        wrong = Sentence(
            "clusters.quota_resource_wrong",
            "Name the resource as its device plugin offers it, for instance nvidia.com/gpu.",
        )
        bad = {name: wrong for name in counts if not name or wrong_rdma_resource(name)}
        if bad:
            raise serializers.ValidationError(bad)
        return counts


class ProjectQuotaSerializer(QuotaSerializer):
    """The quota of one project, in place of the one for all."""

    project = serializers.SlugRelatedField(slug_field="slug", queryset=Project.objects.all())


class UsedQuotaSerializer(serializers.Serializer[Any]):
    """Resources that the pods of one project hold."""

    project = serializers.CharField()
    cpus = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()
    pods = serializers.IntegerField()
    accelerators = serializers.DictField(child=serializers.IntegerField())


class QuotasSerializer(serializers.Serializer[Any]):
    """All quotas of a cluster."""

    # A field named `default` would be an attribute of each field.
    every_project = QuotaSerializer(
        allow_null=True, default=None, help_text="For projects without their own; null: no limit."
    )
    projects = ProjectQuotaSerializer(  # type: ignore[call-arg]  # of the list
        many=True, default=list, max_length=_MAX_ROWS
    )

    used = UsedQuotaSerializer(
        many=True,
        read_only=True,
        help_text="One row for each project with pods there, as the cluster was last seen.",
    )

    def validate_projects(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two quotas of one project."""
        names = [row["project"].slug for row in rows]
        for name in names:
            if names.count(name) > 1:
                raise serializers.ValidationError(
                    Sentence(
                        "clusters.quota_twice", "The project {project} stands there twice.",
                        project=name,
                    )
                )  # fmt: skip
        return rows


class ClusterQuotasView(ClusterViewBase):
    """`clusters/<cluster>/quotas/`: administrators of the installation write."""

    @extend_schema(operation_id="cluster_quotas_get", responses=QuotasSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Show the quota for all projects, those of the caller's projects, and what these use."""
        row = self.cluster_named(cluster)
        refuse_local(row)
        return self._shown(request, row)

    @extend_schema(
        operation_id="cluster_quotas_set", request=QuotasSerializer, responses=QuotasSerializer
    )
    def put(self, request: Request, cluster: str) -> Response:
        """Replace all quotas. Namespaces with open Jobs get them at once, others at a start."""
        row = self.cluster_named(cluster)
        body = QuotasSerializer(data=request.data)
        check(body)
        refuse_local(row)
        common = body.validated_data["every_project"]
        own = {one.pop("project"): QuotaLimits(**one) for one in body.validated_data["projects"]}
        with transaction.atomic():
            set_quotas(row, QuotaLimits(**common) if common else None, own, user_of(request))
            effects.write_quotas(row.pk)
        return self._shown(request, row)

    def _shown(self, request: Request, cluster: Cluster) -> Response:
        token, user = token_of(request), user_of(request)
        mine = Project.objects.all()
        if token and token.project_id:
            mine = mine.filter(pk=token.project_id)
        elif not user.is_superuser:
            mine = mine.visible_to(user)
        rows = ClusterQuota.objects.filter(Q(project=None) | Q(project__in=mine), cluster=cluster)
        rows = rows.select_related("project")
        common = next((one for one in rows if one.project_id is None), None)
        own = [one for one in rows.order_by("project__slug") if one.project_id is not None]
        holdings = holdings_in(cluster)
        seen = mine.filter(slug__in=holdings).order_by("slug").values_list("slug", flat=True)
        used = [{"project": slug, **asdict(holdings[slug])} for slug in seen]
        shown = {"every_project": common, "projects": own, "used": used}
        return Response(QuotasSerializer(shown).data)
