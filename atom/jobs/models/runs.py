"""Runs, their attempts, and what they leave: events and artifacts."""

from __future__ import annotations

from typing import ClassVar

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from atom.accounts.models import Project, User
from atom.clusters.models import Cluster, Node
from atom.core import states, tracing
from atom.core.clock import RowTimeField
from atom.core.models import TimestampedModel
from atom.datasets.models import Version
from atom.jobs.deliveries import DELIVERIES, PACKS
from atom.jobs.launchers import LAUNCHERS, PLAIN
from atom.jobs.models.experiments import Experiment
from atom.jobs.start_ways import LEAST_PERCENT, MOST_PERCENT, SHARE, START_WAYS
from atom.jobs.states import (
    ARTIFACT_KINDS,
    ARTIFACT_STATES,
    ATTEMPT_STATES,
    EXECUTED,
    RUN_ORIGINS,
    RUN_STATES,
    RUNTIME_STATES,
)


class Workflow(TimestampedModel):
    """A predefined job: parameters → resources → go. Built-in ones have no project."""

    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="+")
    slug = models.CharField(max_length=63)
    version = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    definition = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "slug"], name="workflow_slug", nulls_distinct=False
            ),
        ]


class Runtime(TimestampedModel):
    """An environment, built once per digest of its requirements, image and cluster."""

    digest = models.CharField(max_length=64, unique=True)
    requirements = models.TextField(blank=True)
    # Where it was built, and where alone it is used; None: on Atom's own machines.
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.PROTECT, related_name="+")
    # The image that it was built in; "" if it is a folder of Atom's own machines.
    image = models.CharField(max_length=500, blank=True)
    # The image decides it; "" until it is known.
    python = models.CharField(max_length=20, blank=True)
    state = models.CharField(
        max_length=20, choices=states.choices(RUNTIME_STATES), default="pending"
    )
    path = models.CharField(max_length=500, blank=True)
    # The packed environment in the object store; empty if it is a folder.
    archive_key = models.CharField(max_length=300, blank=True)
    archive_sha256 = models.CharField(max_length=64, blank=True)
    archive_bytes = models.BigIntegerField(default=0)
    # The repository that its image goes to, as the cluster's profile names it; "": an archive.
    repository = models.CharField(max_length=300, blank=True)
    # The project that alone uses it, as only its credentials may read the base image; None: all.
    owner = models.UUIDField(null=True)
    # The digest of its requirements and of the base image's content; "" until that is known.
    content_digest = models.CharField(max_length=64, blank=True, db_index=True)
    # The image by its digest, and the SHA-256 of the runner inside; "" until it is pushed.
    pushed_image = models.CharField(max_length=400, blank=True)
    pushed_runner = models.CharField(max_length=64, blank=True)
    # Why its image could not be made: a code of a failure and its params; {} if pip failed.
    image_failure = models.JSONField(default=dict)
    log_tail = models.TextField(blank=True)
    size_bytes = models.BigIntegerField(default=0)
    built_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [states.constraint("runtime_state", RUNTIME_STATES)]


