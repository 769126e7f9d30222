"""Scans by a worker: source → sorted runs → entries → root → commit → branch.

PENDING → LISTING → COMMITTING → DONE | FAILED | CANCELLED. The listing's cursor is in the bucket
(see `source_listing`), so a worker that dies is followed by another that goes on; the branch moves
once, at the end, to a whole version.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pyarrow as pa
import structlog
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock, outbox, states, storage
from atom.core.background import enqueue
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.core.storage import PrefixStore, StoreError
from atom.datasets.catalog.stores import VersionStore, version_store
from atom.datasets.commits.actions.commit_root import (
    CommitDetails,
    commit_root,
    retry_on_moved_head,
)
from atom.datasets.errors import DatasetDeleted
from atom.datasets.gc_guard import hold_gc
from atom.datasets.keys import scan_prefix
from atom.datasets.models import Branch, Source, SourceScan, Version
from atom.datasets.sources.actions.sources import notify
from atom.datasets.sources.errors import ScanActive, ScanNotActive, SourceEmpty, SourceError
from atom.datasets.sources.pipelines.opening import open_source
from atom.datasets.sources.source_listing import Listing, Tally
from atom.datasets.states import ACTIVE_SCANS, SCAN_STATES, SOURCE_STATES
from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.source_runs import Globs, merged_with_parent
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import with_layers_of
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests import iter_ranges
from atom_sdk.manifests.build import build_root
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_SCAN_TASK = "atom.datasets.tasks.scan_source"
# A scan resumes a listing up to this age, since an older one describes an old state.
RESUMABLE = timedelta(hours=1)
# A worker gives the scan back after this and takes it up again, so that none is lost for hours.
TURN_S = 1200.0
# People are notified of these ends.
_TOLD = {"done": "scan.done", "failed": "scan.failed"}


class _TurnOver(Exception):
    """Enough for one task."""


class _Cancelled(Exception):
    """Somebody cancelled the scan."""


def request_scan(source: Source, user: User | None) -> SourceScan:
    """Have a source scanned; a scan that failed a short while ago goes on.

    Raises ScanActive or DatasetDeleted.
    """
    if source.dataset.deleted_at is not None:
        raise DatasetDeleted(
            Sentence(
                "datasets.dataset_deleted",
                "The dataset {dataset} is deleted.",
                dataset=source.dataset.name,
            )
        )
    try:
        with transaction.atomic():
            locked = Source.objects.select_for_update().get(pk=source.pk)
            _move_source(locked, "scanning")
            scan = _again(locked) or SourceScan.objects.create(source=locked, created_by=user)
            named = {"source": source.name, "scan": str(scan.pk)}
            audit.record(user, "source.scanned", source, source.project, source.dataset, **named)
            enqueue(_SCAN_TASK, str(scan.pk))
            notify(source)
    except (IntegrityError, states.IllegalTransition) as exc:
        raise ScanActive(
            Sentence(
                "datasets.source_being_scanned", "{source} is being scanned.", source=source.name
            )
        ) from exc
    return scan


def _again(source: Source) -> SourceScan | None:
    last = source.scans.order_by("-created_at").first()
    if last is None or last.state != "failed" or clock.now() - last.created_at > RESUMABLE:
        return None
    states.check_transition(SCAN_STATES, last.state, "pending")
    last.state, last.error_code, last.error_detail, last.finished_at = "pending", "", "", None
    last.save()
    return last


def cancel_scan(scan: SourceScan, user: User) -> SourceScan:
    """Stop a scan before it makes its version. Raises ScanNotActive."""
    with transaction.atomic():
        source = Source.objects.select_for_update().get(pk=scan.source_id)
        rows = SourceScan.objects.filter(pk=scan.pk, state__in=["pending", "listing"])
        if not rows.update(state="cancelled", finished_at=Now()):
            raise ScanNotActive
        _settle_source(source, None)
        audit.record(
            user, "scan.cancelled", scan, source.project, source.dataset, source=source.name
        )
    return SourceScan.objects.get(pk=scan.pk)


def run_scan(scan_id: UUID | str) -> SourceScan:
    """Carry a scan on, to its end or to the end of this turn; quietly if somebody is at it."""
    with only_worker(scan_id) as mine:
        if mine:
            _run(_claim(scan_id))
    return SourceScan.objects.get(pk=scan_id)


def _claim(scan_id: UUID | str) -> SourceScan:
    with transaction.atomic():
        scan = SourceScan.objects.select_for_update(of=("self",)).get(pk=scan_id)
        if scan.state == "pending":
            states.check_transition(SCAN_STATES, scan.state, "listing")
            scan.state = "listing"
            scan.save(update_fields=["state", "updated_at"])
    return SourceScan.objects.select_related("source__dataset__project", "created_by").get(
        pk=scan_id
    )


def _run(scan: SourceScan) -> None:
    if scan.state not in ACTIVE_SCANS:
        return
    try:
        listing = _list(scan)
        version, unchanged = _commit(scan, listing)
    except _Cancelled:
        _forget(scan)
    except _TurnOver:
        enqueue(_SCAN_TASK, str(scan.pk))
    except StoreError as exc:
        # Our own store is away: `recover` sends the scan again.
        log.warning("scan_store_away", scan_id=str(scan.pk), error=str(exc)[:200])
    except AtomError as error:
        _finish(scan, "failed", error)
    except SdkError as exc:
        _finish(
            scan,
            "failed",
            SourceError(
                Sentence(
                    "datasets.version_not_made",
                    "The version could not be made. {reason}",
                    reason=exc,
                )
            ),
        )
    else:
        _finish(scan, "done", None, version=version, unchanged=unchanged)
        _forget(scan)


def _list(scan: SourceScan) -> Listing:
    source = scan.source
    globs = Globs(source.include, source.exclude)
    listing = Listing(open_source(source.spec), str(source.pk), globs, _folder(scan))
    began = time.monotonic()
    before: int | None = None

    def report(tally: Tally) -> None:
        nonlocal before
        before = tally.objects if before is None else before
        passed_s = max(time.monotonic() - began, 1e-3)
        _note(scan, tally, (tally.objects - before) / passed_s)
        if passed_s > TURN_S:
            raise _TurnOver

    listing.run(report)
    report(listing.tally)
    with transaction.atomic():
        rows = SourceScan.objects.filter(pk=scan.pk, state__in=["listing", "committing"])
        if not rows.update(state="committing", updated_at=Now()):
            raise _Cancelled
        notify(source)
    return listing


def _note(scan: SourceScan, tally: Tally, rate: float) -> None:
    rows = SourceScan.objects.filter(pk=scan.pk, state__in=["listing", "committing"])
    there = rows.update(
        objects_count=tally.objects,
        size_bytes=tally.size_bytes,
        skipped=tally.skipped,
        shards_done=tally.shards_done,
        shards_total=tally.shards_total,
        objects_per_s=rate,
        updated_at=Now(),
    )
    if not there:
        raise _Cancelled
    notify(scan.source)


def _commit(scan: SourceScan, listing: Listing) -> tuple[Version, bool]:
    """Return the version, and whether it is the branch's head because nothing changed."""
    # Somebody else may put a version on the branch: ours is made upon that one.
    return retry_on_moved_head(lambda _: _commit_once(scan, listing))


