"""Which packs of which version are on which node: one bitmap per pair, never a row per pack."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from atom.accounts.models import Project, User
from atom.cache.engines.sources import SourceKind
from atom.cache.engines.turns import DEFAULT_PRIORITY
from atom.cache.states import CACHE_STATES, WARM_PLAN_NODE_STATES, WARM_PLAN_STATES
from atom.clusters.models import Cluster, Node
from atom.core import states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.models import Dataset, Store, Version

REPLACE_AFTER_S = 300


class CacheRecord(TimestampedModel):
    """Coverage of a version on a node. `bitmap` is `numpy.packbits` in pack-table order."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="cache_records")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="cache_records")
    # The selector of the current warm-up. The packs are the same for every selector.
    selector = models.JSONField(default=dict)
    state = models.CharField(max_length=20, choices=states.choices(CACHE_STATES), default="cold")
    bitmap = models.BinaryField(default=bytes)
    # The root in whose order of packs an agent's node counts; "" for any other node.
    bitmap_root = models.CharField(max_length=64, blank=True)
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


class NodeAgent(TimestampedModel):
    """The agent of a node in a cluster, as it joined and last reported."""

    node = models.OneToOneField(Node, on_delete=models.CASCADE, related_name="agent")
    # Where agents of the cluster fetch packs from it, such as http://10.0.0.7:7480.
    address = models.CharField(max_length=200)
    version = models.CharField(max_length=40, blank=True)
    pod = models.CharField(max_length=253)
    pod_uid = models.CharField(max_length=64)
    token_hash = models.CharField(max_length=64, unique=True)
    token_expires_at = models.DateTimeField()
    joined_at = models.DateTimeField()
    reported_at = models.DateTimeField(null=True)
    sequence = models.BigIntegerField(default=0)
    # The next report is to bring all packs of the node.
    needs_packs = models.BooleanField(default=True)
    # Bytes: `total_bytes`, `free_bytes`, `cache_bytes`, `limit_bytes`; `is_read_only`, `problem`.
    disk = models.JSONField(default=dict, blank=True)
    gpus = models.JSONField(default=list, blank=True)
    # The last XID events, newest first.
    xid_events = models.JSONField(default=list, blank=True)
    # Nodes that got wrong bytes from it; after two of them no other fetches from it for a while.
    blamed_by = models.JSONField(default=list, blank=True)
    distrusted_until = models.DateTimeField(null=True)
    # Packs that the agent is to remove until it says so: rows of project, pack, bytes, verify.
    removals = models.JSONField(default=list, blank=True)
    # The node's kubelet knows the driver of volumes in the agent.
    has_volumes = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"agent of {self.node_id}"


class CacheSettings(TimestampedModel):
    """How the caches of a cluster's nodes behave; a cluster without a row has the defaults."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="cache_settings")
    # How large the cache of each node may grow; null: as large as its disk allows.
    limit_bytes = models.BigIntegerField(null=True)
    # After so many seconds of silence another node takes a node's part in a plan.
    replace_after_s = models.PositiveIntegerField(default=REPLACE_AFTER_S)

    class Meta:
        verbose_name_plural = "cache settings"

    def __str__(self) -> str:
        return f"cache of {self.cluster_id}"


class WarmSchedule(TimestampedModel):
    """Times at which the newest version of a ref goes to nodes of a cluster."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="warm_schedules")
    ref = models.CharField(max_length=200)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    # Names of nodes; empty: the best `copies` nodes.
    nodes = models.JSONField(default=list, blank=True)
    copies = models.PositiveIntegerField(null=True)
    rate_bytes_s = models.BigIntegerField(null=True)
    priority = models.PositiveSmallIntegerField(default=DEFAULT_PRIORITY)
    # Five fields, read in the time zone.
    cron = models.CharField(max_length=100)
    timezone = models.CharField(max_length=64, default="UTC")
    # Each plan fails unless it is done by then, and keeps its version for so long afterwards.
    deadline_s = models.PositiveIntegerField(null=True)
    keep_s = models.PositiveIntegerField(null=True)
    # Null while it is paused.
    next_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    last_plan = models.ForeignKey(
        "WarmPlan", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Why the last time made no plan.
    error = SentenceField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["next_at"], name="warm_schedule_next")]

    def __str__(self) -> str:
        return f"{self.cron} of {self.dataset_id}"


