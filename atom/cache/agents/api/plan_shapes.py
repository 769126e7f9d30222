"""Shapes of warm-up plans and of the agents of a cluster."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.cache.agents.actions.evicting import ordered_away, used_bytes
from atom.cache.agents.actions.reports import is_live
from atom.cache.agents.api.agent_bodies import CardSerializer, DiskSerializer, XidSerializer
from atom.cache.engines.eviction import capacity_bytes
from atom.cache.engines.turns import DEFAULT_PRIORITY, MAX_PRIORITY
from atom.cache.models import NodeAgent, WarmPlan, WarmPlanNode
from atom.core import clock
from atom.core.names import TextField
from atom_sdk.sentences import Sentence

MAX_NODES = 1000
MAX_RATE = 1 << 50


class ErrorFields(serializers.Serializer[Any]):
    """`error` with the code and the values of its sentence."""

    error = serializers.CharField(allow_blank=True)
    error_code = serializers.SerializerMethodField()
    error_params = serializers.SerializerMethodField()

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_error_code(self, row: Any) -> str | None:
        """Return the code of the error's sentence, null where it has none."""
        return row.error.code if isinstance(row.error, Sentence) else None

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_error_params(self, row: Any) -> dict[str, Any] | None:
        """Return the values that the error names, by name."""
        if not isinstance(row.error, Sentence):
            return None
        params: dict[str, Any] = row.error.as_code()["params"]
        return params


class WarmPlanNodeSerializer(ErrorFields):
    """The part of one node in a plan."""

    node = serializers.CharField(source="node.name")
    state = serializers.CharField()
    packs_total = serializers.IntegerField()
    packs_present = serializers.IntegerField()
    bytes_total = serializers.IntegerField()
    bytes_present = serializers.IntegerField(help_text="With the bytes of open fetches.")
    rate_bytes_s = serializers.IntegerField(help_text="Rate of the last fetch that ended.")
    eta_s = serializers.SerializerMethodField()
    failures = serializers.IntegerField(help_text="Fetches from the object store that failed.")
    packs_from_peers = serializers.IntegerField(help_text="Packs that other nodes sent.")
    packs_from_origin = serializers.IntegerField(help_text="Packs read from the object store.")
    replaced_by = serializers.SerializerMethodField(
        help_text="The node that took the part of a silent one, empty without one."
    )

    def get_replaced_by(self, part: WarmPlanNode) -> str:
        """Return the name of the node that took the part."""
        return part.replaced_by.name if part.replaced_by else ""

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_eta_s(self, part: WarmPlanNode) -> float | None:
        """Return the seconds until the node has all bytes, null where no rate is known."""
        if part.state != "warming" or not part.rate_bytes_s:
            return None
        return max(part.bytes_total - part.bytes_present, 0) / part.rate_bytes_s


class WarmPlanSerializer(ErrorFields):
    """A warm-up plan with its nodes."""

    id = serializers.UUIDField()
    dataset = serializers.CharField(source="version.dataset.name")
    ref = serializers.CharField(source="version.ref")
    cluster = serializers.CharField(source="cluster.name")
    state = serializers.CharField()
    copies = serializers.IntegerField(allow_null=True)
    rate_bytes_s = serializers.IntegerField(allow_null=True)
    priority = serializers.IntegerField()
    deadline = serializers.DateTimeField(allow_null=True)
    keep_until = serializers.DateTimeField(allow_null=True)
    pinned = serializers.BooleanField()
    schedule = serializers.UUIDField(source="schedule_id", allow_null=True)
    created_by = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    nodes = WarmPlanNodeSerializer(many=True, source="shown_parts")

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, plan: WarmPlan) -> str | None:
        """Return who started it, null once the account is gone."""
        return plan.created_by.username if plan.created_by else None


class RunningPlanSerializer(serializers.Serializer[Any]):
    """A running plan with its sums over all nodes, without those that were replaced."""

    id = serializers.UUIDField(source="plan.pk")
    dataset = serializers.CharField(source="plan.version.dataset.name")
    ref = serializers.CharField(source="plan.version.ref")
    cluster = serializers.CharField(source="plan.cluster.name")
    created_at = serializers.DateTimeField(source="plan.created_at")
    bytes_total = serializers.IntegerField()
    bytes_present = serializers.IntegerField(help_text="With the bytes of open fetches.")
    nodes = serializers.IntegerField()
    nodes_done = serializers.IntegerField()


