"""Warm-ups of versions on nodes.

COLD → WARMING → WARM | FAILED. WARM means that all bytes are on the node, measured and verified.
A worker renews a lease while it warms. If it dies, `recover` hands the warm-up to another worker.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.cache.backends import backend_of
from atom.cache.backends.base import CacheBackend, Selector
from atom.cache.engines.fill import CorruptPackError, FillProgress
from atom.cache.engines.selectors import view_selector
from atom.cache.errors import SelectionEmpty
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.records import note_coverage, transition
from atom.clusters.models import Node
from atom.core import clock, live
from atom.core.background import enqueue
from atom.core.errors import AtomError
from atom.core.leases import kept
from atom.core.storage import StoreError
from atom.datasets.catalog.reads import packs_of, require_readable
from atom.datasets.models import Version
from atom.datasets.packs.actions.quarantine import quarantine_pack
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

_WARM_TASK = "atom.cache.tasks.warm"
LEASE = timedelta(seconds=20)
_RENEW_EVERY_S = 5.0
_RECOVERED_AT_ONCE = 100
_ERROR_CHARS = 1000


def request_warm(version: Version, node: Node, selector: Selector = None) -> CacheRecord:
    """Start the warm-up of a version on a node, unless it is under way or done.

    Raises NodeOutOfReach, or Invalid for the selector.
    """
    view_selector(selector)
    backend = backend_of(node)
    with transaction.atomic():
        CacheRecord.objects.get_or_create(node=node, version=version)
        record = CacheRecord.objects.select_for_update().get(node=node, version=version)
        record.used_at = clock.now()
        if record.state != "warming" and not _is_ready(record, backend, selector):
            transition(record, "warming")
            record.error = ""
            record.selector, record.claimed_until = dict(selector or {}), None
            enqueue(_WARM_TASK, str(record.pk))
        record.save()
    return record


def _is_ready(record: CacheRecord, backend: CacheBackend, selector: Selector) -> bool:
    if record.state != "warm" or not backend.has_view(record.version, selector):
        return False
    return backend.measure(record.version).is_complete


def run_warm(record_id: UUID | str) -> CacheRecord:
    """Bring the missing packs and write the view index, unless another worker holds the lease."""
    record = CacheRecord.objects.select_related("version__dataset__project", "node__cluster").get(
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
        backend = backend_of(record.node)
        _fill(record, backend)
        backend.write_view(record.version, record.selector)
    except CorruptPackError as damaged:
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
    """Restart warm-ups whose worker died or whose task was lost; return how many."""
    silent = Q(claimed_until__lt=Now()) | Q(claimed_until=None, updated_at__lt=Now() - LEASE)
    # Agents warm the nodes that have one.
    stuck = CacheRecord.objects.filter(silent, state="warming", node__agent=None)
    count = 0
    for pk in list(stuck.values_list("pk", flat=True)[:_RECOVERED_AT_ONCE]):
        if stuck.filter(pk=pk).update(claimed_until=None, updated_at=Now()):
            log.warning("warm_recovered", record_id=str(pk))
            enqueue(_WARM_TASK, str(pk))
            count += 1
    return count


def _fill(record: CacheRecord, backend: CacheBackend) -> None:
    version = record.version
    require_readable(version.dataset.project, packs_of(version))
    note_coverage(record)
    before = record.bytes_present, record.packs_present

    def report(progress: FillProgress) -> None:
        record.packs_present = before[1] + progress.packs_done
        record.bytes_present = min(before[0] + progress.bytes_done, record.bytes_total)
        record.rate_bytes_s = progress.rate_bytes_s
        # Bytes arrive, so the error of an earlier attempt is over.
        record.error = "" if progress.bytes_done else record.error
        _save_progress(record)

    backend.fill(version, report)


def _blame_pack(record: CacheRecord, damaged: CorruptPackError) -> None:
    """Quarantine the corrupt pack, remove it from the node and fail the warm-up."""
    project = record.version.dataset.project
    quarantine_pack(project, damaged.digest, str(damaged), is_readable=damaged.is_readable)
    backend_of(record.node).remove_pack(project, damaged.digest)
    _finish(record, "failed", f"The pack {damaged.digest} is damaged and quarantined. {damaged}")


def _go_on_later(record: CacheRecord, away: StoreError) -> None:
    """Note the error and let `recover` start again: the store is away, and no pack is corrupt."""
    log.warning("warm_store_away", record_id=str(record.pk), error=str(away))
    said = f"The object store does not give the data; this is tried again. {_first_line(away)}"
    rows = CacheRecord.objects.filter(pk=record.pk, state="warming")
    rows.update(error=said, claimed_until=Now(), updated_at=Now())
    _notify(record)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:_ERROR_CHARS]


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
    _notify(record)


def _finish(record: CacheRecord, state: str, error: str) -> None:
    note_coverage(record)
    with transaction.atomic():
        locked = CacheRecord.objects.select_for_update().get(pk=record.pk)
        if locked.state != "warming":
            return
        transition(record, state)
        record.error, record.claimed_until = error, None
        record.used_at = clock.now()
        record.save()
        _notify(record)
    log.info("cache_warmed", version_id=str(record.version_id), state=state, error=error)


def _notify(record: CacheRecord) -> None:
    event = {"type": "cache", "id": str(record.pk), "version": str(record.version_id)}
    live.publish(f"project.{record.version.dataset.project_id}", event)
