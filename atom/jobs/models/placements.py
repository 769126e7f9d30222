"""Work in clusters that start pods by themselves, and Jobs there that belong to no work."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.accounts.models import Project
from atom.clusters.models import Cluster
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.jobs.models.runs import Attempt, Run, Runtime

PERSON_DECIDED = "person"
AUTO_DECIDED = "auto"
DECIDERS = (PERSON_DECIDED, AUTO_DECIDED)


class ClusterJob(TimestampedModel):
    """A Job in a cluster.

    The row is committed before the Job is asked for. The Job's name derives from the row, so asking
    twice makes one Job.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="%(class)ss")
    namespace = models.CharField(max_length=63)
    # The uid of the Job that the cluster accepted, empty until then. Another uid is not ours.
    job_uid = models.CharField(max_length=64, blank=True)
    # The digest of the specification that was asked for: a cluster's controllers may change it.
    spec_sha256 = models.CharField(max_length=64, blank=True)
    # The cluster's profile when the row was made: asking twice asks for the same.
    pod_profile = models.JSONField(default=dict)
    # The Job, its pods and what was said about them, as the cluster's watcher last saw them.
    observed = models.JSONField(default=dict)
    observed_at = models.DateTimeField(null=True)
    # Nothing more is started in it.
    ended_at = models.DateTimeField(null=True)
    # Its Job and what belongs to it are gone from the cluster.
    removed_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def job_name(self) -> str:
        """Return the name of its Job, and of what belongs to it."""
        raise NotImplementedError


class Placement(ClusterJob):
    """A run in one cluster: one Job, in which one attempt or several run one after the other."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="placements")
    # The accelerators of each of its pods, by the resource's name, and the labels of their nodes.
    # Another Job of the same placement asks for the same.
    accelerators = models.JSONField(default=dict)
    node_selector = models.JSONField(default=dict)
    # Names of the nodes that hold its data, each with a weight of 1 to 100, best first.
    preferred_nodes = models.JSONField(default=list)
    # Its pods get the inputs of the run as volumes of the node's cache.
    has_volumes = models.BooleanField(default=False)
    # Kueue's queue of its Job: a LocalQueue of the namespace, and its ClusterQueue; "": none.
    queue = models.CharField(max_length=63, blank=True)
    cluster_queue = models.CharField(max_length=253, blank=True)
    # Its queue holds the Job back until the data of the run is there.
    has_gate = models.BooleanField(default=False)
    # When the cluster was last asked to let it through, and when it confirmed that.
    ungate_asked_at = models.DateTimeField(null=True)
    ungated_at = models.DateTimeField(null=True)
    # Why the cluster did not take the Job when it was last asked; "": it has it.
    problem = SentenceField(blank=True)
    # When the reconciler last looked at `observed`; null: it must look.
    looked_at = models.DateTimeField(null=True)

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


class PlacementDecision(TimestampedModel):
    """Why an attempt is where it is: the places that were compared, and what was assumed.

    Atom writes it when it chooses a place for a run; the attempt follows once it is placed there.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="decisions")
    # Null while the run waits for the place.
    attempt = models.OneToOneField(
        Attempt, null=True, on_delete=models.CASCADE, related_name="decision"
    )
    decided_at = models.DateTimeField()
    # The name of the place; "" if no place takes the run.
    chosen = models.CharField(max_length=63, blank=True)
    decided_by = models.CharField(max_length=10, choices=[(one, one) for one in DECIDERS])
    # Sentences and places as the preview's answer has them.
    why = models.JSONField(null=True)
    assumptions = models.JSONField(default=list)
    candidates = models.JSONField(default=list)
    # Times and cost of the chosen place; null if no place takes the run.
    assumed = models.JSONField(null=True)
    # Parts of the real start, written at the end of the attempt; null where nothing tells them.
    queue_s = models.FloatField(null=True)
    data_s = models.FloatField(null=True)
    image_s = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run"], condition=models.Q(attempt=None), name="decision_open"
            ),
            models.CheckConstraint(
                condition=models.Q(decided_by__in=DECIDERS), name="decision_decider"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["-decided_at"])]


class EnvironmentBuild(ClusterJob):
    """A build of an environment in a cluster, in the namespace of a project that waits for it."""

    runtime = models.ForeignKey(Runtime, on_delete=models.CASCADE, related_name="builds")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    # Counts the builds of one environment, from 1.
    number = models.PositiveIntegerField()
    # The pod that builds, as its cluster describes it; empty until one asked to start.
    identity = models.JSONField(default=dict)
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    # The run's image by its digest, so that the pod builds in what the image is made of; "" if the
    # environment becomes an archive.
    base_image = models.CharField(max_length=400, blank=True)
    # The archive that the pod has sent, as it describes it; empty until then.
    sent = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["runtime"], condition=models.Q(ended_at=None), name="build_open"
            ),
            models.UniqueConstraint(fields=["runtime", "number"], name="build_number"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["cluster"], condition=models.Q(removed_at=None), name="build_not_removed"
            ),
        ]

    @property
    def job_name(self) -> str:
        """Return the name of its Job."""
        return f"atom-env-{self.runtime.digest[:32]}-{self.number}"


class UnknownJob(TimestampedModel):
    """A Job with this installation's label that belongs to no placement of this database.

    A restored backup forgets the runs that came after it. Atom lists their Jobs and leaves them
    alone; the rows are those of the last whole list of the cluster.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="unknown_jobs")
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64)
    # By the cluster's clock; None if the cluster says nothing that is a time.
    made_at = models.DateTimeField(null=True)
    # Pods that run or wait; ended ones are not counted.
    pods = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "uid"], name="unknown_job_uid"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
