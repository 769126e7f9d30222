"""`projects/<project>/placements/preview/`: where Atom would place a run, and for how much."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.clusters.models import Cluster
from atom.clusters.states import CLUSTER_STATES
from atom.core.bodies import check
from atom.core.errors import AtomError
from atom.core.names import TextField
from atom.core.states import all_states
from atom.datasets.models import Version
from atom.jobs.errors import InvalidRun
from atom.jobs.json_values import names
from atom.jobs.runs.actions.decide import Question, decide
from atom.jobs.runs.actions.decision_rows import decision_row
from atom.jobs.runs.actions.plan_data import resolve_dataset
from atom.jobs.runs.api.cluster_choices import (
    AcceleratorChoiceSerializer,
    ChoiceReasonSerializer,
    WantedSerializer,
)
from atom.jobs.runs.engines.cluster_choice import Fits
from atom.jobs.runs.engines.images import MAX_CHARACTERS
from atom.jobs.runs.engines.refs import BadReferenceError
from atom.jobs.scheduling.engines.placement import Demand
from atom_sdk.sentences import Sentence

_MAX_INPUTS = 100


class PlacementQuestionSerializer(WantedSerializer):
    """A run as far as its place asks."""

    image = TextField(
        max_length=MAX_CHARACTERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="Atom's own machines start none.",
    )
    inputs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="References such as digits@v1, by alias.",
    )
    workflow = TextField(
        max_length=63,
        required=False,
        allow_blank=True,
        default="",
        help_text="Earlier runs of it give the run time.",
    )
    command = serializers.ListField(
        child=TextField(max_length=100_000, trim_whitespace=False, allow_blank=True),
        required=False,
        default=list,
        max_length=1000,
        help_text="Without a workflow: earlier runs of the same command give the run time.",
    )
    priority = serializers.IntegerField(
        min_value=-1_000_000,
        max_value=1_000_000,
        required=False,
        default=0,
        help_text="It decides the value of an hour.",
    )

    def validate_inputs(self, inputs: dict[str, str]) -> dict[str, str]:
        """Refuse more inputs than a decision reads."""
        if len(inputs) > _MAX_INPUTS:
            raise serializers.ValidationError(
                Sentence("jobs.too_many_inputs", "Name at most {most} inputs.", most=_MAX_INPUTS)
            )
        return inputs


class PlacementEstimateSerializer(serializers.Serializer[Any]):
    """A time in seconds: median and ninth tenth, null if unknown, with the basis."""

    known = serializers.BooleanField()
    p50_s = serializers.FloatField(allow_null=True)
    p90_s = serializers.FloatField(allow_null=True)
    basis = ChoiceReasonSerializer()


class StartPartsSerializer(serializers.Serializer[Any]):
    """The parts of the time until the start, in seconds: the longer of two, then the image."""

    queue = PlacementEstimateSerializer()
    data_s = serializers.FloatField(allow_null=True)
    image_s = serializers.FloatField()


class PlaceDataSerializer(serializers.Serializer[Any]):
    """One input in one place; `egress_cost` is null where its store has no fee."""

    alias = serializers.CharField()
    dataset = serializers.CharField()
    ref = serializers.CharField()
    bytes_total = serializers.IntegerField()
    bytes_there = serializers.IntegerField()
    bytes_moving = serializers.IntegerField()
    bytes_to_fetch = serializers.IntegerField()
    store = serializers.CharField()
    egress_cost = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)


class PlacePriceSerializer(serializers.Serializer[Any]):
    """The price of all accelerators for an hour, and of the run with its egress."""

    per_hour = serializers.CharField(allow_null=True)
    total = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)


class PlaceCostSerializer(serializers.Serializer[Any]):
    """The parts of the cost; null where unknown, or where currencies differ."""

    compute = serializers.CharField(allow_null=True)
    egress = serializers.CharField(allow_null=True)
    time = serializers.CharField(allow_null=True)
    eviction = serializers.CharField(allow_null=True)
    failure = serializers.CharField(allow_null=True)
    total = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)


class PlacementCandidateSerializer(serializers.Serializer[Any]):
    """A place for the run; one that never takes it has a reason, and null for its figures."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(Cluster._meta.get_field("kind").choices or ()))
    state = serializers.ChoiceField(choices=sorted(all_states(CLUSTER_STATES)))
    fits = serializers.ChoiceField(choices=names(Fits))
    reason = ChoiceReasonSerializer(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    coverage = serializers.FloatField(allow_null=True)
    start = PlacementEstimateSerializer(allow_null=True)
    parts = StartPartsSerializer(allow_null=True)
    run = PlacementEstimateSerializer(allow_null=True)
    data = PlaceDataSerializer(many=True)  # type: ignore[assignment]
    price = PlacePriceSerializer(allow_null=True)
    cost = PlaceCostSerializer(allow_null=True)
    cheaper_than_chosen = serializers.CharField(allow_null=True)
    later_than_chosen_s = serializers.FloatField(allow_null=True)
    accelerators = AcceleratorChoiceSerializer(many=True)


class PlacementDecisionSerializer(serializers.Serializer[Any]):
    """The places of a run, best first, with the choice and its reason."""

    chosen = serializers.CharField(allow_null=True)
    why = ChoiceReasonSerializer(allow_null=True)
    assumptions = ChoiceReasonSerializer(many=True)
    candidates = PlacementCandidateSerializer(many=True)


class PlacementPreviewView(ProjectScopedView, APIView):
    """`projects/<project>/placements/preview/`."""

    @extend_schema(
        operation_id="placements_preview",
        request=PlacementQuestionSerializer,
        responses=PlacementDecisionSerializer,
    )
    def post(self, request: Request, project: str) -> Response:
        """Return where Atom would place a run, with the cost of each place; starts nothing."""
        body = PlacementQuestionSerializer(data=request.data)
        check(body)
        data = dict(body.validated_data)
        resources = ("cpus", "memory_bytes", "gpus", "accelerator")
        demand = Demand(**{name: data.pop(name) for name in resources})
        data["inputs"] = self._versions(data["inputs"], user_of(request))
        decision = decide(self.project, user_of(request), Question(demand, **data))
        return Response(PlacementDecisionSerializer(decision_row(decision)).data)

    def _versions(self, inputs: dict[str, str], user: Any) -> dict[str, Version]:
        """Return the version of each reference. Raises ValidationError by alias."""
        versions: dict[str, Version] = {}
        wrong: dict[str, list[str]] = {}
        for alias, text in inputs.items():
            try:
                versions[alias] = resolve_dataset(self.project, user, text)
            except (BadReferenceError, AtomError) as error:
                wrong[f"inputs.{alias}"] = [str(error)]
        if wrong:
            raise InvalidRun(errors=wrong)
        return versions
