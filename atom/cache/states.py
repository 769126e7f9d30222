"""States of a version's bytes on a node."""

CACHE_STATES: dict[str, set[str]] = {
    "cold": {"warming"},
    "warming": {"warm", "failed", "cold"},
    "warm": {"warming", "cold", "failed"},
    "failed": {"warming", "cold"},
}
