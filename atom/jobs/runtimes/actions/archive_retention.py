"""Retention of packed environments: an archive that no run used for long is removed.

The next run with its requirements builds the environment again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from atom.core import storage
from atom.jobs import states
from atom.jobs.models import Run, Runtime

log = structlog.get_logger(__name__)

# All archives, and nothing else, are below it.
PREFIX = "environments/"
# An archive is copied there before its row names it, and its verification takes half an hour.
_UNNAMED_FOR = timedelta(days=1)
_AT_ONCE = 200


def remove_unused(now: datetime) -> int:
    """Give up archives that were not used for long, delete those that no row names; repeatable.

    Returns how many environments were given up.
    """
    before = now - timedelta(days=settings.ATOM_ENVIRONMENT_KEPT_DAYS)
    unused = _unused(before).order_by("built_at").values_list("pk", flat=True)
    given_up = sum(_give_up(runtime_id, before) for runtime_id in list(unused[:_AT_ONCE]))
    _delete_unnamed(now - _UNNAMED_FOR)
    return given_up


def _unused(before: datetime) -> QuerySet[Runtime]:
    """Return the packed environments that no open run names, nor one that ended since then."""
    in_use = Q(state__in=states.ACTIVE) | Q(finished_at__gte=before)
    runs = Run.objects.filter(in_use)
    return Runtime.objects.filter(
        ~Exists(runs.filter(runtime=OuterRef("pk"))),
        ~Exists(runs.filter(move_runtime=OuterRef("pk"))),
        state=states.READY,
        built_at__lt=before,
    ).exclude(archive_key="")


def _give_up(runtime_id: UUID, before: datetime) -> bool:
    """Note that an environment is to be built again, unless a run names it meanwhile.

    The lock keeps back runs that are being made with it, and those that a person retries: they see
    afterwards that it is not ready. One that was faster has its own lock, and keeps the archive.
    """
    with transaction.atomic():
        rows = Runtime.objects.filter(pk=runtime_id).select_for_update(skip_locked=True)
        runtime = rows.first()
        if runtime is None or not _unused(before).filter(pk=runtime_id).exists():
            return False
        log.info("environment_given_up", digest=runtime.digest, key=runtime.archive_key)
        runtime.state, runtime.archive_key, runtime.archive_sha256 = states.PENDING, "", ""
        runtime.archive_bytes, runtime.built_at, runtime.claimed_until = 0, None, None
        runtime.save()
    return True


def _delete_unnamed(before: datetime) -> None:
    """Delete archives that no row names: those given up, and those of builds that were cut off."""
    objects = storage.objects()
    for one in objects.list_prefix(PREFIX):
        if one.modified_at < before and not Runtime.objects.filter(archive_key=one.key).exists():
            objects.delete(one.key)
            log.info("archive_removed", key=one.key, size_bytes=one.size_bytes)
