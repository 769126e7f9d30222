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
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterFailure, ClusterUnreachable
from atom.clusters.kubernetes.leases import Lease
from atom.clusters.kubernetes.listing import Held, Key
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.kubernetes.watching import Watcher
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import alive
from atom.core.errors import AtomError
from atom.jobs.executors.kubernetes.engines.node_states import NodeState, slim_node
from atom.jobs.executors.kubernetes.engines.observations import (
    placement_of,
    slim_job,
    slim_pod,
    uids_of,
)
from atom.jobs.executors.kubernetes.engines.wait_objects import may_wait
from atom.jobs.executors.kubernetes.paths import AWAY, path_of
from atom.jobs.executors.kubernetes.watching import (
    JOBS,
    NODES,
    PODS,
    followed,
    note,
    note_answer,
    note_waits,
    selector,
    sync_cluster,
    waiting_namespaces,
)

log = structlog.get_logger(__name__)

# A new cluster is followed after so many seconds at most.
_LOOK_FOR_CLUSTERS_S = 2.0
# Changes within this time are written together.
_GATHER_S = 0.2
# How often all is compared with whole lists, whatever the watches said.
_WHOLE_EVERY_S = 60.0
_RENEW_EVERY_S = 2.0
# How often the events of namespaces are read in which a Job waits, and of how many at once.
_WAITS_EVERY_S = 5.0
_NAMESPACES = 4


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
            alive.touch()
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
    """Follows one cluster: watches of its Jobs, its pods and all nodes, and a lease."""

    def __init__(self, cluster_id: UUID, stopping: threading.Event) -> None:
        """Follow until `stopping` is set, or the cluster is removed."""
        self._id = cluster_id
        self._stopping = stopping
        self._over = threading.Event()
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._dirty: set[str] = set()
        # The uids of Jobs and pods that a watch saw go since all was read last.
        self._removed: set[str] = set()
        self._jobs: Watcher[dict[str, Any]] = Watcher(
            self._connect, JOBS, slim_job, self._changed, selector=selector()
        )
        self._pods: Watcher[dict[str, Any]] = Watcher(
            self._connect, PODS, slim_pod, self._changed, selector=selector()
        )
        # Without the right to read nodes this one stays empty, and nothing is known of them.
        self._nodes: Watcher[NodeState] = Watcher(
            self._connect, NODES, slim_node, self._node_changed
        )
        self._gone_nodes: set[str] = set()
        self._waiting: list[str] = []
        self._waits_at = float("-inf")
        self._identity = f"{socket.gethostname()}-{os.getpid()}-{uuid4()}"
        self._lease: Lease | None = None

    def run(self) -> None:
        """Follow the cluster; nothing that fails ends it."""
        parts = [
            threading.Thread(target=self._run_part, args=(watcher,))
            for watcher in (self._jobs, self._pods, self._nodes)
        ]
        for part in parts:
            part.start()
        try:
            while not self._ends():
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

    def _run_part(self, watcher: Watcher[Any]) -> None:
        """Run a watch; without it nothing must be written, and all begins anew."""
        try:
            watcher.run(self._over)
        except Exception:
            log.exception("watch_ended", cluster=str(self._id))
        finally:
            self._over.set()
            connection.close()

    def _ends(self) -> bool:
        return self._stopping.is_set() or self._over.is_set()

    def _connect(self) -> ClusterConnection:
        close_old_connections()
        try:
            cluster = Cluster.objects.present().get(pk=self._id)
            return open_cluster(cluster)
        except ClusterFailure:
            raise
        except (AtomError, Cluster.DoesNotExist, DatabaseError, InterfaceError) as error:
            # The database knows where the cluster is: one that is away is asked again.
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
                if old is not None and new is None:
                    self._removed.add(old.uid)
            self._woken.set()

    def _node_changed(
        self, key: Key, old: Held[NodeState] | None, new: Held[NodeState] | None
    ) -> None:
        """Look again at the pods of a node whose state is another; kubelets report all the time."""
        if new is None:
            self._gone_nodes.add(key.name)
        else:
            self._gone_nodes.discard(key.name)
            if old is not None and old.value == new.value:
                return
        for held in list(self._pods.objects.values()):
            if held.value["spec"]["nodeName"] == key.name:
                self._changed(key, None, held)

    def _known_nodes(self) -> dict[str, NodeState]:
        """Return the states of nodes; one that was never seen is not known to be gone."""
        gone = dict.fromkeys(list(self._gone_nodes), NodeState.GONE)
        return gone | {key.name: held.value for key, held in list(self._nodes.objects.items())}

    def _hold(self) -> bool:
        """Write for as long as the lease is held; return whether the cluster is still there."""
        close_old_connections()
        cluster = Cluster.objects.present().filter(pk=self._id).first()
        if cluster is None:
            return False
        with open_cluster(cluster) as api:
            ensure_namespace(api, cluster.namespace)
            lease = self._lease_over(api, cluster)
            try:
                self._write_while(lease, cluster, api)
            finally:
                if lease.is_held():
                    lease.release()
        return True

    def _lease_over(self, api: ClusterConnection, cluster: Cluster) -> Lease:
        """Return the lease, over a new connection.

        It is kept for as long as this follows the cluster: a new one would honour the record of a
        holder that is gone from the beginning, again and again.
        """
        place = Key(cluster.namespace, f"atom-watcher-{installation()}")
        if self._lease is None or self._lease.place != place:
            self._lease = Lease(api, place, self._identity)
        else:
            self._lease.connection = api
        return self._lease

    def _write_while(self, lease: Lease, cluster: Cluster, api: ClusterConnection) -> None:
        """Contend for the lease, and write while it is held, until the cluster is removed."""
        renewed_at = whole_at = float("-inf")
        while not self._ends():
            now = time.monotonic()
            if now - renewed_at >= _RENEW_EVERY_S:
                lease.try_once()
                renewed_at = now
                close_old_connections()
                note_answer(cluster)
                if not Cluster.objects.present().filter(pk=cluster.pk).exists():
                    return
            if not lease.is_held():
                # Another one may write until this one holds the lease again, and reads all.
                whole_at = float("-inf")
                self._forget()
            elif now - whole_at >= _WHOLE_EVERY_S:
                self._write_all(cluster)
                whole_at = now
            self._woken.wait(_GATHER_S)
            self._stopping.wait(_GATHER_S if self._woken.is_set() else 0)
            self._woken.clear()
            if lease.is_held():
                self._write(cluster)
                self._write_waits(cluster, api)

    def _forget(self) -> None:
        with self._lock:
            self._dirty.clear()
            self._removed.clear()

    def _write_all(self, cluster: Cluster) -> None:
        """Write what whole lists say. Raises ClusterFailure and its kin."""
        with self._lock:
            before, self._removed = self._removed, set()
        try:
            sync_cluster(cluster, self._known_nodes())
        except Exception:
            with self._lock:
                self._removed |= before
            raise

    def _write_waits(self, cluster: Cluster, api: ClusterConnection) -> None:
        """Write why Jobs wait, a few namespaces at a time: the lease must be renewed meanwhile."""
        now = time.monotonic()
        if not self._waiting and now - self._waits_at >= _WAITS_EVERY_S:
            self._waits_at, self._waiting = now, waiting_namespaces(cluster)
        some, self._waiting = self._waiting[:_NAMESPACES], self._waiting[_NAMESPACES:]
        if not some:
            return
        try:
            waits = [one for one in followed(cluster) if one.namespace in some]
            note_waits(api, cluster, [one for one in waits if may_wait(one.observed)])
        except AWAY as error:
            # Reasons alone are missing: the watches go on.
            log.warning("waits_not_written", cluster=cluster.name, why=str(error))

    def _write(self, cluster: Cluster) -> None:
        """Write what has changed since the last time."""
        if not (self._jobs.synced.is_set() and self._pods.synced.is_set()):
            return
        with self._lock:
            dirty, self._dirty = self._dirty, set()
        if not dirty:
            return
        rows = followed(cluster, dirty)
        held_jobs = list(self._jobs.objects.values())
        held_pods = list(self._pods.objects.values())
        known = {one.uid for one in (*held_jobs, *held_pods)} | self._removed
        # A watch may lag behind what another reading has written: its silence is no loss.
        found = [row for row in rows if uids_of(row.observed) <= known]
        uids = {one.job_uid for one in found}
        # A Job is known by its uid alone: somebody may have changed its labels.
        jobs = [
            one.value for one in held_jobs if one.uid in uids or placement_of(one.value) in dirty
        ]
        pods = [one.value for one in held_pods if placement_of(one.value) in dirty]
        note(found, jobs, pods, nodes=self._known_nodes(), is_whole=False)
        # The row of a new Job has its uid in a moment.
        placements = {placement_of(job) for job in jobs} & dirty
        later = {*placements, *(str(row.pk) for row in rows)} - {str(row.pk) for row in found}
        if later:
            with self._lock:
                self._dirty |= later


def ensure_namespace(api: ClusterConnection, name: str) -> None:
    """Make the cluster's own namespace, where its lease lies, unless it is there."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    try:
        api.post(path_of("Namespace"), body)
    except ClusterFails as error:
        if error.status_code != _CONFLICT:
            raise


_CONFLICT = 409
