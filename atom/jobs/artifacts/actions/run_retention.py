"""Retention of runs: remove old logs and outputs, some days after an announcement.

A run stays whole while a model version, an evaluation or a report refers to it. Files that a later
run reads stay too. Parameters, metrics and the run itself always stay.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, storage
from atom.jobs import states
from atom.jobs.events import announce
from atom.jobs.models import Artifact, LogChunk, LogStream, Run, RunKeeping, RunPolicy

log = structlog.get_logger(__name__)

# Between the announcement and the removal: the time to keep a run after all.
NOTICE = timedelta(days=3)
_AT_ONCE = 200


def set_run_policy(project: Project, days: int | None, user: User) -> RunPolicy:
    """Set the days for which logs and outputs stay, None for ever. Announcements start again."""
    with transaction.atomic():
        policy, _ = RunPolicy.objects.update_or_create(
            project=project, defaults={"days": days, "set_by": user}
        )
        RunKeeping.objects.filter(
            run__project=project, removed_at=None, until=None, due_at__isnull=False
        ).update(due_at=None)
        audit.record(user, "run_policy.changed", policy, project, days=days)
    return policy


def keep_run(run: Run, days: int | None, user: User) -> RunKeeping:
    """Keep one run for so many days from now, None: as the project has it. Takes back a notice."""
    until = None if days is None else clock.now() + timedelta(days=days)
    with transaction.atomic():
        keeping, _ = RunKeeping.objects.select_for_update().get_or_create(run=run)
        keeping.until, keeping.due_at = until, None
        keeping.save(update_fields=["until", "due_at", "updated_at"])
        audit.record(user, "run.keeping_changed", run, run.project, name=run.name, days=days)
        announce(run)
    return keeping


def due_runs(project: Project, days: int | None, now: datetime) -> QuerySet[Run]:
    """Return the runs whose logs and outputs would go under a policy, the oldest first."""
    over = Q(keeping__until__lt=now)
    if days is not None:
        # A number that reaches before all times keeps everything.
        reach = min(days, (now - datetime.min.replace(tzinfo=now.tzinfo)).days - 1)
        as_project = Q(keeping=None) | Q(keeping__until=None)
        over |= as_project & Q(finished_at__lt=now - timedelta(days=reach))
    runs = Run.objects.filter(
        over, project=project, state__in=states.TERMINAL, finished_at__isnull=False, starred=False
    )
    runs = runs.filter(Q(keeping=None) | Q(keeping__removed_at=None)).exclude(_needed(Run))
    return runs.filter(_leaves_something()).order_by("finished_at", "id")


def bytes_of(runs: QuerySet[Run]) -> int:
    """Return how much the logs and outputs of runs take."""
    chosen = runs.order_by().values("pk")
    logs = LogChunk.objects.filter(stream__attempt__run__in=chosen)
    outputs = _removable(Artifact.objects.filter(run__in=chosen))
    found = outputs.aggregate(total=Sum("size_bytes"))["total"] or 0
    return int(found + (logs.aggregate(total=Sum("compressed_bytes"))["total"] or 0))


def apply_run_retention() -> None:
    """Announce what is due, remove what was announced long enough ago. Repeatable."""
    now = clock.now()
    for project in Project.objects.filter(_has_rules()).select_related("run_policy"):
        policy = getattr(project, "run_policy", None)
        _announce(project, policy.days if policy else None, now)
    passed = RunKeeping.objects.filter(due_at__lte=now, removed_at=None)
    for run_id in list(passed.order_by("due_at").values_list("run_id", flat=True)[:_AT_ONCE]):
        remove_outputs(run_id)


def _has_rules() -> Q:
    said = RunKeeping.objects.filter(run__project=OuterRef("pk"), removed_at=None)
    policy = RunPolicy.objects.filter(project=OuterRef("pk"), days__isnull=False)
    return Q(Exists(said)) | Q(Exists(policy))


def _announce(project: Project, days: int | None, now: datetime) -> None:
    due = set(due_runs(project, days, now).values_list("pk", flat=True))
    told = RunKeeping.objects.filter(run__project=project, due_at__isnull=False, removed_at=None)
    told.exclude(run__in=due).update(due_at=None)
    new = due - set(told.values_list("run_id", flat=True))
    for run_id in sorted(new)[:_AT_ONCE]:
        RunKeeping.objects.update_or_create(run_id=run_id, defaults={"due_at": now + NOTICE})


def remove_outputs(run_id: UUID) -> bool:
    """Remove the logs and outputs of a run whose notice has passed; return whether it did.

    Objects go first: a worker that dies between leaves rows, and the next round takes them.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("project").get(pk=run_id)
        keeping = RunKeeping.objects.select_for_update().get(run=run)
        policy = RunPolicy.objects.filter(project=run.project).first()
        due = due_runs(run.project, policy.days if policy else None, clock.now())
        if keeping.removed_at is not None or keeping.due_at is None:
            return False
        if not due.filter(pk=run.pk).exists():
            keeping.due_at = None
            keeping.save(update_fields=["due_at", "updated_at"])
            return False
        removed_bytes = bytes_of(due.filter(pk=run.pk))
        _remove(run)
        keeping.removed_at, keeping.due_at = clock.now(), None
        keeping.removed_bytes = removed_bytes
        keeping.save(update_fields=["removed_at", "due_at", "removed_bytes", "updated_at"])
        named = {"name": run.name, "number": run.number, "bytes": removed_bytes}
        audit.record(None, "run.outputs_removed", run, run.project, **named)
        announce(run)
    log.info("run_outputs_removed", run_id=str(run.pk), size_bytes=removed_bytes)
    return True


def _remove(run: Run) -> None:
    chunks = LogChunk.objects.filter(stream__attempt__run=run)
    outputs = _removable(run.artifacts.all())
    kept = set(run.artifacts.exclude(pk__in=outputs.values("pk")).values_list("key", flat=True))
    keys = {*chunks.values_list("key", flat=True), *outputs.values_list("key", flat=True)}
    objects = storage.objects()
    # A file with the bytes of another one shares its object.
    for key in sorted(keys - kept - {""}):
        objects.delete(key)
    chunks.delete()
    LogStream.objects.filter(attempt__run=run).update(flushed_bytes=0, flushed_lines=0, eof_bytes=0)
    Artifact.objects.filter(pk__in=list(outputs.values_list("pk", flat=True))).delete()


def _removable(artifacts: QuerySet[Artifact]) -> QuerySet[Artifact]:
    return artifacts.exclude(_needed(Artifact))


def _needed(model: type[models.Model]) -> Q:
    """Whether a row of any table points at one of `model` that does not go with it.

    Apps above this one are not known here; their tables are, by their foreign keys.
    """
    found = Q()
    # Hidden ones too: most relations have no name on this side.
    for relation in model._meta.get_fields(include_hidden=True):
        if not isinstance(relation, models.ManyToOneRel) or relation.on_delete is models.CASCADE:
            continue
        rows = relation.related_model._base_manager
        found |= Q(Exists(rows.filter(**{relation.field.name: OuterRef("pk")})))
    return found


def _leaves_something() -> Q:
    logs = LogChunk.objects.filter(stream__attempt__run=OuterRef("pk"))
    outputs = Artifact.objects.filter(run=OuterRef("pk"))
    return Q(Exists(logs)) | Q(Exists(outputs))
