"""Runs that were handed to a cluster which starts their pods by itself."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.clusters.models import Cluster
from atom.core.models import TimestampedModel
from atom.jobs.models.runs import Run


class Placement(TimestampedModel):
    """A run in one cluster: one Job there, in which one attempt or several run one after the other.

    The row is committed before the Job is asked for. The Job's name derives from its id, so asking
    twice makes one Job.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="placements")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="placements")
    namespace = models.CharField(max_length=63)
    # The uid of the Job that the cluster accepted, empty until then. Another uid is not ours.
    job_uid = models.CharField(max_length=64, blank=True)
    # The digest of the specification that was asked for: a cluster's controllers may change it.
    spec_sha256 = models.CharField(max_length=64, blank=True)
    # The Job, its pods and what was said about them, as the cluster's watcher last saw them.
    observed = models.JSONField(default=dict)
    observed_at = models.DateTimeField(null=True)
    # Nothing more is started in it.
    ended_at = models.DateTimeField(null=True)
    # Its Job and what belongs to it are gone from the cluster.
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run"], condition=models.Q(ended_at=None), name="placement_open"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["cluster"],
                condition=models.Q(removed_at=None),
                name="placement_not_removed",
            ),
        ]

    @property
    def job_name(self) -> str:
        """Return the name of its Job, and of what belongs to it."""
        return f"atom-{self.pk}"
