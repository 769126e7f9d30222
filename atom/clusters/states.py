"""States of a cluster. Connectivity is `unreachable`, never a reason to fail its jobs."""

from datetime import timedelta

# A machine beats every second; an upgrade or a busy disk must not look like its end.
SILENT_AFTER = timedelta(minutes=2)

CLUSTER_STATES: dict[str, set[str]] = {
    "ready": {"unreachable", "draining"},
    "unreachable": {"ready", "draining"},
    "draining": {"ready", "unreachable"},
}
