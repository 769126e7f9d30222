"""The finding of a pod that was tried: a person asks for it, and a worker writes it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils.dateparse import parse_datetime

from atom.accounts import audit
from atom.accounts.models import User
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import become, locked_cluster, refuse_local
from atom.clusters.registration.engines.findings import (
    ASKED_AT,
    POD_REACHES_ATOM,
    Finding,
    Level,
    Stored,
    passed,
    pod_finding,
    replace_pod_finding,
)
from atom.core import clock
from atom_sdk.sentences import Sentence

# A worker that was killed leaves a try under way behind; after this long another may begin.
_FORGOTTEN_AFTER = timedelta(minutes=5)


def begin(cluster: Cluster, actor: User) -> str:
    """Note that a pod is to be tried, and return when it was asked for, which names the try.

    Empty if one is under way. Raises ClusterIsLocal, ClusterNotFound.
    """
    refuse_local(cluster)
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        if _is_under_way(pod_finding(locked.findings)):
            return ""
        asked_at = clock.now().isoformat()
        said = Sentence("clusters.pod_asked", "A pod is to be tried: a worker begins it.")
        _write(locked, _finding("warn", said, asked_at, under_way=True))
        audit.record(actor, "cluster.pod_tried", locked, name=locked.name)
    return asked_at


def is_pending(cluster_id: UUID, asked_at: str) -> bool:
    """Return whether this try is still the one that is wanted, and not over."""
    row = Cluster.objects.present().filter(pk=cluster_id).first()
    found = pod_finding(row.findings) if row else None
    return found is not None and found["evidence"][ASKED_AT] == asked_at and _goes_on(found)


def note(
    cluster_id: UUID, asked_at: str, level: Level, said: Sentence, *, under_way: bool = False
) -> bool:
    """Write how a try goes, or how it ended; False if another was begun, or the cluster is gone."""
    with transaction.atomic():
        try:
            locked = locked_cluster(cluster_id)
        except ClusterNotFound:
            return False
        found = pod_finding(locked.findings)
        if found is None or found["evidence"][ASKED_AT] != asked_at:
            return False
        _write(locked, _finding(level, said, asked_at, under_way=under_way))
        if not under_way and locked.state in ("ready", "registering"):
            become(locked, "ready" if passed(locked.findings) else "registering")
            locked.save(update_fields=["state", "updated_at"])
    return True


def _finding(level: Level, said: Sentence, asked_at: str, *, under_way: bool) -> Stored:
    evidence = {ASKED_AT: asked_at, "under_way": under_way}
    return Finding(POD_REACHES_ATOM, level, said, evidence).as_json()


def _write(cluster: Cluster, finding: Stored) -> None:
    cluster.findings = replace_pod_finding(cluster.findings, finding)
    cluster.save(update_fields=["findings", "updated_at"])


def _goes_on(finding: Stored) -> bool:
    return bool(finding["evidence"].get("under_way"))


def _is_under_way(finding: Stored | None) -> bool:
    if finding is None or not _goes_on(finding):
        return False
    began = parse_datetime(finding["evidence"][ASKED_AT])
    return began is not None and clock.now() - began < _FORGOTTEN_AFTER