class CodeSnapshot(TimestampedModel):
    """The code of a run: a tar.gz named by its digest; `sha256` is known once it is ready.

    The same files at another commit are another snapshot over the same object. `git_digest` is the
    digest of the facts in `git`, empty if there are none.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    git_digest = models.CharField(max_length=64, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size_bytes = models.BigIntegerField()
    files_count = models.PositiveIntegerField(default=0)
    key = models.CharField(max_length=300)
    git = models.JSONField(null=True)
    ready = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "digest", "git_digest"], name="code_digest_and_git"
            ),
        ]


# Related columns that a list of runs shows. Columns of the run itself: all but `_UNLISTED`.
_LISTED = {
    "inputs": (
        *("run_id", "alias", "selector", "view", "delivery", "mounted_by", "mount_skipped"),
        *("version__number", "version__dataset__name"),
    ),
    "attempts": (
        *("run_id", "number", "state", "started_at", "finished_at", "evidence", "node__name"),
    ),
}
_UNLISTED = {
    *("command", "parameters", "logged_parameters", "env", "secrets", "labels", "notes"),
    *(
        "suggestion",
        "start_when",
        "start_percent",
        "move_image",
        "move_runtime",
        "move_accelerator",
    ),
}
_PEOPLE_AND_GROUPS = (
    *("workflow__slug", "experiment__name", "cluster__name"),
    *("created_by__username", "created_by__full_name"),
)


class RunQuerySet(models.QuerySet["Run"]):
    """Reads of runs."""

    def executed(self) -> RunQuerySet:
        """Return the runs that Atom places and supervises, not those that are only tracked."""
        return self.filter(origin=EXECUTED)

    def visible_to(self, user: User) -> RunQuerySet:
        """Return the runs of the projects in which `user` has a role."""
        return self.filter(project__in=Project.objects.visible_to(user))

    def with_parts(self, *, for_list: bool = False) -> RunQuerySet:
        """Load inputs by alias as `loaded_inputs`, attempts in order as `loaded_attempts`.

        Whole runs get their decisions, newest first, as `loaded_decisions`, too.

        Lists, not querysets: for each row Django would make one, which takes longer than to ask.
        """
        runs = self.select_related(
            "workflow", "experiment", "created_by", "cluster"
        ).prefetch_related(
            models.Prefetch("inputs", inputs_to_show(for_list), to_attr="loaded_inputs"),
            models.Prefetch("attempts", attempts_to_show(for_list), to_attr="loaded_attempts"),
        )
        if for_list:
            return runs
        return runs.prefetch_related(
            models.Prefetch("decisions", decisions_to_show(), to_attr="loaded_decisions")
        )

    def for_lists(self) -> RunQuerySet:
        """Load what a list row shows, in a fixed number of queries and no column more."""
        own = [one.name for one in Run._meta.concrete_fields if one.name not in _UNLISTED]
        return self.with_parts(for_list=True).only(*own, *_PEOPLE_AND_GROUPS)


def decisions_to_show() -> models.QuerySet[models.Model]:
    """Return decisions about places of runs, newest first."""
    # Their module imports this one.
    return apps.get_model("jobs", "PlacementDecision").objects.order_by("-decided_at")


def inputs_to_show(for_list: bool) -> models.QuerySet[RunInput]:
    """Return inputs by alias, with what runs show of them."""
    inputs = RunInput.objects.select_related("version__dataset").order_by("alias")
    return inputs.only(*_LISTED["inputs"]) if for_list else inputs


def attempts_to_show(for_list: bool) -> models.QuerySet[Attempt]:
    """Return attempts in order, with what runs show of them; a page shows their ranks too."""
    # The phase alone: the rest of an observation is long.
    phase = KeyTextTransform("phase", "placed_in__observed")
    attempts = Attempt.objects.order_by("number").annotate(observed_phase=phase)
    if for_list:
        return attempts.select_related("node").only(*_LISTED["attempts"])
    ranks = models.Prefetch("ranks", ranks_to_show(), to_attr="loaded_ranks")
    # The recorded objects of its Job may be long, and no page shows them.
    whole = attempts.select_related("node", "cluster", "placed_in", "data_gate")
    whole = whole.defer("placed_in__observed")
    return whole.prefetch_related(ranks)


def ranks_to_show() -> models.QuerySet[Rank]:
    """Return ranks in order, with the node of each."""
    return Rank.objects.select_related("node").order_by("number")


class Run(TimestampedModel):
    """One execution of a command or workflow that a person asked for; attempts execute it.

    A tracked run (`origin`) is started and ended by a program elsewhere, which only reports it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    workflow = models.ForeignKey(Workflow, null=True, on_delete=models.PROTECT, related_name="runs")
    workflow_version = models.CharField(max_length=64, blank=True)
    command = models.JSONField(default=list)
    parameters = models.JSONField(default=dict)
    env = models.JSONField(default=dict)
    # Names of the project's secrets that its command gets as variables.
    secrets = models.JSONField(default=list)
    cpus = models.PositiveIntegerField(default=1)
    memory_bytes = models.BigIntegerField(default=1 << 30)
    gpus = models.PositiveIntegerField(default=0)
    # How many pods run the command together, each with these resources, and how they are started.
    nodes = models.PositiveSmallIntegerField(default=1)
    launcher = models.CharField(
        max_length=20, choices=[(one, one) for one in LAUNCHERS], default=PLAIN
    )
    # The kind of its GPUs, as its cluster names it; "" for any.
    accelerator = models.CharField(max_length=100, blank=True)
    # A registered cluster that was chosen for it; without one, Atom's own machines.
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.PROTECT, related_name="runs")
    # The parts of the request that depend on the place, for a run that Atom places: its kind of
    # accelerators, its requirements, and deliveries by alias. Null: a person chose the place.
    auto_request = models.JSONField(null=True)
    # False while no place takes a run that Atom places: then it has no cluster and no environment.
    has_place = models.BooleanField(default=True)
    # The container image that a registered cluster starts; empty: the installation's.
    image = models.CharField(max_length=500, blank=True)
    # When it starts relative to its data; "": Atom chooses. The percentage is that of `share`.
    start_when = models.CharField(
        max_length=12, blank=True, choices=[(way, way) for way in START_WAYS]
    )
    start_percent = models.PositiveSmallIntegerField(null=True)
    runtime = models.ForeignKey(Runtime, null=True, on_delete=models.PROTECT, related_name="runs")
    code = models.ForeignKey(CodeSnapshot, null=True, on_delete=models.PROTECT, related_name="runs")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=20, choices=states.choices(RUN_STATES), default="created")
    failure_class = models.CharField(max_length=30, blank=True)
    failure_reason = models.TextField(blank=True)
    suggestion = models.TextField(blank=True)
    priority = models.IntegerField(default=0)
    timeout_s = models.PositiveIntegerField(null=True)
    max_retries = models.PositiveSmallIntegerField(default=2)
    # The choice of the person for a command; a workflow declares whether it writes.
    may_write = models.BooleanField(default=False)
    tags = models.JSONField(default=list)
    origin = models.CharField(
        max_length=20, choices=[(one, one) for one in RUN_ORIGINS], default=EXECUTED
    )
    experiment = models.ForeignKey(
        Experiment, null=True, on_delete=models.RESTRICT, related_name="runs"
    )
    # The span of the request, as a W3C traceparent; "" if nothing is traced.
    trace_parent = models.CharField(max_length=tracing.PARENT_CHARACTERS, blank=True)
    # Logged by its program and opaque to Atom: parameters beside those that it was started with,
    # and labels by key.
    logged_parameters = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)
    archived_at = models.DateTimeField(null=True)
    # Written by people: lines of text, and a star for a run to keep.
    notes = models.TextField(blank=True)
    starred = models.BooleanField(default=False)
    # Grows with each change of name, tags, notes or star, so that conflicts are detected.
    revision = models.PositiveIntegerField(default=0)
    progress = models.FloatField(default=0)
    progress_text = models.CharField(max_length=300, blank=True)
    # The last value of each user metric, for lists; MetricSeries is the truth.
    metrics_summary = models.JSONField(default=dict)
    queued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # For how long its ended attempts have run, and since when the open one does; the attempts are
    # the truth, this is what a list of many runs sorts and sums by.
    ran_s = models.FloatField(default=0)
    running_since = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    # Since when its open attempt is asked to end, so that the run goes on in `cluster`.
    moving_since = models.DateTimeField(null=True)
    # Image, kind of GPUs and environment of the attempts there; the open attempt keeps the run's.
    move_image = models.CharField(max_length=500, blank=True)
    move_accelerator = models.CharField(max_length=100, blank=True)
    move_runtime = models.ForeignKey(
        Runtime, null=True, on_delete=models.PROTECT, related_name="moves"
    )
    retry_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "number"], name="run_number"),
            states.constraint("run_state", RUN_STATES),
            models.CheckConstraint(condition=models.Q(origin__in=RUN_ORIGINS), name="run_origin"),
            models.CheckConstraint(condition=models.Q(nodes__gte=1), name="run_nodes"),
            models.CheckConstraint(
                # A comparison with null refuses nothing.
                condition=models.Q(
                    start_when=SHARE,
                    start_percent__isnull=False,
                    start_percent__range=(LEAST_PERCENT, MOST_PERCENT),
                )
                | (~models.Q(start_when=SHARE) & models.Q(start_percent=None)),
                name="run_start",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"]),
            models.Index(fields=["state"]),
            models.Index(
                fields=["project", "-finished_at"],
                condition=models.Q(state="failed"),
                name="run_failed_lately",
            ),
            GinIndex(fields=["tags"], opclasses=["jsonb_path_ops"], name="run_tags"),
            GinIndex(fields=["name"], opclasses=["gin_trgm_ops"], name="run_name_words"),
            GinIndex(fields=["notes"], opclasses=["gin_trgm_ops"], name="run_notes_words"),
            GinIndex(
                OpClass(Cast("tags", models.TextField()), name="gin_trgm_ops"),
                name="run_tags_words",
            ),
        ]

    @property
    def writes_datasets(self) -> bool:
        """Whether its attempts get a token to write the project's datasets with."""
        declared = self.workflow is not None and self.workflow.definition.get("writes")
        return self.may_write or bool(declared)


