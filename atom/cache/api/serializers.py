"""Shapes of the cache."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import TextField


class CacheRecordSerializer(serializers.Serializer[Any]):
    """How much of a version is on one node."""

    node = serializers.CharField()
    state = serializers.CharField()
    packs_total = serializers.IntegerField()
    packs_present = serializers.IntegerField()
    bytes_total = serializers.IntegerField()
    bytes_present = serializers.IntegerField()
    coverage = serializers.FloatField(help_text="Share of the bytes that are on the node, 0 to 1.")
    rate_bytes_s = serializers.IntegerField()
    eta_s = serializers.FloatField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    used_at = serializers.DateTimeField(allow_null=True)


class NodeChoiceSerializer(serializers.Serializer[Any]):
    """Which node; this machine's unless one is named."""

    node = TextField(required=False, max_length=253)


class WarmSerializer(NodeChoiceSerializer):
    """What to warm."""

    selector = serializers.DictField(required=False, default=dict)