class WarmPlaceSerializer(serializers.Serializer[Any]):
    """Where a version goes: named nodes, or the best `copies` nodes (1 without both)."""

    cluster = TextField(max_length=63)
    nodes = serializers.ListField(
        child=TextField(max_length=253), required=False, max_length=MAX_NODES, default=list
    )
    copies = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_NODES, default=None
    )
    rate_bytes_s = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_RATE,
        default=None,
        help_text="The most for all nodes together.",
    )
    priority = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_PRIORITY,
        default=DEFAULT_PRIORITY,
        help_text="Ten more count like an hour of waiting for reads of the object store.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse nodes together with copies."""
        if attrs["nodes"] and attrs["copies"]:
            raise serializers.ValidationError(
                {
                    "copies": Sentence(
                        "cache.copies_or_nodes", "Choose nodes or a number of copies, not both."
                    )
                }
            )
        return attrs


class NewWarmPlanSerializer(WarmPlaceSerializer):
    """A warm-up plan to start."""

    deadline = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When the plan fails unless it is done.",
    )
    keep_until = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Until then the version stays needed after the plan is done, if there is room.",
    )
    pinned = serializers.BooleanField(
        required=False, default=False, help_text="Whether the version stays needed afterwards."
    )

    def validate_deadline(self, value: datetime | None) -> datetime | None:
        """Refuse a time that has passed."""
        return _ahead(value)

    def validate_keep_until(self, value: datetime | None) -> datetime | None:
        """Refuse a time that has passed."""
        return _ahead(value)


def _ahead(value: datetime | None) -> datetime | None:
    if value is not None and value <= clock.now():
        raise serializers.ValidationError(
            Sentence("cache.deadline_passed", "This time has passed.")
        )
    return value


class NodeAgentSerializer(serializers.Serializer[Any]):
    """The agent of a node, as it last reported."""

    node = serializers.CharField(source="node.name")
    version = serializers.CharField()
    joined_at = serializers.DateTimeField()
    reported_at = serializers.DateTimeField(allow_null=True)
    is_reporting = serializers.SerializerMethodField()
    disk = serializers.SerializerMethodField()
    gpus = CardSerializer(many=True)
    xid_events = XidSerializer(many=True, help_text="Newest first.")
    capacity_bytes = serializers.SerializerMethodField(
        help_text="How large the cache may grow: to its limit, and no further than the disk."
    )
    used_bytes = serializers.SerializerMethodField(
        help_text="Bytes of packs, without those that the agent is to remove."
    )
    promised_bytes = serializers.SerializerMethodField(
        help_text="Bytes that open plans will bring."
    )
    pending_removals = serializers.SerializerMethodField(
        help_text="Packs that the agent is to remove."
    )
    has_volumes = serializers.BooleanField(
        help_text="Whether pods of the node get versions as volumes."
    )
    volumes = serializers.IntegerField(
        source="volume_count", help_text="Volumes that pods of the node have now."
    )

    @extend_schema_field(DiskSerializer(allow_null=True))
    def get_disk(self, agent: NodeAgent) -> dict[str, Any] | None:
        """Return the disk, null before the first report."""
        return agent.disk or None

    @extend_schema_field(serializers.BooleanField())
    def get_is_reporting(self, agent: NodeAgent) -> bool:
        """Return whether it reported in the last 45 seconds."""
        return is_live(agent, clock.now())

    def get_capacity_bytes(self, agent: NodeAgent) -> int:
        """Return how large the cache may grow."""
        return capacity_bytes(agent.disk)

    def get_used_bytes(self, agent: NodeAgent) -> int:
        """Return the bytes of packs that stay."""
        return used_bytes(agent)

    def get_promised_bytes(self, agent: NodeAgent) -> int:
        """Return the bytes that open plans will bring; the view reads them for all nodes."""
        promised: dict[Any, int] = self.context["promised"]
        return promised[agent.node_id]

    def get_pending_removals(self, agent: NodeAgent) -> int:
        """Return how many packs are to go."""
        return len(ordered_away(agent))
