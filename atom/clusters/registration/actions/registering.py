"""Registration, check, drain and removal of clusters.

A cluster is asked outside of any transaction: it may take half a minute to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.clusters.actions import AUTO, LOCAL
from atom.clusters.errors import (
    ClusterInUse,
    ClusterIsLocal,
    ClusterNameTaken,
    ClusterNotFound,
    ClusterSecretLost,
)
from atom.clusters.kubernetes import KIND
from atom.clusters.kubernetes.connection import ClusterConnection, Limits
from atom.clusters.kubernetes.errors import (
    ClusterAddressRefused,
    ClusterFailure,
    InClusterAccountMissing,
    KubeconfigRefused,
)
from atom.clusters.kubernetes.identity import check_identity, read_identity
from atom.clusters.kubernetes.in_cluster import in_cluster_access
from atom.clusters.kubernetes.kubeconfig import ClusterAccess, parse_kubeconfig
from atom.clusters.models import (
    AcceleratorPrice,
    Cluster,
    ClusterProfile,
    Reservation,
    StoreRoute,
)
from atom.clusters.registration.actions.nodes import sync_nodes
from atom.clusters.registration.actions.stored_profiles import forget_rdma_test, read_profile
from atom.clusters.registration.checks.checking import CheckResult, CheckScope, check_cluster
from atom.clusters.registration.engines.findings import (
    keep_pod_finding,
    passed,
    replace_finding,
)
from atom.clusters.registration.engines.profiles import RDMA, rdma_finding
from atom.clusters.states import CLUSTER_STATES
from atom.core import clock, crypto
from atom.core.errors import AtomError
from atom.core.states import check_transition

log = structlog.get_logger(__name__)

# Addresses of the API stand beside clusters' names; the machine itself has its own.
RESERVED_NAMES = frozenset({LOCAL, AUTO, "check"})
DEFAULT_NAMESPACE = "atom"
# A stored cluster that has one of these is unreachable; the next is checked all the same.
_PROBLEMS = (
    ClusterFailure,
    ClusterAddressRefused,
    ClusterSecretLost,
    InClusterAccountMissing,
    KubeconfigRefused,
)
CHECK_EVERY = timedelta(minutes=1)
# One cluster must hold up neither a person for long nor the check of the others.
_LIMITS = Limits(total_s=60.0)
_TICK_LIMITS = Limits(request_s=10.0, total_s=30.0)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A pasted kubeconfig, or the account of the server's own pod."""

    kubeconfig: str = field(default="", repr=False)
    context: str = ""
    in_cluster: bool = False

    def access(self) -> ClusterAccess:
        """Return the access that they give. Raises KubeconfigRefused, InClusterAccountMissing."""
        if self.in_cluster:
            return in_cluster_access()
        return parse_kubeconfig(self.kubeconfig, self.context)


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Settings of a cluster that a person chooses; None leaves a setting as it is."""

    namespace: str | None = None
    # Empty and not None: every project may use it.
    projects: Sequence[Project] | None = None
    all_projects: bool | None = None
    prices: Sequence[dict[str, Any]] | None = None
    routes: Sequence[dict[str, Any]] | None = None


def dry_run(
    credentials: Credentials, namespace: str, cluster: Cluster | None = None
) -> tuple[ClusterAccess, CheckResult]:
    """Check a cluster and keep nothing. Raises KubeconfigRefused, ClusterFailure and their kin.

    `cluster`: that which is registered, whose settings are asked about too.
    """
    access = credentials.access()
    namespace = namespace or access.namespace or DEFAULT_NAMESPACE
    scope = CheckScope(namespace) if cluster is None else _scope_of(cluster, namespace)
    return access, _ask(access, scope)


def register(name: str, credentials: Credentials, options: ClusterOptions, actor: User) -> Cluster:
    """Add a cluster that can be reached; it is `registering` until no check fails.

    Raises ClusterNameTaken, and what `dry_run` raises.
    """
    if name in RESERVED_NAMES or Cluster.objects.present().filter(name=name).exists():
        raise ClusterNameTaken
    access, result = dry_run(credentials, options.namespace or "")
    cluster = Cluster(name=name, kind=KIND, state="registering")
    cluster.namespace = options.namespace or access.namespace or DEFAULT_NAMESPACE
    _take_access(cluster, access)
    try:
        with transaction.atomic():
            cluster.save()
            _apply_options(cluster, options)
            _keep_result(cluster, result)
            audit.record(actor, "cluster.registered", cluster, name=name, server=cluster.server)
    except IntegrityError as taken:
        raise ClusterNameTaken from taken
    log.info("cluster_registered", cluster=name, state=cluster.state)
    return cluster


def change(
    cluster: Cluster, credentials: Credentials | None, options: ClusterOptions, actor: User
) -> Cluster:
    """Change settings, or give another kubeconfig, which is checked first.

    It may lead to another cluster only while no run is open in this one. Raises ClusterIsLocal,
    ClusterIsAnother, and what `dry_run` raises.
    """
    refuse_local(cluster)
    namespace = options.namespace or cluster.namespace
    checked = dry_run(credentials, namespace, cluster) if credentials else None
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        if options.namespace:
            locked.namespace = options.namespace
        if checked:
            _take_access(locked, checked[0])
            _take_identity(locked, checked[1].identity)
            locked.findings = []
        locked.save()
        _apply_options(locked, options)
        if checked:
            _keep_result(locked, checked[1])
        audit.record(
            actor, "cluster.changed", locked, name=locked.name, kubeconfig=checked is not None
        )
    return locked


def check_now(cluster: Cluster, limits: Limits | None = None) -> Cluster:
    """Ask a cluster again, and keep what comes. One that does not answer is `unreachable`.

    Raises ClusterIsLocal.
    """
    refuse_local(cluster)
    try:
        scope = _scope_of(cluster, cluster.namespace)
        result = _ask(_access_of(cluster), scope, limits)
        check_identity(cluster.identity, result.identity)
    except _PROBLEMS as problem:
        with transaction.atomic():
            locked = locked_cluster(cluster.pk)
            _keep_problem(locked, problem)
        return locked
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        _keep_result(locked, result)
    return locked


def drain(cluster: Cluster, actor: User) -> Cluster:
    """Keep new runs off a cluster; runs that are there go on. Raises ClusterIsLocal."""
    refuse_local(cluster)
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        if locked.state != "draining":
            check_transition(CLUSTER_STATES, locked.state, "draining")
            locked.state = "draining"
            locked.save(update_fields=["state", "updated_at"])
            audit.record(actor, "cluster.drained", locked, name=locked.name)
    return locked


def resume(cluster: Cluster, actor: User) -> Cluster:
    """Let a drained cluster take runs again, in the state that a check gives it."""
    refuse_local(cluster)
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        if locked.state == "draining":
            # The check that follows decides; until then nothing is placed there.
            locked.state = "registering"
            locked.save(update_fields=["state", "updated_at"])
            audit.record(actor, "cluster.resumed", locked, name=locked.name)
    return check_now(locked)


def remove(cluster: Cluster, actor: User) -> None:
    """Forget a cluster's credentials and nodes; its name is free. Raises ClusterInUse."""
    refuse_local(cluster)
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        held = Reservation.objects.filter(node__cluster=locked)
        if held.exists() or locked.placements.filter(removed_at=None).exists():
            raise ClusterInUse
        check_transition(CLUSTER_STATES, locked.state, "removed")
        locked.state, locked.encrypted_kubeconfig = "removed", ""
        locked.facts, locked.findings = {}, []
        locked.problem_code, locked.problem_detail = "", ""
        locked.save()
        locked.nodes.all().delete()
        ClusterProfile.objects.filter(cluster=locked).update(encrypted_image_credentials="")
        audit.record(actor, "cluster.removed", locked, name=locked.name)