class RunInput(TimestampedModel):
    """A dataset version that a run reads, under the alias that its code uses."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="inputs")
    alias = models.CharField(max_length=63)
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="run_inputs")
    selector = models.JSONField(default=dict)
    # The saved view that was named. Its query is part of the selector, since the view may change.
    view = models.CharField(max_length=63, blank=True)
    delivery = models.CharField(
        max_length=10, choices=[(one, one) for one in DELIVERIES], default=PACKS
    )
    # Which way of mounting the last attempt got; `mount_skipped` are pairs of a better way and why
    # the machine could not.
    mounted_by = models.CharField(max_length=20, blank=True)
    mount_skipped = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "alias"], name="input_alias"),
            models.CheckConstraint(
                condition=models.Q(delivery__in=DELIVERIES), name="input_delivery"
            ),
        ]


class Attempt(TimestampedModel):
    """One start of a run, by one rank or several; a retry makes the next one.

    `node` is that of rank 0.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    state = models.CharField(
        max_length=20, choices=states.choices(ATTEMPT_STATES), default="placing"
    )
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.SET_NULL, related_name="+")
    node = models.ForeignKey(Node, null=True, on_delete=models.SET_NULL, related_name="+")
    # Why it is where it is.
    placement = models.JSONField(default=dict)
    # The Job of a cluster in which it runs.
    placed_in = models.ForeignKey(
        "Placement", null=True, on_delete=models.SET_NULL, related_name="attempts"
    )
    exit_code = models.IntegerField(null=True)
    signal = models.IntegerField(null=True)
    failure_class = models.CharField(max_length=30, blank=True)
    failure_reason = models.TextField(blank=True)
    suggestion = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)
    resumed_from_step = models.BigIntegerField(null=True)
    # The number that the next batch of metrics has to carry.
    metrics_next_seq = models.PositiveBigIntegerField(default=0)
    log_complete = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    finalizing_since = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number"),
            states.constraint("attempt_state", ATTEMPT_STATES),
        ]


