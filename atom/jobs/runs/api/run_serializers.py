"""Shapes of runs, their inputs and their attempts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Count, Q
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.models import User
from atom.core import clock
from atom.core.fast_serializers import FieldsOnce
from atom.jobs import states
from atom.jobs.deliveries import DELIVERIES
from atom.jobs.event_kinds import EventKind
from atom.jobs.executors.base import Phase
from atom.jobs.failures.api.failure_serializers import (
    BranchedFailureSerializer,
    RunFailureSerializer,
    branch_at_fault,
    failure_of,
)
from atom.jobs.failures.engines.failure_codes import FAILURE_CLASSES
from atom.jobs.json_values import MetricValueField, names
from atom.jobs.models import (
    Attempt,
    CodeSnapshot,
    PlacementDecision,
    Rank,
    Run,
    RunEvent,
    RunInput,
    Runtime,
)
from atom.jobs.runs.actions.real_times import kept_row
from atom.jobs.runs.actions.start_request import start_of
from atom.jobs.runs.api.placement_serializers import KeptDecisionSerializer
from atom.jobs.runs.api.request_serializers import SelectorSerializer
from atom.jobs.runs.api.run_rows import phase_to_show, ran_s, unit_hours, values_of
from atom.jobs.runs.api.start_serializers import DataGateSerializer, RunStartSerializer, gate_row
from atom.jobs.workflows.api.workflow_serializers import ResourcesSerializer

_PHASE = serializers.ChoiceField(choices=names(Phase), allow_null=True)
_FAILURE_CLASS = serializers.ChoiceField(choices=names(FAILURE_CLASSES), allow_null=True)


def inputs_of(run: Run) -> list[RunInput]:
    """Return what a run reads, of one that was read with its parts."""
    return cast("list[RunInput]", run.loaded_inputs)  # type: ignore[attr-defined]  # of the prefetch


def attempts_of(run: Run) -> list[Attempt]:
    """Return the attempts of a run that was read with its parts, oldest first."""
    return cast("list[Attempt]", run.loaded_attempts)  # type: ignore[attr-defined]  # of the prefetch


def phase_of_attempt(attempt: Attempt) -> str | None:
    """Return how far a cluster is with an attempt that was read to be shown."""
    return phase_to_show(attempt.state, getattr(attempt, "observed_phase", None))


class PersonSerializer(FieldsOnce, serializers.ModelSerializer[User]):
    """The person who started a run."""

    class Meta:
        model = User
        fields = ("username", "full_name")


class SkippedMountSerializer(serializers.Serializer[Any]):
    """A way of mounting that was not possible, and why."""

    how = serializers.CharField()
    reason = serializers.CharField()


class RunInputSerializer(serializers.Serializer[Any]):
    """A dataset version that the run reads."""

    alias = serializers.CharField()
    dataset = serializers.CharField(source="version.dataset.name")
    ref = serializers.CharField(source="version.ref")
    selector = SelectorSerializer(
        help_text="The part of the version that the run sees, its view included."
    )
    view = serializers.CharField(help_text="The saved view that was named, or nothing.")
    delivery = serializers.ChoiceField(choices=DELIVERIES)
    # Taken from the last attempt; empty before it starts, and where nothing is mounted.
    mounted_by = serializers.CharField()
    mount_skipped = serializers.SerializerMethodField()

    @extend_schema_field(SkippedMountSerializer(many=True))
    def get_mount_skipped(self, one: RunInput) -> list[dict[str, str]]:
        """Return the better ways that the machine could not go."""
        return [{"how": how, "reason": reason} for how, reason in one.mount_skipped]


class RunShortSerializer(FieldsOnce, serializers.ModelSerializer[Run]):
    """A run as lists show it; the queryset is `Run.objects.for_lists()`."""

    workflow = serializers.SerializerMethodField()
    created_by = PersonSerializer()
    datasets = RunInputSerializer(source="loaded_inputs", many=True)
    resources = ResourcesSerializer(source="*")
    accelerator = serializers.CharField(help_text="The kind of its GPUs; empty for any.")
    cluster = serializers.CharField(
        source="cluster.name",
        default=None,
        allow_null=True,
        help_text="The registered cluster that was chosen; null: Atom's own machines.",
    )
    node = serializers.SerializerMethodField()
    phase = serializers.SerializerMethodField()
    duration_s = serializers.SerializerMethodField()
    cpu_hours = serializers.SerializerMethodField()
    gpu_hours = serializers.SerializerMethodField()
    attempts = serializers.SerializerMethodField()
    failure_class = serializers.SerializerMethodField()
    failure_reason = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()
    origin = serializers.ChoiceField(choices=states.RUN_ORIGINS)
    experiment = serializers.CharField(source="experiment.name", default="")
    metrics_summary = serializers.DictField(child=MetricValueField())
    tags = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id", "number", "name", "state", "workflow", "created_by", "datasets", "resources",
            "accelerator", "nodes", "launcher", "cluster", "node", "phase",
            "progress", "progress_text", "duration_s", "cpu_hours", "gpu_hours",
            "failure_class", "failure_reason", "failure", "origin", "experiment",
            "metrics_summary", "tags", "starred", "revision", "created_at", "started_at",
            "finished_at", "archived_at", "attempts",
        )  # fmt: skip

    def get_workflow(self, run: Run) -> str | None:
        """Return the workflow's slug."""
        return run.workflow.slug if run.workflow else None

    def get_node(self, run: Run) -> str | None:
        """Return the machine of the last attempt."""
        attempts = attempts_of(run)
        return attempts[-1].node.name if attempts and attempts[-1].node else None

    @extend_schema_field(_PHASE)
    def get_phase(self, run: Run) -> str | None:
        """Return how far a cluster is with the start of the last attempt."""
        attempts = attempts_of(run)
        return phase_of_attempt(attempts[-1]) if attempts else None

    def get_duration_s(self, run: Run) -> float | None:
        """Return for how long its attempts have run together, without the pauses between them."""
        return ran_s(attempts_of(run), self._now)

    def _now(self) -> datetime:
        """Return the time, the same for all rows of a page."""
        shared = cast("dict[str, Any]", self.context)
        if "now" not in shared:
            shared["now"] = clock.now()
        return cast(datetime, shared["now"])

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_cpu_hours(self, run: Run) -> float | None:
        """Return the hours that it ran times the processors of all nodes; None before it ran."""
        return self._hours(run, run.cpus * run.nodes)

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_gpu_hours(self, run: Run) -> float | None:
        """Return the hours that it ran times the GPUs of all nodes; None before it ran."""
        return self._hours(run, run.gpus * run.nodes)

    def _hours(self, run: Run, units: int) -> float | None:
        return unit_hours(run.origin, self.get_duration_s(run), units)

    @extend_schema_field(serializers.IntegerField())
    def get_attempts(self, run: Run) -> Any:
        """Return how many attempts there were."""
        return len(attempts_of(run))

    @extend_schema_field(_FAILURE_CLASS)
    def get_failure_class(self, run: Run) -> str | None:
        """Return the class of the failure, None if it did not fail."""
        return run.failure_class or None

    def get_failure_reason(self, run: Run) -> str | None:
        """Return the failure in a sentence."""
        return run.failure_reason or None

    @extend_schema_field(RunFailureSerializer(allow_null=True))
    def get_failure(self, run: Run) -> dict[str, Any] | None:
        """Return the failure as a code with what it names."""
        attempts = attempts_of(run)
        return failure_of(attempts[-1]) if run.failure_class and attempts else None


