"""Celery shims of the data plane: an id in, an action called. Every task may run again."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog
from celery import Task, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from celery.schedules import crontab
from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.core.background import enqueue
from atom.core.storage import StoreError
from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions import compaction, repair
from atom.datasets.integrity.actions import catalogue_checks
from atom.datasets.models import CommitRequest, Dataset, GarbageRun, PicturePyramid, Upload
from atom.datasets.packs.actions import verification
from atom.datasets.packs.pack_checks import PacksOnTheWay
from atom.datasets.pyramids.actions import making
from atom.datasets.replicas.actions import copying, upkeep
from atom.datasets.retention.actions import garbage, retention
from atom.datasets.retention.errors import GarbageRunPresent
from atom.datasets.sources.actions.scans import lost_scans, run_scan, scan_due_sources
from atom.datasets.writers.actions import staging_branches

log = structlog.get_logger(__name__)

# Work older than this may have lost its worker or its message; a living worker holds a lock.
STUCK_AFTER = timedelta(seconds=15)
# A run says nothing while it works; sending it again while it lives changes nothing.
GARBAGE_STUCK_AFTER = timedelta(minutes=10)
PACKS_WAIT_S = 1.0
# The store's client does not retry these failures itself, for example an answer that was cut off.
STORE_WAIT_S = 1.0
QUICK_TRIES = 3


@shared_task(name="datasets.verify_upload", time_limit=1800)
def verify_upload(upload_id: str, tries: int = 0) -> None:
    """Verify one upload; come back soon when the store failed for a moment."""
    try:
        verification.verify_upload(upload_id)
    except StoreError:
        if tries >= QUICK_TRIES:
            raise
        _come_back(verify_upload, upload_id, tries)


@shared_task(name="datasets.build_commit", time_limit=1800)
def build_commit(request_id: str, tries: int = 0) -> None:
    """Build one commit; come back soon when its packs are still being verified."""
    try:
        run_commit(request_id)
    except PacksOnTheWay as waiting:
        if _verify_next(waiting):
            enqueue(build_commit, request_id)
        else:
            # Verification retries are bounded, so polling here ends.
            enqueue(build_commit, request_id, countdown_s=PACKS_WAIT_S)
    except StoreError:
        if tries >= QUICK_TRIES:
            raise
        _come_back(build_commit, request_id, tries)


def _verify_next(waiting: PacksOnTheWay) -> bool:
    """Verify a pack that no worker is at; whether there was one.

    The message of its own task may be lost, or wait behind longer tasks, and somebody waits here.
    """
    done = False
    with suppress(StoreError):
        found = (verification.verify_upload(upload) for upload in waiting.uploads)
        done = any(upload.state not in {"uploaded", "verifying"} for upload in found)
    return done


def _come_back(task: Task[Any, Any], pk: str, tries: int) -> None:
    """Try again in a moment: somebody waits, and `recover` looks only after half a minute."""
    log.warning("store_failed_for_a_moment", task=task.name, id=pk, tries=tries)
    enqueue(task, pk, tries + 1, countdown_s=STORE_WAIT_S * 2**tries)


@shared_task(name="datasets.compact_version", soft_time_limit=3540, time_limit=3600)
def compact_version(version_id: str) -> None:
    """Write the manifest of one version without deltas."""
    compaction.compact_version(version_id)


@shared_task(name="datasets.mend_versions", soft_time_limit=3540, time_limit=3600)
def repair_versions(project_id: str, packs: list[str]) -> None:
    """Point all versions at these packs for files that they name in corrupt ones."""
    repair.repair_everywhere(project_id, packs)


@shared_task(name="datasets.scan_source", soft_time_limit=1740, time_limit=1800)
def scan_source(scan_id: str) -> None:
    """Carry one scan on."""
    run_scan(scan_id)


@shared_task(name="datasets.sync_sources", soft_time_limit=55, time_limit=60)
def sync_sources() -> None:
    """Begin scans that are due, and take up those whose worker is gone."""
    scan_due_sources()
    for pk in lost_scans(STUCK_AFTER):
        enqueue(scan_source, pk, expires_s=STUCK_AFTER.total_seconds())


@shared_task(name="datasets.recover", soft_time_limit=55, time_limit=60)
def recover() -> None:
    """Send again what a dead worker or a lost message left behind."""
    stale = Q(updated_at__lt=Now() - STUCK_AFTER)
    uploads = Upload.objects.filter(stale, state__in=["uploaded", "verifying"])
    commits = CommitRequest.objects.filter(stale, state__in=["pending", "building"])
    runs = GarbageRun.objects.filter(state="running", updated_at__lt=Now() - GARBAGE_STUCK_AFTER)
    pyramids = PicturePyramid.objects.filter(stale, state__in=["waiting", "making"])
    work = (
        (verify_upload, uploads),
        (build_commit, commits),
        (collect_garbage, runs),
        (make_pyramid, pyramids),
    )
    for task, rows in work:
        for pk in rows.order_by("created_at").values_list("pk", flat=True)[:500]:
            log.warning("work_recovered", task=task.name, id=str(pk))
            enqueue(task, str(pk), expires_s=STUCK_AFTER.total_seconds())
        # Noted, so that the next beat does not send it once more.
        rows.update(updated_at=Now())


@shared_task(name="datasets.expire_versions", soft_time_limit=1790, time_limit=1800)
def expire_versions() -> None:
    """Expire what fell out of the retention of its dataset."""
    for dataset in Dataset.objects.exclude(retention="all").select_related("project"):
        retention.expire_versions(dataset)


@shared_task(name="datasets.collect_garbage", soft_time_limit=1740, time_limit=1800)
def collect_garbage(run_id: str) -> None:
    """Carry one garbage run to its end."""
    try:
        garbage.collect_garbage(run_id)
    except SoftTimeLimitExceeded:
        garbage.give_up(run_id)


@shared_task(name="datasets.collect_all_garbage", soft_time_limit=290, time_limit=300)
def collect_all_garbage() -> None:
    """Begin the nightly run of every project; it only reports until the settings say more."""
    for project in Project.objects.order_by("pk"):
        with suppress(GarbageRunPresent):
            garbage.start_garbage_run(project, None, is_dry_run=not settings.GARBAGE_APPLY)
    if settings.GARBAGE_APPLY:
        garbage.clear_ownerless()


@shared_task(name="datasets.check_catalogues", soft_time_limit=1740, time_limit=1800)
def check_catalogues() -> None:
    """Compare the catalogue with the bucket; what is left is taken up by the next pass."""
    try:
        catalogue_checks.check_catalogues()
    except SoftTimeLimitExceeded:
        log.info("catalogue_checks_cut_off")


@shared_task(name="datasets.work_on_replicas", time_limit=1800)
def work_on_replicas(store_id: str, project_id: str) -> None:
    """Copy, verify and remove replicas of a project in a second store."""
    copying.work_on_replicas(store_id, project_id)


@shared_task(name="datasets.keep_replicas", soft_time_limit=55, time_limit=60)
def keep_replicas() -> None:
    """End replicas whose time is over, and take up those whose worker is gone."""
    upkeep.keep_replicas()


@shared_task(name="datasets.make_pyramid", time_limit=1800)
def make_pyramid(pyramid_id: str) -> None:
    """Cut a picture into tiles."""
    making.make_pyramid(pyramid_id)


@shared_task(name="datasets.clear_pyramids", soft_time_limit=290, time_limit=300)
def clear_pyramids() -> None:
    """Delete tiles whose picture is gone, or that nobody used for long."""
    making.clear_pyramids()


@shared_task(name="datasets.tidy_writers", soft_time_limit=290, time_limit=300)
def tidy_writers() -> None:
    """Take away the staging branches of writers that have ended."""
    staging_branches.tidy_writers()


@shared_task(name="datasets.expire_writers", soft_time_limit=290, time_limit=300)
def expire_writers() -> None:
    """Abandon writers that nobody has touched for long, and tidy up what was missed."""
    staging_branches.abandon_left_alone()
    staging_branches.tidy_writers()


BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "datasets.recover": {"task": "datasets.recover", "schedule": 10.0},
    "datasets.expire_versions": {
        "task": "datasets.expire_versions",
        "schedule": crontab(hour=3, minute=0),
    },
    "datasets.collect_all_garbage": {
        "task": "datasets.collect_all_garbage",
        "schedule": crontab(hour=3, minute=30),
    },
    "datasets.clear_pyramids": {
        "task": "datasets.clear_pyramids",
        "schedule": crontab(minute=15),
        "options": {"expires": 3000},
    },
    # Several passes a night: what one had no time for is left to the next.
    "datasets.check_catalogues": {
        "task": "datasets.check_catalogues",
        "schedule": crontab(hour="4-8", minute=0),
        "options": {"expires": 3000},
    },
    "datasets.keep_replicas": {
        "task": "datasets.keep_replicas",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "datasets.sync_sources": {"task": "datasets.sync_sources", "schedule": 15.0},
    "datasets.expire_writers": {"task": "datasets.expire_writers", "schedule": 300.0},
}
