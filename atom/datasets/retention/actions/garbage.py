"""Collecting garbage: look, condemn, and delete what was condemned a whole undo window ago.

A condemned object stays where it is, so that undoing costs nothing. Right before a deletion is
looked again whether somebody needs the object, while no push or commit of the project is under
way (`atom.datasets.gc_guard`). Every step may be repeated.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, states, storage
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.errors import AtomError
from atom.core.ids import uuid7
from atom.core.locks import only_worker
from atom.core.storage import StoreError
from atom.datasets.catalog.engines.stored import ListingDisordered, Stored, stored_objects
from atom.datasets.commits.actions.branches import settle_branch
from atom.datasets.keys import STAGING
from atom.datasets.models import Branch, CondemnedObject, Dataset, GarbageRun, Version
from atom.datasets.packs.engines.digest_runs import in_batches, without
from atom.datasets.retention.actions.deletion import purge_dataset
from atom.datasets.retention.actions.repack import plan_repacking, repack
from atom.datasets.retention.actions.retention import collect_version
from atom.datasets.retention.actions.staging import Cutoffs, clear_ownerless_staging, clear_staging
from atom.datasets.retention.actions.sweep import sweep
from atom.datasets.retention.engines.reachable import KINDS
from atom.datasets.retention.errors import (
    ClocksDiffer,
    GarbageRefused,
    GarbageRunPresent,
    GarbageTimedOut,
    PardonTooLate,
)
from atom.datasets.retention.garbage_roots import GarbageRules, Marks, mark
from atom.datasets.states import CONDEMNED_STATES, GARBAGE_RUN_STATES
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

CLOCK_TOLERANCE = timedelta(hours=1)
_COLLECT_TASK = "atom.datasets.tasks.collect_garbage"
_BATCH = 500
_EXAMPLES = 20


def start_garbage_run(project: Project, user: User | None, *, is_dry_run: bool) -> GarbageRun:
    """Ask a worker to collect a project's garbage. Raises GarbageRunPresent."""
    with transaction.atomic():
        run = add_garbage_run(project, user, is_dry_run=is_dry_run)
        enqueue(_COLLECT_TASK, str(run.pk))
    return run


def add_garbage_run(project: Project, user: User | None, *, is_dry_run: bool) -> GarbageRun:
    """Note a run that the caller carries out. Raises GarbageRunPresent."""
    try:
        with transaction.atomic():
            run = GarbageRun.objects.create(
                project=project, requested_by=user, is_dry_run=is_dry_run
            )
            audit.record(user, "garbage.requested", run, project, is_dry_run=is_dry_run)
    except IntegrityError as exc:
        raise GarbageRunPresent from exc
    return run


def collect_garbage(run_id: UUID | str, rules: GarbageRules | None = None) -> GarbageRun:
    """Carry a run to its end and return it; one that another worker is at, as it is."""
    run = GarbageRun.objects.select_related("project").get(pk=run_id)
    with only_worker(run.project_id) as mine:
        run.refresh_from_db(fields=["state"])
        if mine and run.state == "running":
            _collect_to_the_end(run, rules or settings_rules())
    return run


def give_up(run_id: UUID | str) -> None:
    """End a run that its worker had no time to finish; what it did stands."""
    run = GarbageRun.objects.select_related("project").get(pk=run_id)
    if run.state == "running":
        _finish(run, "failed", GarbageTimedOut.code, GarbageTimedOut.title)


def settings_rules() -> GarbageRules:
    """Return the installation's rules."""
    return GarbageRules(
        timedelta(days=settings.GARBAGE_GRACE_DAYS), timedelta(days=settings.GARBAGE_UNDO_DAYS)
    )


def pardon(run: GarbageRun, user: User | None) -> int:
    """Keep what a run condemned for another undo window; returns how many objects.

    Raises PardonTooLate when nothing of it is condemned any more.
    """
    states.check_transition(CONDEMNED_STATES, "condemned", "pardoned")
    with transaction.atomic():
        condemned = CondemnedObject.objects.filter(run=run, state="condemned")
        count = condemned.update(state="pardoned", settled_at=Now())
        if not count:
            raise PardonTooLate
        audit.record(user, "garbage.pardoned", run, run.project, objects=count)
    return count


def _collect_to_the_end(run: GarbageRun, rules: GarbageRules) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="atom-garbage-") as folder:
            _collect(run, rules, Path(folder))
    except (GarbageRefused, ListingDisordered) as exc:
        code = exc.code if isinstance(exc, AtomError) else "listing_disordered"
        _finish(run, "failed", code, str(exc))
    else:
        _finish(run, "done")


def _collect(run: GarbageRun, rules: GarbageRules, folder: Path) -> None:
    store_now = check_clocks(run.project)
    for branch in Branch.objects.filter(dataset__project=run.project).select_related("dataset"):
        settle_branch(branch.dataset, branch.name)
    if not run.is_dry_run:
        _close_windows(run.project, rules)
    _repack(run, rules, folder)
    marks = mark(run.project, folder, rules)
    reach("garbage.marked")
    _note_garbage(run, marks, store_now - rules.grace)
    clear_staging(run, Cutoffs(store_now - rules.grace, clock.now() - rules.grace))
    if not run.is_dry_run:
        reach("garbage.condemned")
        sweep(run, marks, rules, folder)


