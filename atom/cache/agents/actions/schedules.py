"""Schedules of warm-up plans: at their times the newest version of a ref goes to nodes.

A plan brings only packs that its nodes lack, so a source that changes a little costs a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.accounts.permissions import require
from atom.cache.agents.actions.plans import PlanOptions, reason_of, start_plan, usable_cluster
from atom.cache.engines.cron import next_time
from atom.cache.engines.turns import DEFAULT_PRIORITY
from atom.cache.errors import WarmScheduleNotFound
from atom.cache.models import WarmPlan, WarmSchedule
from atom.cache.warming.actions.records import UNREADABLE
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster
from atom.core import clock, live
from atom.core.errors import AtomError
from atom.core.storage import StoreError
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.models import Dataset, Version, resolve_ref
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_ROLE = "researcher"
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """When and where the newest version of `ref` goes; see `PlanOptions` for the rest.

    `cron` has five fields and is read in `timezone`, the name of a zone. Each plan fails unless
    it is done after `deadline_s`; its version stays needed for `keep_s`.
    """

    ref: str
    cron: str
    timezone: str = "UTC"
    nodes: Sequence[str] = ()
    copies: int | None = None
    rate_bytes_s: int | None = None
    priority: int = DEFAULT_PRIORITY
    deadline_s: int | None = None
    keep_s: int | None = None


def create_schedule(
    dataset: Dataset, cluster: Cluster, options: ScheduleOptions, user: User
) -> WarmSchedule:
    """Make a schedule. Raises CronError, RefNotFound, RefAmbiguous."""
    _resolve(dataset, options.ref)
    with transaction.atomic():
        row = WarmSchedule.objects.create(
            project=dataset.project,
            dataset=dataset,
            ref=options.ref,
            cluster=cluster,
            nodes=sorted(set(options.nodes)),
            copies=None if options.nodes else options.copies or 1,
            rate_bytes_s=options.rate_bytes_s,
            priority=options.priority,
            cron=options.cron,
            timezone=options.timezone,
            deadline_s=options.deadline_s,
            keep_s=options.keep_s,
            next_at=next_time(options.cron, options.timezone, clock.now()),
            created_by=user,
        )
        _audit(row, user, "created")
    return row


def find_schedule(project_id: UUID, schedule_id: UUID) -> WarmSchedule:
    """Return a schedule of a project. Raises WarmScheduleNotFound."""
    rows = WarmSchedule.objects.select_related("dataset", "cluster", "created_by", "last_plan")
    row = rows.filter(project_id=project_id, pk=schedule_id).first()
    if row is None:
        raise WarmScheduleNotFound
    return row


def pause_schedule(row: WarmSchedule, user: User) -> None:
    """Start no plans until the schedule is resumed; a plan that runs goes on. Repeatable."""
    _set_next(row, None, user, "paused")


def resume_schedule(row: WarmSchedule, user: User) -> None:
    """Start plans again at the next time from now on. Repeatable."""
    if row.next_at is None:
        _set_next(row, next_time(row.cron, row.timezone, clock.now()), user, "resumed")


def _set_next(row: WarmSchedule, next_at: datetime | None, user: User, verb: str) -> None:
    with transaction.atomic():
        WarmSchedule.objects.filter(pk=row.pk).update(next_at=next_at, updated_at=clock.now())
        row.next_at = next_at
        _audit(row, user, verb)


def delete_schedule(row: WarmSchedule, user: User) -> None:
    """Remove a schedule; its plans stay."""
    with transaction.atomic():
        _audit(row, user, "deleted")
        row.delete()


def _audit(row: WarmSchedule, user: User, verb: str) -> None:
    named = {"dataset": row.dataset.name, "ref": row.ref, "cron": row.cron}
    audit.record(user, f"warm_schedule.{verb}", row, row.project, row.dataset, **named)
    event = {"type": "warm_schedule", "id": str(row.pk)}
    live.publish(f"project.{row.project_id}", event)


def start_due() -> int:
    """Start a plan for each schedule whose time has come; return how many.

    Times that were missed, since nothing ran, count once.
    """
    due = WarmSchedule.objects.filter(next_at__lte=clock.now()).order_by("next_at")
    return sum(_start(pk) for pk in due.values_list("pk", flat=True)[:_AT_ONCE])


def _start(schedule_id: UUID) -> bool:
    with transaction.atomic():
        rows = WarmSchedule.objects.select_for_update(of=("self",), skip_locked=True)
        row = (
            rows.select_related("project", "dataset", "cluster", "created_by", "last_plan")
            .filter(pk=schedule_id, next_at__lte=clock.now())
            .first()
        )
        if row is None:
            return False
        now = clock.now()
        row.next_at, row.last_at = next_time(row.cron, row.timezone, now), now
        plan = _plan_of(row, now)
        row.save()
        live.publish(f"project.{row.project_id}", {"type": "warm_schedule", "id": str(row.pk)})
    return plan is not None


def _plan_of(row: WarmSchedule, now: datetime) -> WarmPlan | None:
    """Start the plan of a schedule, or note why there is none."""
    if row.last_plan is not None and row.last_plan.state == "running":
        row.error = Sentence(
            "cache.schedule_still_runs", "The plan before still runs, so this time was left out."
        )
        return None
    try:
        with transaction.atomic():
            version = _newest(row)
            plan = start_plan(version, row.cluster, _options_of(row, now), row.created_by)
            WarmPlan.objects.filter(pk=plan.pk).update(schedule=row)
    except (AtomError, StoreError, *UNREADABLE) as error:
        log.warning("warm_schedule_failed", schedule=str(row.pk), error=str(error))
        row.error = reason_of(error)
        return None
    row.last_plan, row.error = plan, ""
    return plan


def _newest(row: WarmSchedule) -> Version:
    """Return the version of the ref, if its owner may still do this there."""
    if row.created_by is None or not row.created_by.is_active:
        raise ClusterNotFound(
            Sentence("cache.schedule_without_owner", "The account that made it is gone.")
        )
    require(row.created_by, row.project, _ROLE)
    usable_cluster(row.project, row.created_by, row.cluster.name)
    return _resolve(find_dataset(row.project, row.dataset.name), row.ref)


def _resolve(dataset: Dataset, ref: str) -> Version:
    version = resolve_ref(dataset, ref)
    version.dataset = dataset
    return version


def _options_of(row: WarmSchedule, now: datetime) -> PlanOptions:
    def after(seconds: int | None) -> datetime | None:
        return None if seconds is None else now + timedelta(seconds=seconds)

    return PlanOptions(
        nodes=row.nodes,
        copies=row.copies,
        rate_bytes_s=row.rate_bytes_s,
        deadline=after(row.deadline_s),
        priority=row.priority,
        keep_until=after(row.keep_s),
    )
