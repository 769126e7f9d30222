"""The worker of replicas: it copies packs, reads them back, and removes what has ended.

One worker at a time is at the replicas of a project in a store, so that two versions never copy the
same pack at once, and a removal never meets a copy. All that it did is in rows: a worker that is
killed repeats one pack at most. A pack counts once its bytes were read back from the store and have
its digest; the manifest and the pointer come last.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Final
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog
from django.db import transaction
from django.db.models import Q

from atom.core import clock
from atom.core.crash_points import reach
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.core.storage import StoreError
from atom.datasets.models import Replica
from atom.datasets.replicas.actions.manifests import write_manifest
from atom.datasets.replicas.actions.pack_copies import (
    PackCopies,
    Stopped,
)
from atom.datasets.replicas.actions.removal import UNREADABLE, remove_unneeded
from atom.datasets.replicas.actions.replicas import (
    ask_work,
    notify,
    pack_sizes,
    remove_replica,
    set_state,
)
from atom.datasets.replicas.errors import OriginAway, StoreAway, StoreCorrupts, StoreThrottled
from atom.datasets.replicas.pipelines.second_store import SecondStore
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

# Less than the time limit of the task: what is left is sent again.
BUDGET_S: Final = 1500.0
MOST_FAILURES: Final = 12
_FIRST_WAIT: Final = timedelta(seconds=30)
_LONGEST_WAIT: Final = timedelta(minutes=30)
# A pack that stays wrong through so many copies says that the store corrupts data.
_MOST_COPIES: Final = 3
_PASSING: Final = (StoreAway, StoreThrottled)
_LASTING: Final = (AtomError, SdkError)


def lock_of(store_id: UUID | str, project_id: UUID | str) -> UUID:
    """Return the name of the lock on a project's replicas in a store."""
    return uuid5(NAMESPACE_OID, f"replicas {store_id} {project_id}")


def work_on_replicas(
    store_id: UUID | str, project_id: UUID | str, budget_s: float = BUDGET_S
) -> None:
    """Do what is due for a project's replicas in a store; what is left is sent again."""
    ends_at_s = time.monotonic() + budget_s
    with only_worker(lock_of(store_id, project_id)) as mine:
        if not mine:
            return
        while (replica := _next(UUID(str(store_id)), UUID(str(project_id)))) is not None:
            if time.monotonic() >= ends_at_s:
                ask_work(replica.store_id, replica.version.dataset.project_id)
                return
            _work(replica, ends_at_s)


def _next(store_id: UUID, project_id: UUID) -> Replica | None:
    """Return what is due, removals first, then in the order of their start."""
    now = clock.now()
    rows = Replica.objects.select_related("store", "version__dataset__project").filter(
        store=store_id, version__dataset__project=project_id
    )
    due = Q(retry_at=None) | Q(retry_at__lte=now)
    removing = rows.filter(due, state="removing", removes_at__lte=now).order_by("pk").first()
    if removing is not None:
        return removing
    copying = rows.filter(due, state__in=["waiting", "copying", "verifying"])
    return copying.order_by("created_at", "pk").first()


def _work(replica: Replica, ends_at_s: float) -> None:
    try:
        if replica.state == "removing":
            remove_unneeded(replica)
        else:
            _replicate(replica, ends_at_s)
    except Stopped:
        log.info("replica_stopped", replica=str(replica.pk))
    except UNREADABLE as gone:
        log.info("replica_without_version", replica=str(replica.pk), code=gone.code)
        remove_replica(replica, None)
    except StoreError as away:
        log.warning("replica_origin_away", replica=str(replica.pk), error=str(away))
        _note_failure(replica, OriginAway(), is_passing=True)
    except _PASSING as passing:
        _note_failure(replica, passing, is_passing=True)
    except _LASTING as lasting:
        _note_failure(replica, lasting, is_passing=False)


def _replicate(replica: Replica, ends_at_s: float) -> None:
    version = replica.version
    root = version.readable_root
    sizes = pack_sizes(version)
    _begin(replica, sizes)
    bucket = SecondStore(replica.store.spec, version.dataset.project_id)
    bucket.check_address()
    copies = PackCopies(replica, sizes, bucket, lambda: _go_on(replica, ends_at_s))
    for _ in range(_MOST_COPIES):
        _change(replica, "copying")
        copies.copy()
        reach("replica.copied")
        _change(replica, "verifying")
        if copies.verify():
            break
    else:
        raise StoreCorrupts(
            Sentence(
                "datasets.store_corrupts_packs",
                "{store} gave wrong bytes of a pack after {count} copies of it.",
                store=replica.store.name,
                count=_MOST_COPIES,
            )
        )
    write_manifest(version, root, bucket, sizes)
    reach("replica.written")
    _finish(replica, root)


def _begin(replica: Replica, sizes: dict[str, int]) -> None:
    replica.packs_total, replica.bytes_total = len(sizes), sum(sizes.values())
    replica.started_at = replica.started_at or clock.now()
    replica.save(update_fields=["packs_total", "bytes_total", "started_at", "updated_at"])


def _change(replica: Replica, state: str) -> None:
    """Change the state unless somebody has the replica removed meanwhile. Raises Stopped."""
    with transaction.atomic():
        row = Replica.objects.select_for_update().get(pk=replica.pk)
        if row.state == "removing":
            raise Stopped
        if row.state == state:
            replica.state = state
            return
        if state == "copying" and row.state == "verifying":
            # A pack was wrong: it is copied once more.
            set_state(row, "waiting")
        set_state(row, state)
        row.save(update_fields=["state", "updated_at"])
        replica.state = state
        notify(replica)


def _go_on(replica: Replica, ends_at_s: float) -> bool:
    """Return whether the work goes on: nobody stopped it, and there is time."""
    if time.monotonic() >= ends_at_s:
        return False
    return Replica.objects.filter(pk=replica.pk).exclude(state="removing").exists()


def _finish(replica: Replica, root: str) -> None:
    with transaction.atomic():
        row = Replica.objects.select_for_update().get(pk=replica.pk)
        if row.state == "removing":
            raise Stopped
        set_state(row, "there")
        row.root, row.verified_at = root, clock.now()
        row.failures, row.retry_at, row.error_code, row.error_detail = 0, None, "", ""
        row.save()
        replica.refresh_from_db()
        notify(replica)
    log.info("replica_there", replica=str(replica.pk), bytes=replica.bytes_total)


def _note_failure(replica: Replica, error: AtomError | SdkError, *, is_passing: bool) -> None:
    """Keep why a try failed: one that may pass is tried again, ever later, another ends it."""
    code, detail = error.code, getattr(error, "detail", "") or str(error)
    with transaction.atomic():
        row = Replica.objects.select_for_update().get(pk=replica.pk)
        row.failures += 1
        row.error_code, row.error_detail = code, detail
        is_over = not is_passing or row.failures >= MOST_FAILURES
        wait = min(_FIRST_WAIT * 2 ** min(row.failures - 1, 10), _LONGEST_WAIT)
        # A removal is repeated for ever: its objects cost money.
        row.retry_at = None if is_over and row.state != "removing" else clock.now() + wait
        if row.state != "removing":
            row.state = "failed" if is_over else "waiting"
        row.save()
        notify(replica)
    log.warning("replica_failed", replica=str(replica.pk), code=code, is_over=is_over)
