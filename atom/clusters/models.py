"""Where runs can run, and what is taken there."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from atom.clusters.states import CLUSTER_STATES
from atom.core import states
from atom.core.models import TimestampedModel


class Cluster(TimestampedModel):
    """A set of nodes behind one way of starting jobs."""

    name = models.CharField(max_length=63, unique=True)
    kind = models.CharField(
        max_length=20, choices=[("local", "local"), ("kubernetes", "kubernetes")]
    )
    state = models.CharField(max_length=20, choices=states.choices(CLUSTER_STATES), default="ready")
    # Jobs share the server's user when it cannot give them one of their own.
    single_user = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [states.constraint("cluster_state", CLUSTER_STATES)]

    def __str__(self) -> str:
        return self.name


class NodeQuerySet(models.QuerySet["Node"]):
    """Reads of nodes."""

    def with_used(self) -> NodeQuerySet:
        """Add what reservations hold: `used_cpus`, `used_memory_bytes`, `used_gpus`."""
        return self.annotate(
            used_cpus=Coalesce(models.Sum("reservations__cpus"), 0),
            used_memory_bytes=Coalesce(
                models.Sum("reservations__memory_bytes"), 0, output_field=models.BigIntegerField()
            ),
            used_gpus=Coalesce(models.Sum("reservations__gpus"), 0),
        )


class Node(TimestampedModel):
    """One machine and its slots."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    cpu_count = models.PositiveIntegerField()
    memory_bytes = models.BigIntegerField()
    gpu_count = models.PositiveIntegerField(default=0)
    gpu_model = models.CharField(max_length=100, blank=True)
    # As CUDA_VISIBLE_DEVICES names them; a job gets some of them for itself.
    gpu_ids = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    gpu_memory_bytes = ArrayField(models.BigIntegerField(), default=list, blank=True)
    # The disk with the node's cache and the folders of runs.
    disk_total_bytes = models.BigIntegerField(default=0)
    disk_free_bytes = models.BigIntegerField(default=0)
    # False for a cordoned node: it keeps its runs and takes no new ones.
    schedulable = models.BooleanField(default=True)
    cordon_reason = models.CharField(max_length=200, blank=True)
    cordoned_by = models.CharField(max_length=150, blank=True)
    cordoned_at = models.DateTimeField(null=True)
    # Since when it answers without a pause.
    ready_since = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)

    objects = NodeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "name"], name="node_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Reservation(TimestampedModel):
    """Slots held by one rank of an attempt, from its placement to its end."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="reservations")
    attempt_id = models.UUIDField()
    rank = models.PositiveIntegerField(default=0)
    cpus = models.PositiveIntegerField()
    memory_bytes = models.BigIntegerField()
    gpus = models.PositiveIntegerField(default=0)
    gpu_ids = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    # The lowest number that is free on the node; a job's own user id derives from it.
    slot = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt_id", "rank"], name="reservation_of_rank"),
            models.UniqueConstraint(fields=["node", "slot"], name="reservation_slot"),
            models.CheckConstraint(
                condition=Q(cpus__gte=1) & Q(memory_bytes__gte=1), name="reservation_not_empty"
            ),
        ]