class ListedRunSerializer(RunShortSerializer):
    """A run in a list whose columns the reader chose; context: `columns`.

    It describes the rows that `run_rows` makes.
    """

    values = serializers.SerializerMethodField()

    class Meta(RunShortSerializer.Meta):
        fields = (*RunShortSerializer.Meta.fields, "values")

    @extend_schema_field(serializers.DictField(child=serializers.JSONField()))
    def get_values(self, run: Run) -> dict[str, Any]:
        """Return the chosen parameters and metrics that it has."""
        columns: list[str] = self.context["columns"]
        if not columns:
            return {}
        return values_of(columns, {**run.parameters, **run.logged_parameters}, run.metrics_summary)


class RankSerializer(FieldsOnce, serializers.ModelSerializer[Rank]):
    """One of the processes that make an attempt together."""

    node = serializers.CharField(source="node.name", default=None, allow_null=True)
    pod = serializers.SerializerMethodField()

    class Meta:
        model = Rank
        fields = (
            *("number", "node", "pod", "heartbeat_at", "started_at"),
            *("exit_code", "signal", "exit_reason", "ended_at"),
        )

    def get_pod(self, rank: Rank) -> str | None:
        """Return the name of its pod; None before one joined, and where there are no pods."""
        return str(rank.identity.get("pod") or "") or None


