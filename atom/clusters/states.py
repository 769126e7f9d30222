"""States of a cluster. Connectivity is `unreachable`, never a reason to fail its jobs."""

CLUSTER_STATES: dict[str, set[str]] = {
    "ready": {"unreachable", "draining"},
    "unreachable": {"ready", "draining"},
    "draining": {"ready", "unreachable"},
}