def _repack(run: GarbageRun, rules: GarbageRules, folder: Path) -> None:
    """Repack packs that are worth it, or count them; a failure costs only that."""
    try:
        plan = plan_repacking(run.project, rules, folder)
        if not run.is_dry_run:
            repack(run.project, plan, folder)
    except (SdkError, AtomError, StoreError, OSError):
        log.exception("repacking_failed", run_id=str(run.pk))
        return
    run.repacked_count, run.repacked_bytes = len(plan.needed), plan.size_bytes
    run.repacked_needed_bytes = plan.needed_bytes


def check_clocks(project: Project) -> datetime:
    """Return the time by the store's clock. Raises ClocksDiffer if the database's is far off.

    Ages follow the store's clock alone, since it wrote the times of its objects.
    """
    return _store_now(f"{storage.project_prefix(project)}checks/")


def clear_ownerless(rules: GarbageRules | None = None) -> int:
    """Clear staging of what deleted projects left; returns how much. Raises ClocksDiffer."""
    grace = (rules or GarbageRules()).grace
    return clear_ownerless_staging(Cutoffs(_store_now(STAGING) - grace, clock.now() - grace))


def _store_now(prefix: str) -> datetime:
    key = f"{prefix}clock-{uuid7()}"
    storage.objects().put(key, b"")
    store_now = storage.objects().head(key).modified_at
    storage.objects().delete(key)
    require_near(store_now, clock.now())
    return store_now


def require_near(store_now: datetime, now: datetime) -> None:
    """Raise ClocksDiffer unless two clocks show nearly the same time."""
    if abs(store_now - now) > CLOCK_TOLERANCE:
        raise ClocksDiffer(
            Sentence(
                "datasets.clocks_differ",
                "The object store says {store_time}, the database {database_time}.",
                store_time=store_now.isoformat(),
                database_time=now.isoformat(),
            )
        )


def _close_windows(project: Project, rules: GarbageRules) -> None:
    """Delete for good what was expired or pardoned a whole window ago."""
    closed = clock.now() - rules.undo_window
    versions = Version.objects.filter(dataset__project=project, state="expired")
    for dataset in Dataset.with_deleted.deleted_in(project).filter(deleted_at__lte=closed):
        purge_dataset(dataset)
    # A label task, a run or a branch that came after: it is needed, whatever its state says.
    unneeded = versions.filter(tags__isnull=True, pins__isnull=True, expired_at__lte=closed)
    heads = Branch.objects.filter(dataset__project=project, head__isnull=False).values("head_id")
    unneeded = unneeded.exclude(pk__in=heads)
    for version in unneeded.select_related("dataset__project"):
        collect_version(version)
    pardoned = CondemnedObject.objects.filter(project=project, state="pardoned")
    pardoned.filter(settled_at__lte=closed).update(state="expired")


def _note_garbage(run: GarbageRun, marks: Marks, older_than: datetime) -> None:
    run.garbage_count, run.garbage_bytes, run.examples = 0, 0, []
    run.examined_count, run.examined_bytes = 0, 0
    for kind in KINDS:
        garbage = (
            item
            for item in without(_stored(run, kind), marks.kept.digests(kind), _digest_of)
            if item.modified_at <= older_than
        )
        for batch in in_batches(garbage, _BATCH):
            _note_batch(run, batch)
    run.save()


def _stored(run: GarbageRun, kind: str) -> Iterator[Stored]:
    prefix = storage.project_prefix(run.project)
    for item in stored_objects(kind, storage.objects().list_prefix(f"{prefix}{kind}/")):
        run.examined_count += 1
        run.examined_bytes += item.size_bytes
        yield item


def _digest_of(item: Stored) -> bytes:
    return item.digest


def _note_batch(run: GarbageRun, batch: list[Stored]) -> None:
    run.garbage_count += len(batch)
    run.garbage_bytes += sum(item.size_bytes for item in batch)
    room = _EXAMPLES - len(run.examples)
    run.examples += [f"{item.kind}/{item.digest.hex()}" for item in batch[:room]]
    if run.is_dry_run:
        return
    rows = [
        CondemnedObject(
            project=run.project,
            run=run,
            kind=item.kind,
            digest=item.digest.hex(),
            size_bytes=item.size_bytes,
        )
        for item in batch
    ]
    # Objects that an earlier run condemned keep their date.
    CondemnedObject.objects.bulk_create(rows, ignore_conflicts=True)
    reach("garbage.batch_condemned")


def _finish(run: GarbageRun, state: str, code: str = "", detail: str = "") -> None:
    states.check_transition(GARBAGE_RUN_STATES, "running", state)
    run.state, run.error_code, run.error_detail = state, code, detail
    with transaction.atomic():
        GarbageRun.objects.filter(pk=run.pk, state="running").update(
            state=state, error_code=code, error_detail=detail, finished_at=Now()
        )
        if not run.is_dry_run:
            condemned = run.condemned.filter(state="condemned").count()
            audit.record(
                None, "garbage.condemned", run, run.project, objects=condemned, state=state
            )
    run.refresh_from_db()
    log.info("garbage_collected", run_id=str(run.pk), state=state, code=code)