def tick() -> int:
    """Check the clusters whose last check is a minute old; return how many."""
    due = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CHECK_EVERY)
    rows = Cluster.objects.present().filter(due).exclude(server="").order_by("checked_at")
    clusters = list(rows)
    for cluster in clusters:
        try:
            check_now(cluster, _TICK_LIMITS)
        except ClusterNotFound:
            continue
    return len(clusters)


def open_cluster(cluster: Cluster) -> ClusterConnection:
    """Connect to a registered cluster; close the connection after use.

    Raises ClusterAddressRefused, ClusterFailure, ClusterSecretLost; ClusterIsAnother if another
    cluster answers there, for nothing that it says is about our runs.
    """
    opened = ClusterConnection(_access_of(cluster), settings.ATOM_CLUSTER_NETWORKS)
    try:
        if cluster.identity:
            check_identity(cluster.identity, read_identity(opened))
    except BaseException:
        opened.close()
        raise
    return opened


def _ask(access: ClusterAccess, scope: CheckScope, limits: Limits | None = None) -> CheckResult:
    with ClusterConnection(access, settings.ATOM_CLUSTER_NETWORKS, limits or _LIMITS) as connection:
        return check_cluster(connection, scope)


def _scope_of(cluster: Cluster, namespace: str) -> CheckScope:
    queues: dict[str, set[str]] = {}
    for row in cluster.run_queues.exclude(cluster_queue=""):
        queues.setdefault(row.cluster_queue, set()).update(row.uncounted)
    return CheckScope(namespace, read_profile(cluster).priority_class, queues)


