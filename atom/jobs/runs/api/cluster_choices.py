"""`projects/<project>/cluster-choices/`: where a run of the project could go."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.clusters.api.serializers import PriceSerializer
from atom.clusters.models import Cluster
from atom.clusters.states import CLUSTER_STATES
from atom.core.bodies import check
from atom.core.states import all_states
from atom.jobs.json_values import names
from atom.jobs.runs.actions.cluster_choices import cluster_choices
from atom.jobs.runs.actions.plan import DEFAULT_RESOURCES
from atom.jobs.runs.api.request_serializers import accelerator_field, nodes_field
from atom.jobs.runs.engines.cluster_choice import Fits
from atom.jobs.scheduling.engines.accelerators import without_gpus
from atom.jobs.scheduling.engines.placement import Demand


class WantedSerializer(serializers.Serializer[Any]):
    """The resources that a run would ask for, as a query."""

    cpus = serializers.IntegerField(
        min_value=1, max_value=10_000, default=DEFAULT_RESOURCES["cpus"]
    )
    memory_bytes = serializers.IntegerField(
        min_value=1, max_value=1 << 50, default=DEFAULT_RESOURCES["memory_bytes"]
    )
    gpus = serializers.IntegerField(
        min_value=0, max_value=10_000, default=DEFAULT_RESOURCES["gpus"]
    )
    accelerator = accelerator_field(default="")
    nodes = nodes_field(default=1)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a kind without a number of GPUs."""
        if attrs["accelerator"] and not attrs["gpus"]:
            refusal = without_gpus(attrs["accelerator"])
            raise serializers.ValidationError({"accelerator": refusal})
        return attrs


class ChoiceReasonSerializer(serializers.Serializer[Any]):
    """The first reason that forbids a cluster, or makes the run wait."""

    code = serializers.CharField()
    sentence = serializers.CharField()
    params = serializers.DictField()


class AcceleratorChoiceSerializer(serializers.Serializer[Any]):
    """Accelerators of one kind.

    `free` is null where Atom does not know the kinds that runs hold; `reason` says why no run can
    choose the kind.
    """

    kind = serializers.CharField()
    total = serializers.IntegerField()
    free = serializers.IntegerField(allow_null=True)
    reason = ChoiceReasonSerializer(allow_null=True)


class ClusterChoiceSerializer(serializers.Serializer[Any]):
    """A cluster that a run could choose."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(Cluster._meta.get_field("kind").choices or ()))
    state = serializers.ChoiceField(choices=sorted(all_states(CLUSTER_STATES)))
    fits = serializers.ChoiceField(choices=names(Fits))
    reason = ChoiceReasonSerializer(allow_null=True)
    accelerators = AcceleratorChoiceSerializer(many=True)
    prices = PriceSerializer(many=True)


class ClusterChoicesSerializer(serializers.Serializer[Any]):
    """The clusters that the project may use, Atom's own machines first."""

    results = ClusterChoiceSerializer(many=True)


class ClusterChoicesView(ProjectScopedView, APIView):
    """`projects/<project>/cluster-choices/`."""

    @extend_schema(
        operation_id="cluster_choices",
        parameters=[WantedSerializer],
        responses=ClusterChoicesSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Return where a run with these resources could go, and when there is room for it."""
        wanted = WantedSerializer(data=request.query_params)
        check(wanted)
        data = dict(wanted.validated_data)
        nodes = data.pop("nodes")
        found = cluster_choices(self.project, user_of(request), Demand(**data), nodes)
        return Response(ClusterChoicesSerializer({"results": found}).data)
