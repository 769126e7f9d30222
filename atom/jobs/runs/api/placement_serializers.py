"""Shapes of decisions about the place of a run: those of a preview, and those kept with runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.clusters.models import Cluster
from atom.clusters.states import CLUSTER_STATES
from atom.core.states import all_states
from atom.jobs.json_values import names
from atom.jobs.models import DECIDERS
from atom.jobs.runs.api.cluster_choices import (
    AcceleratorChoiceSerializer,
    ChoiceReasonSerializer,
)
from atom.jobs.runs.engines.cluster_choice import Fits
from atom.jobs.start_ways import START_WAYS


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


class WayStartSerializer(serializers.Serializer[Any]):
    """Seconds until the start: median and ninth tenth, null if unknown."""

    known = serializers.BooleanField()
    p50_s = serializers.FloatField(allow_null=True)
    p90_s = serializers.FloatField(allow_null=True)


class StartTimeSerializer(serializers.Serializer[Any]):
    """A way to start relative to the data; Atom takes the default if nobody chooses."""

    when = serializers.ChoiceField(choices=START_WAYS)
    percent = serializers.IntegerField(allow_null=True)
    start = WayStartSerializer()
    data_s = serializers.FloatField(allow_null=True, help_text="Seconds until its data is there.")
    note = ChoiceReasonSerializer(allow_null=True)
    is_default = serializers.BooleanField()


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
    ways = StartTimeSerializer(
        many=True, help_text="The three ways to start; none without data, or where it never runs."
    )
    parts = StartPartsSerializer(allow_null=True)
    run = PlacementEstimateSerializer(allow_null=True)
    data = PlaceDataSerializer(many=True)  # type: ignore[assignment]
    price = PlacePriceSerializer(allow_null=True)
    cost = PlaceCostSerializer(allow_null=True)
    cheaper_than_chosen = serializers.CharField(allow_null=True)
    later_than_chosen_s = serializers.FloatField(allow_null=True)
    accelerators = AcceleratorChoiceSerializer(many=True)
    preempted_by = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="PriorityClasses whose pods may take the run's room; null if unknown.",
    )


class PlacementDecisionSerializer(serializers.Serializer[Any]):
    """The places of a run, best first, with the choice and its reason."""

    chosen = serializers.CharField(allow_null=True)
    why = ChoiceReasonSerializer(allow_null=True)
    assumptions = ChoiceReasonSerializer(many=True)
    candidates = PlacementCandidateSerializer(many=True)


class AssumedSerializer(serializers.Serializer[Any]):
    """Times in seconds and the cost with its egress, as the decision assumed them."""

    start_s = PlacementEstimateSerializer()
    run_s = PlacementEstimateSerializer()
    queue_s = serializers.FloatField(allow_null=True)
    data_s = serializers.FloatField(allow_null=True)
    image_s = serializers.FloatField()
    cost = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)


class CameSerializer(serializers.Serializer[Any]):
    """Real times in seconds since the decision, and the cost; each is null until it is known."""

    start_s = serializers.FloatField(allow_null=True)
    queue_s = serializers.FloatField(allow_null=True)
    data_s = serializers.FloatField(allow_null=True)
    image_s = serializers.FloatField(allow_null=True)
    run_s = serializers.FloatField(allow_null=True)
    cost = serializers.CharField(allow_null=True)


class KeptDecisionSerializer(serializers.Serializer[Any]):
    """Why a run is where it is; `chosen` and `assumed` are null if no place takes it."""

    decided_at = serializers.DateTimeField()
    chosen = serializers.CharField(allow_null=True)
    by = serializers.ChoiceField(choices=DECIDERS)
    why = ChoiceReasonSerializer(allow_null=True)
    assumptions = ChoiceReasonSerializer(many=True)
    candidates = PlacementCandidateSerializer(
        many=True, help_text="At most 20 places, best first, the chosen one among them."
    )
    assumed = AssumedSerializer(allow_null=True)
    came = CameSerializer()
