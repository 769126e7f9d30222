"""Shapes of the start of a run relative to its data."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.jobs.models import Attempt, DataGate
from atom.jobs.runs.actions.cluster_choices import sentence_json
from atom.jobs.runs.api.cluster_choices import ChoiceReasonSerializer
from atom.jobs.scheduling.actions.data_gates import eta_s
from atom.jobs.start_ways import START_WAYS


class RunStartSerializer(serializers.Serializer[Any]):
    """The start that a person asked for."""

    when = serializers.ChoiceField(choices=START_WAYS)
    percent = serializers.IntegerField(allow_null=True)


class DataGateSerializer(serializers.Serializer[Any]):
    """How an attempt in a cluster waits, or waited, for its data.

    `percent` of the data is on each of `nodes` before its Job is made; 0: it waits for nothing.
    """

    when = serializers.ChoiceField(choices=START_WAYS)
    percent = serializers.IntegerField()
    why = serializers.SerializerMethodField(help_text="Why it starts in this way.")
    notice = serializers.SerializerMethodField(
        help_text="The trouble of its wait, or why it streams instead; null for none."
    )
    nodes = serializers.ListField(child=serializers.CharField())
    percent_there = serializers.IntegerField(help_text="The node with the least counts.")
    bytes_present = serializers.IntegerField(help_text="Over all nodes.")
    bytes_total = serializers.IntegerField(help_text="Over all nodes.")
    eta_s = serializers.SerializerMethodField(
        help_text="Seconds until it opens at the last rates; null if open or unknown."
    )
    opened_at = serializers.DateTimeField(allow_null=True)
    plans = serializers.SerializerMethodField(
        help_text="The warm-up plans that bring or brought the data, oldest first."
    )

    @extend_schema_field(ChoiceReasonSerializer(allow_null=True))
    def get_why(self, gate: DataGate) -> dict[str, Any] | None:
        """Return the reason with its code."""
        return sentence_json(gate.why or None)

    @extend_schema_field(ChoiceReasonSerializer(allow_null=True))
    def get_notice(self, gate: DataGate) -> dict[str, Any] | None:
        """Return the trouble with its code."""
        return sentence_json(gate.notice or None)

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_eta_s(self, gate: DataGate) -> float | None:
        """Return the seconds until it opens."""
        return None if gate.opened_at else eta_s(gate)

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_plans(self, gate: DataGate) -> list[Any]:
        """Return the ids of its plans, oldest first."""
        return list(gate.links.order_by("created_at").values_list("plan_id", flat=True))


def gate_row(attempt: Attempt | None) -> dict[str, Any] | None:
    """Return the gate of an attempt, None without one."""
    gate = getattr(attempt, "data_gate", None)
    return None if gate is None else dict(DataGateSerializer(gate).data)
