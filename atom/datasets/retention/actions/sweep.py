"""Deleting what was condemned a whole undo window ago, if nobody needs it after all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.core import clock, states, storage
from atom.core.crash_points import reach
from atom.datasets.catalog.engines.stored import keys_of
from atom.datasets.gc_guard import nothing_built
from atom.datasets.models import CondemnedObject, GarbageRun, Pack, Version
from atom.datasets.packs.engines.digest_runs import in_batches, without
from atom.datasets.retention.engines.reachable import KINDS, Reachable
from atom.datasets.retention.garbage_roots import (
    GarbageRules,
    Marks,
    follow_later,
    leased_packs,
)
from atom.datasets.states import CONDEMNED_STATES

log = structlog.get_logger(__name__)

_BATCH = 200
_TRIES = 60
_TRY_AGAIN_S = 0.5


def sweep(run: GarbageRun, marks: Marks, rules: GarbageRules, folder: Path) -> None:
    """Delete what is due, data before manifests; what is needed again is spared."""
    # One for the whole sweep: a later root is followed once, and counts until the end.
    later = marks.kept.beside(folder / "later")
    for kind in KINDS:
        _spare_needed(run, kind, marks.kept)
        due = _due(run, kind, marks, rules)
        for batch in in_batches(due, _BATCH):
            if not _delete_when_quiet(run, batch, marks, rules, later):
                log.warning("garbage_left_for_the_next_run", run_id=str(run.pk), kind=kind)
                return


def _condemned(run: GarbageRun, kind: str) -> QuerySet[CondemnedObject]:
    rows = CondemnedObject.objects.filter(project=run.project, kind=kind, state="condemned")
    return rows.order_by("digest")


def _spare_needed(run: GarbageRun, kind: str, kept: Reachable) -> None:
    rows = _condemned(run, kind).iterator()
    garbage = {row.pk for row in without(rows, kept.digests(kind), _digest_of)}
    needed = [pk for pk in _condemned(run, kind).values_list("pk", flat=True) if pk not in garbage]
    _spare(needed)


def _due(
    run: GarbageRun, kind: str, marks: Marks, rules: GarbageRules
) -> Iterator[CondemnedObject]:
    closed = clock.now() - rules.undo_window
    rows = list(_condemned(run, kind).filter(condemned_at__lte=closed))
    return without(rows, marks.restorable.digests(kind), _digest_of)


def _digest_of(row: CondemnedObject) -> bytes:
    return bytes.fromhex(row.digest)


def _delete_when_quiet(
    run: GarbageRun,
    batch: Sequence[CondemnedObject],
    marks: Marks,
    rules: GarbageRules,
    later: Reachable,
) -> bool:
    """Delete a batch while nobody builds; False when somebody did for half a minute."""
    for _ in range(_TRIES):
        with nothing_built(run.project) as quiet:
            if quiet:
                follow_later(run.project, marks, later)
                _delete(run, _still_garbage(run, batch, later, rules))
                return True
        time.sleep(_TRY_AGAIN_S)
    return False


def _still_garbage(
    run: GarbageRun, batch: Sequence[CondemnedObject], later: Reachable, rules: GarbageRules
) -> list[CondemnedObject]:
    """Return what of the batch may go; whatever came to be needed since the marks is spared."""
    kind = batch[0].kind
    unneeded = list(without(batch, later.digests(kind), _digest_of))
    digests = [row.digest for row in unneeded]
    needed = _needed_rows(run, kind, digests, rules)
    going = [row for row in unneeded if row.digest not in needed and not _is_written_anew(run, row)]
    gone = {row.pk for row in going}
    _spare([row.pk for row in batch if row.pk not in gone])
    return going


def _needed_rows(
    run: GarbageRun, kind: str, digests: Sequence[str], rules: GarbageRules
) -> set[str]:
    if kind in {"packs", "quarantine"}:
        return set(leased_packs(run.project, rules.grace).filter(digest__in=digests))
    versions = Version.objects.filter(dataset__project=run.project)
    if kind == "commits":
        return set(versions.filter(commit__in=digests).values_list("commit", flat=True))
    if kind == "roots":
        return set(versions.filter(root__in=digests).values_list("root", flat=True))
    return set()


def _is_written_anew(run: GarbageRun, row: CondemnedObject) -> bool:
    """Return whether somebody stored the object once more after it was condemned."""
    prefix = storage.project_prefix(run.project)
    written: list[datetime] = [
        info.modified_at
        for key in keys_of(row.kind, row.digest)
        if (info := storage.objects().head_or_none(prefix + key)) is not None
    ]
    # S3 has whole seconds.
    return any(time.replace(microsecond=0) > row.condemned_at for time in written)


def _delete(run: GarbageRun, rows: Sequence[CondemnedObject]) -> None:
    """Delete objects for good. The catalogue forgets a pack first: a push then sends it again."""
    if not rows:
        return
    states.check_transition(CONDEMNED_STATES, "condemned", "deleted")
    kind = rows[0].kind
    with transaction.atomic():
        digests = _settle(run, rows)
        if kind == "packs":
            packs = Pack.objects.filter(project=run.project, digest__in=digests)
            packs.exclude(state="quarantined").delete()
        audit.record(None, "garbage.deleted", run, run.project, kind=kind, digests=digests)
    reach("garbage.forgotten")
    prefix = storage.project_prefix(run.project)
    for digest in digests:
        for key in keys_of(kind, digest):
            storage.objects().delete(prefix + key)
            reach("garbage.object_deleted")
    log.info("garbage_deleted", run_id=str(run.pk), kind=kind, objects=len(digests))


def _settle(run: GarbageRun, rows: Sequence[CondemnedObject]) -> list[str]:
    """Mark as deleted what nobody pardons from now on; returns the digests.

    Before the objects go: a worker that dies in between leaves garbage, which the next run finds.
    """
    condemned = CondemnedObject.objects.filter(pk__in=[row.pk for row in rows], state="condemned")
    going = list(condemned.select_for_update().order_by("digest"))
    chosen = CondemnedObject.objects.filter(pk__in=[row.pk for row in going])
    chosen.update(state="deleted", settled_at=Now(), deleted_in=run)
    return [row.digest for row in going]


def _spare(pks: Sequence[UUID]) -> None:
    states.check_transition(CONDEMNED_STATES, "condemned", "spared")
    CondemnedObject.objects.filter(pk__in=pks, state="condemned").update(
        state="spared", settled_at=Now()
    )