class AttemptSerializer(FieldsOnce, serializers.ModelSerializer[Attempt]):
    """One attempt of a run."""

    cluster = serializers.CharField(source="cluster.name", default=None, allow_null=True)
    node = serializers.CharField(source="node.name", default=None, allow_null=True)
    namespace = serializers.CharField(
        source="placed_in.namespace",
        default=None,
        allow_null=True,
        help_text="The namespace of its Job; null on Atom's own machines.",
    )
    job = serializers.SerializerMethodField()
    phase = serializers.SerializerMethodField()
    ranks = RankSerializer(source="loaded_ranks", many=True)
    heartbeat_at = serializers.SerializerMethodField()
    failure_class = serializers.SerializerMethodField()
    failure_reason = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()
    resume_checkpoint = serializers.SerializerMethodField()
    evidence = serializers.DictField()
    placement = serializers.DictField()

    class Meta:
        model = Attempt
        fields = (
            "id", "number", "state", "cluster", "namespace", "job", "node", "phase", "ranks",
            "exit_code", "signal", "failure_class", "failure_reason", "failure", "suggestion",
            "evidence", "placement",
            "started_at", "finished_at", "heartbeat_at", "resume_checkpoint", "resumed_from_step",
            "log_complete",
        )  # fmt: skip

    def get_job(self, attempt: Attempt) -> str | None:
        """Return the name of its Job, once the cluster has accepted that."""
        placement = attempt.placed_in
        return placement.job_name if placement and placement.job_uid else None

    @extend_schema_field(_PHASE)
    def get_phase(self, attempt: Attempt) -> str | None:
        """Return how far a cluster is with its start; None once its command runs."""
        return phase_of_attempt(attempt)

    def get_heartbeat_at(self, attempt: Attempt) -> datetime | None:
        """Return when any of its ranks last reported."""
        ranks: list[Rank] = attempt.loaded_ranks  # type: ignore[attr-defined]  # of the prefetch
        return max((rank.heartbeat_at for rank in ranks if rank.heartbeat_at), default=None)

    @extend_schema_field(_FAILURE_CLASS)
    def get_failure_class(self, attempt: Attempt) -> str | None:
        """Return the class of the failure, None if it did not fail."""
        return attempt.failure_class or None

    def get_failure_reason(self, attempt: Attempt) -> str | None:
        """Return the failure in a sentence."""
        return attempt.failure_reason or None

    @extend_schema_field(RunFailureSerializer(allow_null=True))
    def get_failure(self, attempt: Attempt) -> dict[str, Any] | None:
        """Return the failure as a code with what it names."""
        return failure_of(attempt)

    def get_resume_checkpoint(self, attempt: Attempt) -> str | None:
        """Return the checkpoint that it went on from, such as `step 300`."""
        step = attempt.resumed_from_step
        return None if step is None else f"step {step}"


class RuntimeSerializer(serializers.ModelSerializer[Runtime]):
    """The environment of a run."""

    class Meta:
        model = Runtime
        fields = (
            *("digest", "state", "requirements", "python", "size_bytes", "log_tail", "built_at"),
            "pushed_image",
        )


class CodeSnapshotSerializer(serializers.ModelSerializer[CodeSnapshot]):
    """The code of a run."""

    git = serializers.DictField(allow_null=True)

    class Meta:
        model = CodeSnapshot
        fields = ("id", "digest", "sha256", "size_bytes", "files_count", "git")


class RegisteredVersionSerializer(serializers.Serializer[Any]):
    """A model version that a run became."""

    model = serializers.CharField()
    number = serializers.IntegerField()


