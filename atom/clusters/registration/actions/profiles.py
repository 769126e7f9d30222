"""Changes of a cluster's profile, and the result of the pod that tried RDMA with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.clusters.engines.image_references import parse_repository
from atom.clusters.models import Cluster, ClusterProfile
from atom.clusters.registration.actions.registering import (
    check_now,
    locked_cluster,
    refuse_local,
)
from atom.clusters.registration.actions.stored_profiles import (
    forget_test,
    profile_from,
    profile_row,
    rdma_need,
)
from atom.clusters.registration.engines.findings import replace_finding
from atom.clusters.registration.engines.profiles import RDMA, RdmaNeed, rdma_finding
from atom.core import clock, crypto
from atom_sdk.sentences import Sentence


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """A whole profile as a person sets it."""

    priority_class: str = ""
    tolerations: Sequence[Mapping[str, str]] = ()
    rdma_resource: str = ""
    rdma_count: int = 1
    nccl: Mapping[str, str] = field(default_factory=dict)
    # None: unlimited.
    memlock_bytes: int | None = None
    image_repository: str = ""
    # A Docker configuration; None: as before, for the same registry; "": none.
    image_credentials: str | None = None


def change_profile(cluster: Cluster, settings: ProfileSettings, actor: User) -> None:
    """Replace a cluster's profile. Runs that are there keep theirs.

    Other RDMA settings are off until a pod has tried them. A new priority class is looked up in
    the cluster at once. Raises ClusterIsLocal, ClusterNotFound.
    """
    refuse_local(cluster)
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        row = profile_row(locked)
        need, class_before = rdma_need(row), row.priority_class
        row.priority_class = settings.priority_class
        row.tolerations = [dict(one) for one in settings.tolerations]
        row.rdma_resource, row.rdma_count = settings.rdma_resource, settings.rdma_count
        row.nccl, row.memlock_bytes = dict(settings.nccl), settings.memlock_bytes
        _set_images(row, settings)
        if rdma_need(row) != need:
            forget_test(row)
        row.save()
        _write_finding(locked, row)
        audit.record(actor, "cluster.profile_changed", locked, name=locked.name)
    if settings.priority_class != class_before:
        check_now(cluster)


def _set_images(row: ClusterProfile, settings: ProfileSettings) -> None:
    """Note the repository of images; credentials never go to a registry that they were not for."""
    before, row.image_repository = row.image_repository, settings.image_repository
    if settings.image_credentials is not None:
        text = settings.image_credentials
        row.encrypted_image_credentials = crypto.encrypt(text) if text else ""
    elif _registry(before) != _registry(row.image_repository):
        row.encrypted_image_credentials = ""


def _registry(repository: str) -> tuple[str, bool] | None:
    parsed = parse_repository(repository)
    return (parsed.registry, parsed.is_plain) if parsed else None


@dataclass(frozen=True, slots=True)
class RdmaResult:
    """The report of a pod that tried RDMA, as it is kept."""

    need: RdmaNeed
    passed: bool
    reason: Sentence
    node: str = ""


def note_rdma(cluster_id: UUID, result: RdmaResult) -> bool:
    """Keep the result of a pod that tried RDMA; False if the profile asks for something else now.

    Raises ClusterNotFound.
    """
    with transaction.atomic():
        locked = locked_cluster(cluster_id)
        row = profile_row(locked)
        if rdma_need(row) != result.need:
            return False
        row.rdma_passed, row.rdma_tested_at = result.passed, clock.now()
        row.rdma_node, row.rdma_reason = result.node, result.reason
        row.save()
        _write_finding(locked, row)
    return True


def _write_finding(cluster: Cluster, row: ClusterProfile) -> None:
    finding = rdma_finding(profile_from(row))
    cluster.findings = replace_finding(cluster.findings, RDMA, finding)
    cluster.save(update_fields=["findings", "updated_at"])