class Rank(TimestampedModel):
    """One of the processes that make an attempt together, each on a node."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="ranks")
    # From 0.
    number = models.PositiveIntegerField(default=0)
    node = models.ForeignKey(Node, null=True, on_delete=models.SET_NULL, related_name="+")
    # By this its executor knows it again; empty until it was started.
    identity = models.JSONField(default=dict)
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    token_expires_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    # When its command was started.
    started_at = models.DateTimeField(null=True)
    # The number that its next batch of metrics has to carry; that of rank 0 is its attempt's.
    metrics_next_seq = models.PositiveBigIntegerField(default=0)
    exit_code = models.IntegerField(null=True)
    signal = models.IntegerField(null=True)
    # Why it ended, as its runner says: exited, cancelled, oom and others; empty until then.
    exit_reason = models.CharField(max_length=20, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "number"], name="rank_number"),
        ]


class RunFile(TimestampedModel):
    """A stored file that a run reads, such as a model to evaluate, under a path of its own."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="files")
    alias = models.CharField(max_length=63)
    # As people read it, such as `digits@v1`.
    reference = models.CharField(max_length=200)
    path = models.CharField(max_length=1000)
    artifact = models.ForeignKey("Artifact", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "path"], name="run_file_path"),
        ]


class RunEvent(models.Model):
    """A line of the run's timeline."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    attempt = models.ForeignKey(Attempt, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    text = models.TextField()
    data = models.JSONField(default=dict)
    at = RowTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["run", "id"])]


class Artifact(TimestampedModel):
    """A file that an attempt left. Only PERSISTED ones are durable."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="artifacts")
    path = models.CharField(max_length=1000)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, blank=True)
    key = models.CharField(max_length=1300)
    kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in ARTIFACT_KINDS])
    step = models.BigIntegerField(null=True)
    state = models.CharField(
        max_length=20, choices=states.choices(ARTIFACT_STATES), default="local"
    )
    # Time of the request to verify; None before its bytes are stored and once it is settled.
    verify_asked_at = models.DateTimeField(null=True)
    # The worker that verifies it renews this.
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["attempt", "path", "sha256"], name="artifact_path_content"
            ),
            states.constraint("artifact_state", ARTIFACT_STATES),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "kind", "state"]),
            models.Index(
                fields=["verify_asked_at"],
                condition=models.Q(verify_asked_at__isnull=False),
                name="artifact_to_verify",
            ),
        ]