class RunSerializer(RunShortSerializer):
    """A run with everything that its page shows."""

    parameters = serializers.DictField()
    logged_parameters = serializers.DictField(
        help_text="Parameters that its program logged beside them."
    )
    labels = serializers.DictField(help_text="Tags with values, as an MLflow client sets them.")
    command = serializers.ListField(child=serializers.CharField())
    runtime = RuntimeSerializer(allow_null=True)
    code = CodeSnapshotSerializer(allow_null=True)
    env = serializers.SerializerMethodField()
    secrets = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the secrets that the command gets."
    )
    start = serializers.SerializerMethodField(
        help_text="The start that was asked for; null: Atom chooses."
    )
    data_gate = serializers.SerializerMethodField(
        help_text="How its last attempt waits for its data; null on own machines, or without data."
    )
    suggestion = serializers.SerializerMethodField()
    evidence = serializers.SerializerMethodField()
    outputs_count = serializers.SerializerMethodField()
    has_model = serializers.SerializerMethodField()
    model_versions = serializers.SerializerMethodField()
    project = serializers.CharField(source="project.slug")
    may_write = serializers.BooleanField(
        source="writes_datasets",
        help_text="Whether it writes datasets: it was asked for, or the workflow does.",
    )
    placement_decision = serializers.SerializerMethodField()

    class Meta(RunShortSerializer.Meta):
        fields = (
            *RunShortSerializer.Meta.fields,
            "project", "notes", "parameters", "logged_parameters", "labels", "command", "runtime",
            "code", "env", "secrets", "suggestion", "evidence", "outputs_count", "has_model",
            "model_versions", "workflow_version", "timeout_s", "max_retries", "may_write",
            "image", "start", "data_gate",
            "priority", "queued_at",
            "cancel_requested_at", "placement_decision",
        )  # fmt: skip

    @extend_schema_field(AttemptSerializer(many=True))
    def get_attempts(self, run: Run) -> Any:
        """Return every attempt, oldest first."""
        return AttemptSerializer(attempts_of(run), many=True).data

    @extend_schema_field(RunStartSerializer(allow_null=True))
    def get_start(self, run: Run) -> dict[str, Any] | None:
        """Return the start that was asked for."""
        start = start_of(run)
        return None if start is None else dict(RunStartSerializer(start).data)

    @extend_schema_field(DataGateSerializer(allow_null=True))
    def get_data_gate(self, run: Run) -> dict[str, Any] | None:
        """Return how the last attempt waits for its data."""
        attempts = attempts_of(run)
        return gate_row(attempts[-1]) if attempts else None

    @extend_schema_field(BranchedFailureSerializer(allow_null=True))
    def get_failure(self, run: Run) -> dict[str, Any] | None:
        """Return the failure with the branch of the version that it names."""
        failure = super().get_failure(run)
        if failure is None:
            return None
        return {
            **failure,
            "branch": branch_at_fault(failure, [one.version for one in inputs_of(run)]),
        }

    @extend_schema_field(KeptDecisionSerializer(allow_null=True))
    def get_placement_decision(self, run: Run) -> Any:
        """Return why it is where it is; None for a run of before that was kept."""
        decisions: list[PlacementDecision] = run.loaded_decisions  # type: ignore[attr-defined]  # of the read
        if not decisions:
            return None
        decision = decisions[0]
        named = (one for one in attempts_of(run) if one.pk == decision.attempt_id)
        return KeptDecisionSerializer(kept_row(decision, next(named, None))).data

    def get_env(self, run: Run) -> list[str]:
        """Return the names only: the values may be secrets."""
        return sorted(run.env)

    def get_suggestion(self, run: Run) -> str | None:
        """Return what to do about the failure."""
        return run.suggestion or None

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_evidence(self, run: Run) -> dict[str, Any] | None:
        """Return what the last attempt's end left to see."""
        attempts = attempts_of(run)
        return (attempts[-1].evidence or None) if attempts else None

    def get_outputs_count(self, run: Run) -> int:
        """Return how many files it left."""
        return self._left(run)[0]

    def get_has_model(self, run: Run) -> bool:
        """Return whether some of the files are declared to be a model."""
        return self._left(run)[1] > 0

    def _left(self, run: Run) -> tuple[int, int]:
        """Return how many files it left, and how many of them are of a model."""
        known: dict[UUID, tuple[int, int]] = self.context.setdefault("left", {})  # type: ignore[attr-defined]
        if run.pk not in known:
            of_model = Q(kind="model") | Q(path__startswith="model/")
            counts = run.artifacts.aggregate(n=Count("pk"), model=Count("pk", filter=of_model))
            known[run.pk] = counts["n"], counts["model"]
        return known[run.pk]

    @extend_schema_field(RegisteredVersionSerializer(many=True))
    def get_model_versions(self, run: Run) -> list[dict[str, Any]]:
        """Return the model versions that were registered from it."""
        registered = getattr(run, "model_versions", None)
        if registered is None:
            return []
        rows = registered.values_list("model__name", "number").order_by("model__name", "number")
        return [{"model": name, "number": number} for name, number in rows]


class RunEventSerializer(serializers.ModelSerializer[RunEvent]):
    """A line of a run's timeline."""

    seq = serializers.IntegerField(source="id")
    kind = serializers.ChoiceField(choices=names(EventKind))
    attempt = serializers.IntegerField(source="attempt.number", default=None, allow_null=True)
    data = serializers.DictField()  # type: ignore[assignment]  # a column's name

    class Meta:
        model = RunEvent
        fields = ("seq", "kind", "text", "attempt", "data", "at")
