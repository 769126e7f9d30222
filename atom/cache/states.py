"""States of a version's bytes on a node."""

CACHE_STATES: dict[str, set[str]] = {
    "cold": {"warming"},
    "warming": {"warm", "failed", "cold"},
    "warm": {"warming", "cold", "failed"},
    "failed": {"warming", "cold"},
}

WARM_PLAN_STATES: dict[str, set[str]] = {
    "running": {"done", "failed", "cancelled"},
    "done": set(),
    "failed": set(),
    "cancelled": set(),
}

# `waiting`: the node's agent is silent, or the part has not begun.
WARM_PLAN_NODE_STATES: dict[str, set[str]] = {
    "waiting": {"warming", "warm", "failed", "replaced"},
    "warming": {"waiting", "warm", "failed", "replaced"},
    "warm": {"warming"},
    "failed": {"replaced"},
    "replaced": set(),
}