def _commit_once(scan: SourceScan, listing: Listing) -> tuple[Version, bool]:
    with hold_gc(scan.source.project):
        return _commit_on_head(scan, listing)


def _commit_on_head(scan: SourceScan, listing: Listing) -> tuple[Version, bool]:
    source = scan.source
    branch = Branch.objects.select_related("head").get(dataset=source.dataset, name=source.branch)
    store = version_store(source.project)
    parent = store.root(branch.head.readable_root) if branch.head else None
    try:
        root = _build(source, listing, parent, store)
    except EmptyDatasetError as exc:
        raise SourceEmpty from exc
    if branch.head is not None and parent is not None and root.content == parent.content:
        return branch.head, True
    provenance = scan.provenance | _labels_from(source)
    message = f"Scan of {source.name}"
    details = CommitDetails(scan.created_by, message, scan.created_at, provenance)
    parents = [branch.head.commit] if branch.head else []
    target = (source.dataset, source.branch)
    return commit_root(target, root, parents, details, store.store), False


def _labels_from(source: Source) -> dict[str, Any]:
    return {"labels_from": source.labels_from, "unlabelled_prefixes": []}


def _build(source: Source, listing: Listing, parent: Root | None, store: VersionStore) -> Root:
    before: Iterator[pa.Table] = iter_ranges(parent, store.store) if parent else iter(())
    tables = merged_with_parent(before, listing.entries(), str(source.pk))
    root = build_root(tables, store.store, parent)
    if parent is None:
        changes = ChangesFile(ENTRY_SCHEMA.empty_table(), frozenset())
    else:
        root = root.with_layers(*parent.layers)
        made = diff_roots(parent, root, store.store).changes()
        changes = ChangesFile(made.upserts, made.deletes)
    plan = VersionPlan(changes, labels_from_folders=source.labels_from == "folder")
    return with_layers_of(root, parent, plan, store.store)


