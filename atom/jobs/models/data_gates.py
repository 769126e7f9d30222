"""Waits of attempts for their data, and the warm-up plans that bring it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.cache.models import WarmPlan
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.jobs.models.runs import Attempt
from atom.jobs.start_ways import START_WAYS


class DataGate(TimestampedModel):
    """The wait of an attempt for its data; its Job is made once the gate is open."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="data_gate")
    when = models.CharField(max_length=12, choices=[(way, way) for way in START_WAYS])
    # The percentage of the bytes that each node must have, 0 to 100.
    percent = models.PositiveSmallIntegerField()
    why = SentenceField(blank=True)
    # The trouble of the wait, or why the run streams although it was to wait.
    notice = SentenceField(blank=True)
    # Names of the nodes that get the data.
    nodes = models.JSONField(default=list)
    # The data as it was last seen: the percentage of the node with the least, bytes over all nodes.
    percent_there = models.PositiveSmallIntegerField(default=0)
    bytes_present = models.BigIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    # A worker is to choose nodes and to start plans; it renews this when it begins.
    needs_plans = models.BooleanField(default=True)
    claimed_until = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    # How many times plans were started.
    tries = models.PositiveSmallIntegerField(default=0)
    # The data cannot be read any more: the attempt fails.
    is_lost = models.BooleanField(default=False)
    opened_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"gate of {self.attempt_id}"


class DataGatePlan(TimestampedModel):
    """A warm-up plan that a gate waits for; several gates may wait for one."""

    gate = models.ForeignKey(DataGate, on_delete=models.CASCADE, related_name="links")
    plan = models.ForeignKey(WarmPlan, on_delete=models.CASCADE, related_name="gate_links")
    # The plan was started for this gate; people start others.
    is_maker = models.BooleanField(default=False)
    # The gate needs the plan no more.
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["gate", "plan"], name="data_gate_plan"),
        ]

    def __str__(self) -> str:
        return f"{self.gate_id} waits for {self.plan_id}"
