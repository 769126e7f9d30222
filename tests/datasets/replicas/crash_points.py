"""The points at which a worker of replicas is killed in tests."""

COPYING_POINTS = [
    "replica.pack_copied",
    "replica.copied",
    "replica.pack_verified",
    "replica.written",
]
REMOVAL_POINT = "replica.rows_removed"
REPLICA_POINTS = [*COPYING_POINTS, REMOVAL_POINT]
