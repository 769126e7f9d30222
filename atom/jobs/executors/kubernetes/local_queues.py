"""The LocalQueue of a project's namespace, which leads its Jobs to a ClusterQueue of Kueue."""

from __future__ import annotations

from typing import Any

from atom.clusters.engines.documents import text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.models import Cluster
from atom.clusters.registration.engines.cluster_queues import version_in
from atom.jobs.executors.base import ClusterAwayError, LaunchFailedError
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import Order
from atom_sdk.sentences import Sentence

_NOT_FOUND = 404
# Another manager holds the field, or its value cannot be changed.
_TAKEN = (409, 422)


class QueueAwayError(ClusterAwayError):
    """The cluster serves no Kueue now: the Job of the run would stay suspended for good."""

    def __init__(self) -> None:
        """Hold the sentence that the run's page shows."""
        self.sentence = Sentence(
            "jobs.kueue_away", "The cluster serves no Kueue now, whose queue the run is to use."
        )
        super().__init__(str(self.sentence))


def sync_local_queue(api: ClusterConnection, cluster: Cluster, order: Order) -> None:
    """Have the namespace of an order with a queue lead to its ClusterQueue; safe to repeat.

    Raises QueueAwayError, LaunchFailedError if a LocalQueue of the name leads elsewhere, and
    ClusterFailure.
    """
    if not order.queue:
        return
    version = version_in(cluster.facts)
    if not version:
        raise QueueAwayError
    queues = f"/apis/kueue.x-k8s.io/{version}/namespaces/{order.namespace}/localqueues"
    path = f"{queues}/{order.queue}"
    try:
        api.apply(path, _local_queue(order, version), names.MANAGER)
    except ClusterFails as error:
        if error.status_code == _NOT_FOUND:
            raise QueueAwayError from error
        if error.status_code not in _TAKEN:
            raise
        _refuse_another(api.get(path).body, order, error)


def _refuse_another(there: Any, order: Order, error: ClusterFails) -> None:
    """Raise LaunchFailedError if the LocalQueue leads to another ClusterQueue, else the error."""
    leads_to = text(there, "spec", "clusterQueue")
    if leads_to == order.cluster_queue:
        raise error
    raise LaunchFailedError(
        f"The LocalQueue {order.queue} in {order.namespace} leads to the ClusterQueue "
        f"{leads_to or '?'} and not to {order.cluster_queue}, and Kueue keeps it so. An "
        "administrator can name another LocalQueue in the cluster's queues."
    ) from error


def _local_queue(order: Order, version: str) -> dict[str, Any]:
    return {
        "apiVersion": f"kueue.x-k8s.io/{version}",
        "kind": "LocalQueue",
        "metadata": {
            "name": order.queue,
            "namespace": order.namespace,
            "labels": {
                names.MANAGED_BY: names.MANAGER,
                names.INSTALLATION: installation(),
                names.PROJECT: order.project,
            },
        },
        "spec": {"clusterQueue": order.cluster_queue},
    }
