"""Failures of requests about machines."""

from atom.core.errors import AlreadyExists, Conflict, NotFound


class MachineNotFound(NotFound):
    """No machine has this id."""

    code = "machine_not_found"
    title = "There is no such machine."
    action = "Look at the list of machines; one that was removed has no page any more."


class CordonedByCluster(Conflict):
    """The machine's own cluster keeps pods off it; the next check would close it again."""

    code = "cordoned_by_cluster"
    title = "The cluster itself keeps runs off this machine."
    action = "Run kubectl uncordon in the cluster; Atom sees it within a minute."


class ClusterNotFound(NotFound):
    """No cluster has this name, or none that the caller may use."""

    code = "cluster_not_found"
    title = "There is no such cluster."
    action = "Look at the list of clusters; one that was removed has no page any more."


class ClusterNameTaken(AlreadyExists):
    """Another cluster has the name, or an address of the API."""

    code = "cluster_name_taken"
    title = "There is a cluster of that name."


class ClusterIsLocal(Conflict):
    """The cluster is this machine, which has no registration."""

    code = "cluster_is_local"
    title = "This cluster is the machine itself."
    action = "Cordon the machine to keep runs off it."


class ClusterInUse(Conflict):
    """Runs hold slots on the cluster's nodes."""

    code = "cluster_in_use"
    title = "Runs are on this cluster."
    action = "Drain the cluster, and wait until its runs have ended."


class ClusterSecretLost(Conflict):
    """The kubeconfig was stored with another encryption key."""

    code = "cluster_secret_lost"
    title = "The stored kubeconfig cannot be read."
    action = "Give the cluster its kubeconfig again."
