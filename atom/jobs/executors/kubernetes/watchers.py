"""One thread for each registered cluster, which writes down what happens there.

A cluster that does not answer delays no other. While it is away, what was last seen stands: nothing
is taken for lost.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from uuid import UUID

import structlog
from django.db import close_old_connections, connection

from atom.clusters.models import Cluster
from atom.jobs.executors.kubernetes.paths import AWAY
from atom.jobs.executors.kubernetes.watching import sync_cluster

log = structlog.get_logger(__name__)

# A new cluster is followed after so many seconds at most.
_LOOK_FOR_CLUSTERS_S = 2.0
_LOOK_S = 1.0
# A cluster that does not answer is asked again after this, twice as long each time, up to that.
_AWAY_S, _LONGEST_AWAY_S = 2.0, 30.0


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
                    self._threads[cluster_id] = thread = threading.Thread(
                        target=self._follow, args=(cluster_id,), name=f"watch-{cluster_id}"
                    )
                    thread.start()
        except Exception:
            # The database is away: what is followed already goes on by itself.
            log.exception("clusters_not_listed")

    def _follow(self, cluster_id: UUID) -> None:
        wait_s = _LOOK_S
        while not self._stopping.wait(wait_s):
            close_old_connections()
            cluster = Cluster.objects.present().filter(pk=cluster_id).first()
            if cluster is None:
                break
            wait_s = self._look(cluster, wait_s)
        connection.close()

    def _look(self, cluster: Cluster, waited_s: float) -> float:
        """Look at a cluster once; return after how many seconds to look again."""
        try:
            sync_cluster(cluster)
        except AWAY as error:
            log.warning("cluster_not_followed", cluster=cluster.name, why=str(error))
        except Exception:
            log.exception("cluster_not_followed", cluster=cluster.name)
        else:
            return _LOOK_S
        return min(_LONGEST_AWAY_S, max(_AWAY_S, waited_s * 2))
