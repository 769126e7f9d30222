"""Where runs can run, and what is taken there."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from atom.accounts.models import Project, User
from atom.clusters.states import CLUSTER_STATES
from atom.core import states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField


class ClusterQuerySet(models.QuerySet["Cluster"]):
    """Reads of clusters."""

    def present(self) -> ClusterQuerySet:
        """Leave out clusters that were removed."""
        return self.exclude(state="removed")

    def registered(self) -> ClusterQuerySet:
        """Leave out Atom's own machines, which nobody registers."""
        return self.exclude(server="")

    def visible_to(self, user: User, project_id: UUID | None) -> ClusterQuerySet:
        """Return clusters that the user's projects may use, or the token's project alone."""
        projects = Project.objects.all().visible_to(user)
        if project_id is not None:
            projects = projects.filter(pk=project_id)
        elif user.is_superuser:
            return self.present()
        usable = Cluster.projects.through.objects.filter(
            cluster=models.OuterRef("pk"), project__in=projects
        )
        return self.present().filter(Q(all_projects=True) | models.Exists(usable))


class Cluster(TimestampedModel):
    """A set of nodes behind one way of starting jobs."""

    name = models.CharField(max_length=63)
    kind = models.CharField(
        max_length=20, choices=[("local", "local"), ("kubernetes", "kubernetes")]
    )
    state = models.CharField(max_length=20, choices=states.choices(CLUSTER_STATES), default="ready")
    # Jobs share the server's user when it cannot give them one of their own.
    single_user = models.BooleanField(default=False)
    # The address of its API, and the namespace of Atom's jobs.
    server = models.CharField(max_length=500, blank=True)
    namespace = models.CharField(max_length=63, blank=True)
    # One context of the kubeconfig, encrypted (`atom.core.crypto`); it is only ever written.
    encrypted_kubeconfig = models.TextField(blank=True)
    # The uid of its namespace kube-system: another cluster at this address has another.
    identity = models.CharField(max_length=64, blank=True)
    # Whether every project may use it; otherwise those of `projects`.
    all_projects = models.BooleanField(default=True)
    projects = models.ManyToManyField(Project, related_name="+", blank=True)
    # Facts and findings of the last check that reached it.
    facts = models.JSONField(default=dict, blank=True)
    findings = models.JSONField(default=list, blank=True)
    checked_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    # Why the last check did not reach it.
    problem_code = models.CharField(max_length=100, blank=True)
    problem_detail = SentenceField(blank=True)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            states.constraint("cluster_state", CLUSTER_STATES),
            models.UniqueConstraint(
                fields=["name"], condition=~Q(state="removed"), name="cluster_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_registered(self) -> bool:
        """Whether a person registered it; that of Atom's own machines is made by itself."""
        return bool(self.server)


class ClusterProfile(TimestampedModel):
    """How the pods of runs fit a cluster, and whether RDMA was tested there."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="profile")
    priority_class = models.CharField(max_length=253, blank=True)
    # Rows of key, operator, value and effect, as Kubernetes names them.
    tolerations = models.JSONField(default=list, blank=True)
    # The extended resource of a pod's RDMA devices; empty: no pod gets any.
    rdma_resource = models.CharField(max_length=317, blank=True)
    rdma_count = models.PositiveIntegerField(default=1)
    # Values of NCCL_, UCX_, GLOO_ and FI_ settings by their names.
    nccl = models.JSONField(default=dict, blank=True)
    # The memlock limit that the nodes' runtime must give; null: unlimited.
    memlock_bytes = models.BigIntegerField(null=True)
    # The repository that images of environments are pushed to; empty: environments are archives.
    image_repository = models.CharField(max_length=300, blank=True)
    # A Docker configuration with its credentials, encrypted (`atom.core.crypto`); only written.
    encrypted_image_credentials = models.TextField(blank=True)
    # The last pod that tried RDMA; no time: none has tried it with these settings.
    rdma_passed = models.BooleanField(default=False)
    rdma_tested_at = models.DateTimeField(null=True)
    rdma_node = models.CharField(max_length=253, blank=True)
    rdma_reason = SentenceField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(rdma_passed=False)
                | (Q(rdma_tested_at__isnull=False) & ~Q(rdma_resource="")),
                name="profile_rdma_tested",
            ),
        ]

    def __str__(self) -> str:
        return f"profile of {self.cluster_id}"


class ClusterQuota(TimestampedModel):
    """The most that the pods of one project hold in a cluster at once; null: no limit."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="quotas")
    # Null: each project without a row of its own.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    cpus = models.PositiveIntegerField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    pods = models.PositiveIntegerField(null=True)
    # Counts by the resource's name, such as nvidia.com/gpu.
    accelerators = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "project"], nulls_distinct=False, name="cluster_quota_project"
            ),
        ]

    def __str__(self) -> str:
        return f"quota in {self.cluster_id}"


class RunQueue(TimestampedModel):
    """The queue of Kueue that the runs of a project use in a cluster; "": they use none."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="run_queues")
    # Null: each project without a row of its own.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    cluster_queue = models.CharField(max_length=253, blank=True)
    # The name of the LocalQueue in the project's namespace; "": that of the ClusterQueue.
    local_queue = models.CharField(max_length=63, blank=True)
    # Names of resources that Kueue's own configuration leaves out of quotas.
    uncounted = models.JSONField(default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "project"], nulls_distinct=False, name="run_queue_project"
            ),
        ]

    def __str__(self) -> str:
        return f"queue in {self.cluster_id}"


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


class NodeAccelerator(TimestampedModel):
    """How many accelerators of one kind a node has."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="accelerators")
    kind = models.CharField(max_length=100)
    count = models.PositiveIntegerField()
    # The resource by which pods ask for them, such as amd.com/gpu; "": they cannot.
    resource = models.CharField(max_length=317, blank=True)
    # The label of the node that selects this kind among those of the resource; "" without one.
    label_name = models.CharField(max_length=317, blank=True)
    label_value = models.CharField(max_length=63, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["node", "kind"], name="node_accelerator_kind"),
        ]


class AcceleratorPrice(TimestampedModel):
    """The price of an hour of one accelerator."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="prices")
    kind = models.CharField(max_length=100)
    per_hour = models.DecimalField(max_digits=14, decimal_places=4)
    currency = models.CharField(max_length=3)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "kind"], name="accelerator_price_kind"),
            models.CheckConstraint(condition=Q(per_hour__gte=0), name="accelerator_price_sign"),
        ]


class StoreRoute(TimestampedModel):
    """The way between a cluster and an object store: how fast it is, and what it costs."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="routes")
    # "atom" for the installation's own store, or the name that people give a source's store.
    store = models.CharField(max_length=200)
    bandwidth_bytes_per_s = models.BigIntegerField(null=True)
    egress_per_gib = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    currency = models.CharField(max_length=3)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "store"], name="store_route_store"),
            models.CheckConstraint(condition=Q(egress_per_gib__gte=0), name="store_route_sign"),
        ]


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