def _access_of(cluster: Cluster) -> ClusterAccess:
    try:
        access = ClusterAccess.from_text(crypto.decrypt(cluster.encrypted_kubeconfig))
    except crypto.BadSignature as error:
        raise ClusterSecretLost from error
    return in_cluster_access() if access.is_in_cluster else access


def _take_access(cluster: Cluster, access: ClusterAccess) -> None:
    cluster.server = access.server
    # The pod's token is replaced every hour and read anew; nothing of it is stored.
    kept = ClusterAccess(access.server, is_in_cluster=True) if access.is_in_cluster else access
    cluster.encrypted_kubeconfig = crypto.encrypt(kept.as_text())


def _take_identity(cluster: Cluster, identity: str) -> None:
    """Take the cluster that a new kubeconfig leads to. Raises ClusterIsAnother while runs are open.

    The Jobs of runs that ended are where the old cluster is: nothing of them is in the new one.
    """
    if cluster.identity in ("", identity):
        return
    if cluster.placements.filter(ended_at=None).exists():
        check_identity(cluster.identity, identity)
    cluster.placements.filter(removed_at=None).update(removed_at=clock.now())
    forget_rdma_test(cluster)
    cluster.identity = identity


def _apply_options(cluster: Cluster, options: ClusterOptions) -> None:
    if options.all_projects is not None:
        cluster.all_projects = options.all_projects
        cluster.save(update_fields=["all_projects", "updated_at"])
        cluster.projects.set(options.projects or [])
    if options.prices is not None:
        cluster.prices.all().delete()
        AcceleratorPrice.objects.bulk_create(
            AcceleratorPrice(cluster=cluster, **price) for price in options.prices
        )
    if options.routes is not None:
        cluster.routes.all().delete()
        StoreRoute.objects.bulk_create(
            StoreRoute(cluster=cluster, **route) for route in options.routes
        )


def _keep_result(cluster: Cluster, result: CheckResult) -> None:
    # A pod is tried by hand alone: its result stands until the next one.
    cluster.checked_at = cluster.heartbeat_at = clock.now()
    cluster.facts = result.facts
    cluster.identity = cluster.identity or result.identity
    findings = [finding.as_json() for finding in result.findings]
    findings = keep_pod_finding(findings, cluster.findings)
    cluster.findings = replace_finding(findings, RDMA, rdma_finding(read_profile(cluster)))
    cluster.problem_code, cluster.problem_detail = "", ""
    if cluster.state != "draining":
        become(cluster, "ready" if passed(cluster.findings) else "registering")
    cluster.save()
    if result.nodes is not None:
        sync_nodes(cluster, result.nodes)


def _keep_problem(cluster: Cluster, problem: AtomError) -> None:
    cluster.checked_at = clock.now()
    cluster.problem_code, cluster.problem_detail = problem.code, problem.detail
    if cluster.state != "draining":
        become(cluster, "unreachable")
    cluster.save()


def become(cluster: Cluster, state: str) -> None:
    """Give a cluster another state, which the caller saves."""
    if cluster.state != state:
        check_transition(CLUSTER_STATES, cluster.state, state)
        log.info("cluster_state", cluster=cluster.name, old=cluster.state, new=state)
        cluster.state = state


def refuse_local(cluster: Cluster) -> None:
    """Raise ClusterIsLocal for Atom's own machines."""
    if not cluster.is_registered:
        raise ClusterIsLocal


def locked_cluster(cluster_id: UUID) -> Cluster:
    """Return the row, locked for this transaction. Raises ClusterNotFound."""
    row = Cluster.objects.present().select_for_update().filter(pk=cluster_id).first()
    if row is None:
        raise ClusterNotFound
    return row