class WarmPlan(TimestampedModel):
    """A version to bring to nodes of a cluster."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="warm_plans")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    # How many nodes; null: the nodes were named.
    copies = models.PositiveIntegerField(null=True)
    named_nodes = models.JSONField(default=list, blank=True)
    rate_bytes_s = models.BigIntegerField(null=True)
    priority = models.PositiveSmallIntegerField(default=DEFAULT_PRIORITY)
    deadline = models.DateTimeField(null=True)
    # A plan that is done keeps its version until then, unless the room is needed.
    keep_until = models.DateTimeField(null=True)
    schedule = models.ForeignKey(
        WarmSchedule, null=True, on_delete=models.SET_NULL, related_name="plans"
    )
    # When it last got no read of the origin, since there were too many.
    origin_wanted_at = models.DateTimeField(null=True)
    # A pinned version stays on the nodes after the plan is done, until it is cancelled.
    pinned = models.BooleanField(default=False)
    state = models.CharField(
        max_length=20, choices=states.choices(WARM_PLAN_STATES), default="running"
    )
    error = SentenceField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [states.constraint("warm_plan_state", WARM_PLAN_STATES)]

    def __str__(self) -> str:
        return f"plan of {self.version_id}"


class WarmPlanNode(TimestampedModel):
    """The part of one node in a warm-up plan."""

    plan = models.ForeignKey(WarmPlan, on_delete=models.CASCADE, related_name="parts")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(
        max_length=20, choices=states.choices(WARM_PLAN_NODE_STATES), default="waiting"
    )
    packs_total = models.PositiveIntegerField(default=0)
    packs_present = models.PositiveIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    bytes_present = models.BigIntegerField(default=0)
    # Mean over the fetches that ended; 0 before the first.
    rate_bytes_s = models.BigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    # The packs that the node fetched for this plan, by their source.
    packs_from_peers = models.PositiveIntegerField(default=0)
    packs_from_origin = models.PositiveIntegerField(default=0)
    error = SentenceField(blank=True)
    # The node that took the part of a silent one.
    replaced_by = models.ForeignKey(Node, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["plan", "node"], name="warm_plan_node"),
            states.constraint("warm_plan_node_state", WARM_PLAN_NODE_STATES),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id} on {self.node_id}"


class PackFetch(TimestampedModel):
    """An open fetch of a pack by an agent; a row goes when the fetch ends."""

    plan = models.ForeignKey(WarmPlan, on_delete=models.CASCADE, related_name="fetches")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="pack_fetches")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    pack = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    rate_bytes_s = models.BigIntegerField(null=True)
    kind = models.CharField(
        max_length=10, choices=[(kind.value, kind.value) for kind in SourceKind]
    )
    peer = models.ForeignKey(Node, null=True, on_delete=models.CASCADE, related_name="+")
    # The second store that the last address led to; null: Atom's own.
    store = models.ForeignKey(Store, null=True, on_delete=models.SET_NULL, related_name="+")
    bytes_done = models.BigIntegerField(default=0)
    # When the agent last spoke of it, or when it was handed out.
    heard_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["node", "project", "pack"], name="pack_fetch_once"),
            models.UniqueConstraint(
                fields=["cluster", "project", "pack"],
                condition=Q(kind="origin"),
                name="pack_fetch_origin_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pack} to {self.node_id}"


class NodeVolume(TimestampedModel):
    """A version that the agent of a node shows to a pod; while it is there, its packs stay."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="volumes")
    # The id that the kubelet gave it.
    volume = models.CharField(max_length=128)
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="+")
    selector = models.JSONField(default=dict)
    # `packs`: a folder of packs; `view`: the files.
    mode = models.CharField(max_length=10, choices=[("packs", "packs"), ("view", "view")])
    namespace = models.CharField(max_length=63)
    pod = models.CharField(max_length=253)
    pod_uid = models.CharField(max_length=64)
    # The plan that brings its missing packs; null: none was needed, or another one does.
    plan = models.ForeignKey(WarmPlan, null=True, on_delete=models.SET_NULL, related_name="+")
    # When the pod asked last: later packs are not counted here.
    packs_total = models.PositiveIntegerField(default=0)
    packs_present = models.PositiveIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    bytes_present = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["node", "volume"], name="node_volume_once"),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} on {self.node_id}"
