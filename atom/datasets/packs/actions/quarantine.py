"""A stored pack that is found corrupt: named, moved away, never read again."""

from __future__ import annotations

import structlog
from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project
from atom.core import states, storage
from atom.datasets import keys
from atom.datasets.models import Pack
from atom.datasets.states import PACK_STATES

log = structlog.get_logger(__name__)


def quarantine_pack(
    project: Project, digest: str, reason: str, *, is_readable: bool = True
) -> None:
    """Mark the pack QUARANTINED and move its bytes to where nothing reads. Repeatable.

    Bytes that the store cannot read cannot be moved either. They stay until a push of the same
    files replaces them.
    """
    with transaction.atomic():
        pack = Pack.objects.select_for_update().filter(project=project, digest=digest).first()
        if pack is None or pack.state == "quarantined":
            return
        states.check_transition(PACK_STATES, pack.state, "quarantined")
        pack.state, pack.reason = "quarantined", reason
        pack.save(update_fields=["state", "reason", "updated_at"])
        audit.record(None, "pack.quarantined", pack, project, digest=digest, reason=reason)
    if is_readable:
        _move_away(project, digest)
    log.warning("pack_quarantined", project=project.slug, digest=digest, reason=reason)


def _move_away(project: Project, digest: str) -> None:
    prefix = storage.project_prefix(project)
    objects = storage.objects()
    source = prefix + keys.pack_key(digest)
    if objects.exists(source):
        objects.copy(source, prefix + keys.quarantine_key(digest))
        objects.delete(source)
