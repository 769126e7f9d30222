"""States of a cluster. Connectivity is `unreachable`, never a reason to fail its jobs."""

from datetime import timedelta

# A machine beats every second; an upgrade or a busy disk must not look like its end.
SILENT_AFTER = timedelta(minutes=2)

CLUSTER_STATES: dict[str, set[str]] = {
    # Connected, but a check failed: it lacks a right, or is too old.
    "registering": {"ready", "unreachable", "draining", "removed"},
    "ready": {"registering", "unreachable", "draining", "removed"},
    "unreachable": {"registering", "ready", "draining", "removed"},
    "draining": {"registering", "ready", "unreachable", "removed"},
    # The row stays for the history of runs; its kubeconfig is gone.
    "removed": set(),
}
