"""Which packs of which version are on which node: one bitmap per pair, never a row per pack."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.cache.states import CACHE_STATES
from atom.clusters.models import Node
from atom.core import states
from atom.core.models import TimestampedModel
from atom.datasets.models import Version


class CacheRecord(TimestampedModel):
    """Coverage of a version on a node. `bitmap` is `numpy.packbits` in pack-table order."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="cache_records")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="cache_records")
    # The selector of the current warm-up. The packs are the same for every selector.
    selector = models.JSONField(default=dict)
    state = models.CharField(max_length=20, choices=states.choices(CACHE_STATES), default="cold")
    bitmap = models.BinaryField(default=bytes)
    packs_total = models.PositiveIntegerField(default=0)
    packs_present = models.PositiveIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    bytes_present = models.BigIntegerField(default=0)
    rate_bytes_s = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    used_at = models.DateTimeField(null=True)
    # The worker that warms it renews this; None until a worker begins.
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["node", "version"], name="cache_node_version"),
            states.constraint("cache_state", CACHE_STATES),
        ]
