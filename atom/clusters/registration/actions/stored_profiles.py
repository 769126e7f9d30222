"""Profiles of clusters as they are stored."""

from __future__ import annotations

from typing import Any

from atom.clusters.engines.registry_configs import parse_config
from atom.clusters.models import Cluster, ClusterProfile
from atom.clusters.registration.engines.profiles import Profile, RdmaNeed, RdmaTest
from atom.core import crypto
from atom_sdk.sentences import Sentence


def profile_row(cluster: Cluster) -> ClusterProfile:
    """Return the row of a cluster's profile; one that is not stored if it has none."""
    return ClusterProfile.objects.filter(cluster=cluster).first() or ClusterProfile(cluster=cluster)


def read_profile(cluster: Cluster) -> Profile:
    """Return the profile of a cluster."""
    return profile_from(profile_row(cluster))


def profile_from(row: ClusterProfile) -> Profile:
    """Return what a row says."""
    return Profile(
        row.priority_class, tuple(row.tolerations), row.nccl, rdma_need(row), _test_of(row)
    )


def rdma_need(row: ClusterProfile) -> RdmaNeed | None:
    """Return the RDMA devices that the row names."""
    if not row.rdma_resource:
        return None
    return RdmaNeed(row.rdma_resource, row.rdma_count, row.memlock_bytes)


def _test_of(row: ClusterProfile) -> RdmaTest | None:
    if row.rdma_tested_at is None:
        return None
    reason = row.rdma_reason
    if not isinstance(reason, Sentence):
        reason = Sentence("clusters.rdma_said", "{said}", said=reason)
    return RdmaTest(row.rdma_passed, row.rdma_tested_at, row.rdma_node, reason)


def image_repository(cluster: Cluster) -> str:
    """Return the repository that images of environments are pushed to, "" without one."""
    return profile_row(cluster).image_repository


def image_credentials(cluster: Cluster) -> dict[str, Any] | None:
    """Return the Docker configuration that images are pushed with, None without one.

    Raises BadSignature if it was stored with another encryption key.
    """
    stored = profile_row(cluster).encrypted_image_credentials
    return parse_config(crypto.decrypt(stored)) if stored else None


def forget_test(row: ClusterProfile) -> None:
    """Take back what a pod has proved about RDMA; the caller saves the row."""
    row.rdma_passed, row.rdma_tested_at = False, None
    row.rdma_node, row.rdma_reason = "", ""


def forget_rdma_test(cluster: Cluster) -> None:
    """Take back what a pod has proved about RDMA: another cluster is behind the name now."""
    row = profile_row(cluster)
    if row.rdma_tested_at is not None:
        forget_test(row)
        row.save()
