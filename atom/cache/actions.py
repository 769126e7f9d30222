"""Warming and evicting versions on nodes.

COLD → WARMING → WARM | FAILED. WARM means verified bytes on the node, measured, never promised.
Who warms a version renews a lease; when the worker died, `recover` has another one go on.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.cache.coverage import measure
from atom.cache.delivery import link_present, open_job_folder, unmount_from_job
from atom.cache.engines.inherited import keep_fetched
from atom.cache.engines.links import link_view, packs_of_view
from atom.cache.engines.local import (
    REPORT_EVERY_S,
    DamagedPackError,
    FillPlan,
    FillProgress,
    fill,
    write_view,
)
from atom.cache.engines.selectors import view_selector
from atom.cache.errors import SelectionEmpty, VersionPinned, ViewNotReady
from atom.cache.models import CacheRecord
from atom.cache.origin import PackOrigin
from atom.cache.placement import ViewPath, cache_root, job_view, job_views, pack_store, view_path
from atom.cache.registered import (
    fill_registered,
    forget_registered,
    has_registered,
    registered_packs,
    registered_store,
)
from atom.cache.states import CACHE_STATES
from atom.clusters.models import Node
from atom.core import clock, live, states
from atom.core.background import enqueue
from atom.core.errors import AtomError
from atom.core.leases import kept
from atom.core.storage import StoreError
from atom.datasets.actions import quarantine_pack
from atom.datasets.models import Version
from atom.datasets.reads import open_root, packs_of, require_readable
from atom.datasets.stores import version_store
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.views import Placed, at_their_source

log = structlog.get_logger(__name__)

_WARM_TASK = "atom.cache.tasks.warm"
LEASE = timedelta(seconds=20)
_RENEW_EVERY_S = 5.0
_RECOVERED_AT_ONCE = 100
_ERROR_CHARS = 1000
# In the name of a view that reads objects at their source.
_AT_SOURCE = "at source"

Selector = Mapping[str, Any] | None


def request_warm(version: Version, node: Node, selector: Selector = None) -> CacheRecord:
    """Have the version brought to the node; one that is on its way or there is left alone."""
    view_selector(selector)
    with transaction.atomic():
        CacheRecord.objects.get_or_create(node=node, version=version)
        record = CacheRecord.objects.select_for_update().get(node=node, version=version)
        record.used_at = clock.now()
        if record.state != "warming" and not _is_ready(record, version, selector):
            _move(record, "warming")
            record.error = ""
            record.selector, record.claimed_until = dict(selector or {}), None
            enqueue(_WARM_TASK, str(record.pk))
        record.save()
    return record


def _is_ready(record: CacheRecord, version: Version, selector: Selector) -> bool:
    if record.state != "warm":
        return False
    view = view_path(version, view_selector(selector), registered_packs(version) or ())
    return view.index_path.exists() and measure(version).is_complete


def run_warm(record_id: UUID | str) -> CacheRecord:
    """Bring the missing packs and write the view index, unless somebody alive is at it."""
    record = CacheRecord.objects.select_related("version__dataset__project", "node").get(
        pk=record_id
    )
    if _claim(record):
        with kept(lambda: _renew(record), _RENEW_EVERY_S):
            _warm(record)
    return record


def _claim(record: CacheRecord) -> bool:
    free = Q(claimed_until=None) | Q(claimed_until__lt=Now())
    mine = CacheRecord.objects.filter(free, pk=record.pk, state="warming")
    return bool(mine.update(claimed_until=Now() + LEASE))


def _renew(record: CacheRecord) -> None:
    rows = CacheRecord.objects.filter(pk=record.pk, state="warming")
    rows.update(claimed_until=Now() + LEASE)


def _warm(record: CacheRecord) -> None:
    try:
        _fill(record)
        _write_view(record.version, record.selector)
    except DamagedPackError as damaged:
        _blame_pack(record, damaged)
    except SelectionEmpty as empty:
        # The bytes are here; another reader may select others.
        _finish(record, "warm", str(empty))
    except StoreError as exc:
        _go_on_later(record, exc)
    except (AtomError, SdkError, OSError) as exc:
        _finish(record, "failed", str(exc))
    else:
        _finish(record, "warm", "")


def recover() -> int:
    """Have warm-ups done whose worker died or whose task was lost; return how many."""
    silent = Q(claimed_until__lt=Now()) | Q(claimed_until=None, updated_at__lt=Now() - LEASE)
    stuck = CacheRecord.objects.filter(silent, state="warming")
    count = 0
    for pk in list(stuck.values_list("pk", flat=True)[:_RECOVERED_AT_ONCE]):
        if stuck.filter(pk=pk).update(claimed_until=None, updated_at=Now()):
            log.warning("warm_recovered", record_id=str(pk))
            enqueue(_WARM_TASK, str(pk))
            count += 1
    return count


def _fill(record: CacheRecord) -> None:
    version = record.version
    digests = packs_of(version)
    require_readable(version.dataset.project, digests)
    _note_coverage(record)
    before = record.bytes_present, record.packs_present
    plan = FillPlan([bytes.fromhex(digest) for digest in digests], PackOrigin(version).stream)

    def report(progress: FillProgress) -> None:
        record.packs_present = before[1] + progress.packs_done
        record.bytes_present = min(before[0] + progress.bytes_done, record.bytes_total)
        record.rate_bytes_s = progress.rate_bytes_s
        # Bytes come: what an earlier try met is over.
        record.error = "" if progress.bytes_done else record.error
        _save_progress(record)

    stored = fill(pack_store(version.dataset.project), plan, report)
    _fill_registered(record, stored, report)


def _fill_registered(
    record: CacheRecord, stored: FillProgress, report: Callable[[FillProgress], None]
) -> None:
    """Bring what stays at its source, after what is in the store."""
    began = time.monotonic()
    done = {"packs": stored.packs_done, "bytes": stored.bytes_done}
    told = began

    def count(packs: int, size_bytes: int) -> None:
        nonlocal told
        done["packs"] += packs
        done["bytes"] += size_bytes
        now = time.monotonic()
        if now - told >= REPORT_EVERY_S:
            told = now
            rate = (done["bytes"] - stored.bytes_done) / max(now - began, 1e-3)
            report(FillProgress(done["packs"], done["bytes"], int(rate)))

    if registered_packs(record.version) is None or not measure(record.version).is_complete:
        fill_registered(record.version, count)


def _write_view(version: Version, selector: Selector) -> ViewPath:
    own = registered_packs(version) or {}
    placed = registered_store(version).place if own else None
    return _view_of(version, selector, own, placed)


def _streamed_view(version: Version, selector: Selector) -> ViewPath:
    """Say of objects at a source that they are there, also of those that this node has by chance.

    Such packs may be evicted, and nobody else could give them.
    """
    placed = at_their_source if has_registered(version) else None
    return _view_of(version, selector, [_AT_SOURCE] if placed else [], placed)


def _view_of(
    version: Version, selector: Selector, own: Iterable[str], placed: Placed | None
) -> ViewPath:
    wanted = view_selector(selector)
    view = view_path(version, wanted, own)
    manifests = version_store(version.dataset.project).store
    try:
        write_view(open_root(version), manifests, view.index_path, wanted, placed)
    except EmptyDatasetError as empty:
        splits = ", ".join(sorted(wanted.splits or ()))
        part = f"the split {splits} of " if splits else ""
        name = f"{version.dataset.name}@{version.ref}"
        which = f" that matches {wanted.where}" if wanted.where else ""
        raise SelectionEmpty(f"There is no sample in {part}{name}{which}.") from empty
    return view


def _blame_pack(record: CacheRecord, damaged: DamagedPackError) -> None:
    """Name the pack and take it out of service everywhere."""
    project = record.version.dataset.project
    quarantine_pack(project, damaged.digest, str(damaged), is_readable=damaged.is_readable)
    pack_store(project).remove(bytes.fromhex(damaged.digest))
    _finish(record, "failed", f"The pack {damaged.digest} is damaged and quarantined. {damaged}")


def _go_on_later(record: CacheRecord, away: StoreError) -> None:
    """Say what happened and let `recover` start again: no pack is to blame for a store away."""
    log.warning("warm_store_away", record_id=str(record.pk), error=str(away))
    said = f"The object store does not give the data; this is tried again. {_first_line(away)}"
    rows = CacheRecord.objects.filter(pk=record.pk, state="warming")
    rows.update(error=said, claimed_until=Now(), updated_at=Now())
    _tell(record)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:_ERROR_CHARS]


def _note_coverage(record: CacheRecord) -> None:
    found = measure(record.version)
    record.bitmap = found.bitmap
    record.packs_total, record.packs_present = found.packs_total, found.packs_present
    record.bytes_total, record.bytes_present = found.bytes_total, found.bytes_present


def _save_progress(record: CacheRecord) -> None:
    rows = CacheRecord.objects.filter(pk=record.pk, state="warming")
    rows.update(
        packs_present=record.packs_present,
        bytes_present=record.bytes_present,
        packs_total=record.packs_total,
        bytes_total=record.bytes_total,
        rate_bytes_s=record.rate_bytes_s,
        error=record.error,
        updated_at=Now(),
    )
    _tell(record)


def _finish(record: CacheRecord, state: str, error: str) -> None:
    _note_coverage(record)
    with transaction.atomic():
        locked = CacheRecord.objects.select_for_update().get(pk=record.pk)
        if locked.state != "warming":
            return
        _move(record, state)
        record.error, record.claimed_until = error, None
        record.used_at = clock.now()
        record.save()
        _tell(record)
    log.info("cache_warmed", version_id=str(record.version_id), state=state, error=error)


def _tell(record: CacheRecord) -> None:
    event = {"type": "cache", "id": str(record.pk), "version": str(record.version_id)}
    live.publish(f"project.{record.version.dataset.project_id}", event)


def _move(record: CacheRecord, state: str) -> None:
    states.check_move(CACHE_STATES, record.state, state)
    record.state = state


def view_for(version: Version, node: Node, selector: Selector = None) -> ViewPath:
    """Return what a reader on the node opens.

    Raises ViewNotReady, SelectionEmpty, or Invalid for the selector.

    A selector that was not asked for when warming costs its index, and no packs.
    """
    record = CacheRecord.objects.filter(node=node, version=version, state="warm").first()
    if record is None or not measure(version).is_complete:
        raise ViewNotReady(f"{version.dataset.name}@{version.ref} is not warm on {node.name}.")
    CacheRecord.objects.filter(pk=record.pk).update(used_at=Now())
    return _write_view(version, selector)


def show_to_job(view: ViewPath, attempt_id: UUID, alias: str, gid: int | None) -> ViewPath:
    """Link one view with its packs for an attempt, whose processes have the group `gid`.

    The rest of the cache is closed to them: other projects' packs, and other views of the same
    version, such as one with the labels of the test split. Without `gid` jobs run as we do, and
    nothing is closed. Safe to repeat. Raises OSError.
    """
    shown = job_view(attempt_id, alias)
    link_view(view.index_path, view.pack_dir, shown.index_path.parent)
    open_job_folder(attempt_id, gid)
    return shown


def stream_to_job(
    version: Version,
    attempt_id: UUID,
    alias: str,
    selector: Selector,
    gid: int | None,
    earlier: Iterable[UUID] = (),
) -> ViewPath:
    """Give an attempt the view index and the packs that are here; it fetches the others itself.

    It gets what `earlier` attempts of its run fetched, of which no process may live. Nothing is
    brought and nothing is waited for. Raises SelectionEmpty, OSError.
    """
    shown = link_present(_streamed_view(version, selector), attempt_id, alias, gid, earlier)
    open_job_folder(attempt_id, gid)
    return shown


def packs_to_stream(version: Version, selector: Selector) -> set[str]:
    """Return the packs and pins (hex) of what a selector leaves: what a streaming job may fetch.

    Raises SelectionEmpty, or Invalid for the selector.
    """
    return set(packs_of_view(_streamed_view(version, selector).index_path))


def attempts_shown_to() -> Iterator[UUID]:
    """Yield the attempts that have links to packs."""
    for folder in (cache_root() / "attempts").glob("*-*-*-*-*"):
        with suppress(ValueError):
            yield UUID(folder.name)


def hide_from_job(attempt_id: UUID) -> None:
    """Remove an ended attempt's folders and links, so that an eviction frees its packs.

    Safe to repeat: a folder that is still in use stays for the next time.
    """
    if unmount_from_job(attempt_id):
        shutil.rmtree(job_views(attempt_id), ignore_errors=True)


def set_streams_aside(attempt_id: UUID, aliases: set[str]) -> None:
    """Keep of an ended attempt what it fetched of these datasets, for the next one of its run.

    Safe to repeat: without anything fetched, the whole folder goes.
    """
    views = job_views(attempt_id)
    if not unmount_from_job(attempt_id) or not views.is_dir():
        return
    # The next job of the slot has the user of this one, and may be of another run.
    views.chmod(0o700)
    if not keep_fetched(views, aliases):
        shutil.rmtree(views, ignore_errors=True)


def evict(version: Version, node: Node) -> CacheRecord | None:
    """Remove the version's packs that no other version on the node shares.

    Raises VersionPinned while a run or a label task needs it, or while it is being warmed.
    """
    with transaction.atomic():
        record = (
            CacheRecord.objects.select_for_update(of=("self",))
            .select_related("version__dataset__project")
            .filter(node=node, version=version)
            .first()
        )
        if record is None:
            return None
        if record.state == "warming" or version.pins.exists():
            raise VersionPinned(f"{version.dataset.name}@{version.ref} is in use.")
        _remove_packs(record)
        if record.state != "cold":
            _move(record, "cold")
        _note_coverage(record)
        record.rate_bytes_s, record.error = 0, ""
        record.save()
    return record


def _remove_packs(record: CacheRecord) -> None:
    project = record.version.dataset.project
    others = CacheRecord.objects.filter(
        node=record.node, version__dataset__project=project, state__in=["warm", "warming"]
    ).exclude(pk=record.pk)
    kept: set[str] = set()
    for other in others.select_related("version__dataset__project"):
        kept.update(packs_of(other.version))
        kept.update(registered_packs(other.version) or ())
    store = pack_store(project)
    for digest in packs_of(record.version):
        if digest not in kept:
            store.remove(bytes.fromhex(digest))
    for digest in registered_packs(record.version) or ():
        if digest not in kept:
            store.remove(bytes.fromhex(digest))
            forget_registered(record.version, digest)


def evictable(node: Node) -> Iterator[CacheRecord]:
    """Yield the records that may go, the least recently used first."""
    rows = CacheRecord.objects.filter(node=node, state__in=["warm", "failed"], version__pins=None)
    yield from rows.select_related("version__dataset__project", "node").order_by("used_at")