def _finish(scan: SourceScan, state: str, error: AtomError | None, **fields: Any) -> None:
    if error is not None:
        fields |= {"error_code": error.code, "error_detail": error.detail}
    with transaction.atomic():
        source = Source.objects.select_for_update().get(pk=scan.source_id)
        rows = SourceScan.objects.filter(pk=scan.pk, state__in=ACTIVE_SCANS)
        if rows.update(state=state, finished_at=Now(), **fields):
            _settle_source(source, error)
            _notify_people(scan, state, error)
    log.info("scan_finished", scan_id=str(scan.pk), state=state, code=error and error.code)


def _notify_people(scan: SourceScan, state: str, error: AtomError | None) -> None:
    """Notify the person who asked for the scan.

    If a scan failed by itself, notify the person who registered the source.
    """
    source = scan.source
    people = [scan.created_by_id] if scan.created_by_id or not error else [source.created_by_id]
    kind = _TOLD.get(state)
    # A scan that ran by itself and went well concerns nobody; it settles notices of failures.
    if kind is not None:
        outbox.emit(
            source.project_id,
            kind,
            people=people,
            subject=source.pk,
            source=source.name,
            dataset=source.dataset.name,
            code=error.code if error else "",
        )


def _settle_source(source: Source, error: AtomError | None) -> None:
    """Say what the scan found, and when the next one is due."""
    if source.state != "removed":
        ended = (
            "failed" if error else "ready" if source.scans.filter(state="done").exists() else "new"
        )
        if source.state != ended:
            states.check_transition(SOURCE_STATES, source.state, ended)
        source.state = ended
        source.error_code = error.code if error else ""
        source.error_detail = error.detail if error else ""
        source.next_scan_at = source.next_time()
        source.save()
    notify(source)


def note_drift(source_id: str, detail: str) -> None:
    """Show at the source that a reader found other bytes than a version pinned."""
    for source in Source.objects.filter(pk=source_id, state="ready"):
        states.check_transition(SOURCE_STATES, source.state, "drifted")
        with transaction.atomic():
            drifted = Source.objects.filter(pk=source_id, state="ready").update(
                state="drifted", error_code="source_changed", error_detail=detail[:2000]
            )
            if drifted:
                named = {"source": source.name, "code": "source_changed"}
                people = [source.created_by_id]
                outbox.emit(
                    source.project_id, "source.drifted", people=people, subject=source.pk, **named
                )
        notify(source)


def _move_source(source: Source, state: str) -> None:
    states.check_transition(SOURCE_STATES, source.state, state)
    source.state, source.error_code, source.error_detail = state, "", ""
    source.save()


def scan_due_sources() -> int:
    """Begin the scans whose time has come; return how many."""
    count = 0
    for source in Source.objects.due(clock.now()).order_by("next_scan_at")[:100]:
        try:
            request_scan(source, None)
            count += 1
        except ScanActive:
            continue
    return count


def lost_scans(silent_for: timedelta) -> list[str]:
    """Return the active scans of which nothing was heard: their worker may be gone."""
    silent = SourceScan.objects.filter(state__in=ACTIVE_SCANS, updated_at__lt=Now() - silent_for)
    found = [str(pk) for pk in silent.values_list("pk", flat=True)[:100]]
    silent.filter(pk__in=found).update(updated_at=Now())
    return found


def _folder(scan: SourceScan) -> PrefixStore:
    prefix = storage.project_prefix(scan.source.project) + scan_prefix(scan.pk)
    return PrefixStore(storage.objects(), prefix)


def _forget(scan: SourceScan) -> None:
    """Remove what was listed; what is left over when this fails is small."""
    objects = storage.objects()
    try:
        for found in objects.list_prefix(_folder(scan).prefix):
            objects.delete(found.key)
    except StoreError as exc:
        log.warning("scan_leftovers", scan_id=str(scan.pk), error=str(exc)[:200])
