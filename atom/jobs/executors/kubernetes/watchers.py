"""One group of threads for each registered cluster, which write down what happens there.

Several processes may watch a cluster; the holder of its Lease writes. A cluster that does not
answer delays no other. While it is away, what was last seen stands: nothing is taken for lost.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import close_old_connections, connection

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterFailure, ClusterUnreachable
from atom.clusters.kubernetes.leases import Lease
from atom.clusters.kubernetes.listing import Held, Key
from atom.clusters.kubernetes.watching import Watcher
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core.errors import AtomError
from atom.jobs.executors.kubernetes.engines.observations import placement_of, slim_job, slim_pod
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.executors.kubernetes.paths import AWAY, path_of
from atom.jobs.executors.kubernetes.watching import (
    JOBS,
    PODS,
    followed,
    note,
    selector,
    sync_cluster,
)

log = structlog.get_logger(__name__)

# A new cluster is followed after so many seconds at most.
_LOOK_FOR_CLUSTERS_S = 2.0
# Changes within this time are written together.
_GATHER_S = 0.2
# How often all is compared with whole lists, whatever the watches said.
_WHOLE_EVERY_S = 60.0
_RENEW_EVERY_S = 2.0


class Watchers:
    """Follows all registered clusters until it is stopped."""

    def __init__(self) -> None:
        """Follow none yet."""
        self._stopping = threading.Event()
        self._threads: dict[UUID, threading.Thread] = {}

    def run(self) -> None:
        """Follow clusters as they are registered, until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopping.set())
        if ready := os.environ.get("ATOM_READY_FILE"):
            Path(ready).touch()
        while not self._stopping.is_set():
            self._start_missing()
            self._stopping.wait(_LOOK_FOR_CLUSTERS_S)
        for thread in self._threads.values():
            thread.join()

    def _start_missing(self) -> None:
        close_old_connections()
        try:
            found = Cluster.objects.present().exclude(server="")
            for cluster_id in found.values_list("pk", flat=True):
                thread = self._threads.get(cluster_id)
                if thread is None or not thread.is_alive():
                    follower = Follower(cluster_id, self._stopping)
                    self._threads[cluster_id] = thread = threading.Thread(target=follower.run)
                    thread.start()
        except Exception:
            # The database is away: what is followed already goes on by itself.
            log.exception("clusters_not_listed")


class Follower:
    """Follows one cluster: a watch of its Jobs, one of its pods, and a lease."""

    def __init__(self, cluster_id: UUID, stopping: threading.Event) -> None:
        """Follow until `stopping` is set, or the cluster is removed."""
        self._id = cluster_id
        self._stopping = stopping
        self._over = threading.Event()
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._dirty: set[str] = set()
        self._jobs: Watcher[dict[str, Any]] = Watcher(
            self._connect, JOBS, slim_job, self._changed, selector=selector()
        )
        self._pods: Watcher[dict[str, Any]] = Watcher(
            self._connect, PODS, slim_pod, self._changed, selector=selector()
        )

    def run(self) -> None:
        """Follow the cluster; nothing that fails ends it."""
        parts = [
            threading.Thread(target=watcher.run, args=(self._over,))
            for watcher in (self._jobs, self._pods)
        ]
        for part in parts:
            part.start()
        try:
            while not self._stopping.is_set():
                try:
                    if not self._hold():
                        return
                except AWAY as error:
                    log.warning("cluster_not_followed", cluster=str(self._id), why=str(error))
                except Exception:
                    log.exception("cluster_not_followed", cluster=str(self._id))
                self._stopping.wait(_RENEW_EVERY_S)
        finally:
            self._over.set()
            for part in parts:
                part.join()
            connection.close()

    def _connect(self) -> ClusterConnection:
        close_old_connections()
        try:
            cluster = Cluster.objects.present().get(pk=self._id)
            return open_cluster(cluster)
        except ClusterFailure:
            raise
        except (AtomError, Cluster.DoesNotExist) as error:
            raise ClusterUnreachable(str(error)) from error
        finally:
            connection.close()

    def _changed(
        self, _: Key, old: Held[dict[str, Any]] | None, new: Held[dict[str, Any]] | None
    ) -> None:
        held = new or old
        if held is not None:
            with self._lock:
                self._dirty.add(placement_of(held.value))
            self._woken.set()

    def _hold(self) -> bool:
        """Write for as long as the lease is held; return whether the cluster is still there."""
        close_old_connections()
        cluster = Cluster.objects.present().filter(pk=self._id).first()
        if cluster is None:
            return False
        with open_cluster(cluster) as api:
            ensure_namespace(api, cluster.namespace)
            identity = f"{socket.gethostname()}-{os.getpid()}-{uuid4()}"
            place = Key(cluster.namespace, f"atom-watcher-{installation()}")
            lease = Lease(api, place, identity)
            try:
                self._write_while(lease, cluster)
            finally:
                if lease.is_held():
                    lease.release()
        return True

    def _write_while(self, lease: Lease, cluster: Cluster) -> None:
        renewed_at = whole_at = float("-inf")
        while not self._stopping.is_set():
            now = time.monotonic()
            if now - renewed_at >= _RENEW_EVERY_S:
                if not lease.try_once() and not lease.is_held():
                    return
                renewed_at = now
                close_old_connections()
                if not Cluster.objects.present().filter(pk=cluster.pk).exists():
                    return
            if lease.is_held() and now - whole_at >= _WHOLE_EVERY_S:
                sync_cluster(cluster)
                whole_at = now
            self._woken.wait(_GATHER_S)
            self._stopping.wait(_GATHER_S if self._woken.is_set() else 0)
            self._woken.clear()
            if lease.is_held():
                self._write(cluster)

    def _write(self, cluster: Cluster) -> None:
        """Write what has changed since the last time."""
        if not (self._jobs.synced.is_set() and self._pods.synced.is_set()):
            return
        with self._lock:
            dirty, self._dirty = self._dirty, set()
        if not dirty:
            return
        found = [one for one in followed(cluster) if str(one.pk) in dirty]
        jobs, pods = list(self._jobs.objects.values()), list(self._pods.objects.values())
        note(found, [one.value for one in jobs], [one.value for one in pods], is_whole=False)
        known = {str(one.pk) for one in found}
        # The row of a new Job has its uid in a moment.
        early = {str(placement_of(one.value)) for one in jobs} & (dirty - known)
        if early:
            with self._lock:
                self._dirty |= early


def ensure_namespace(api: ClusterConnection, name: str) -> None:
    """Make the cluster's own namespace, where its lease lies, unless it is there."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    try:
        api.post(path_of("Namespace"), body)
    except ClusterFails as error:
        if error.status_code != _CONFLICT:
            raise


_CONFLICT = 409
