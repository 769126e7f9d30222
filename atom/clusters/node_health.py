"""Which machines can be counted on."""

from __future__ import annotations

from atom.clusters.actions import LOCAL, this_machine
from atom.clusters.models import Node
from atom.clusters.states import SILENT_AFTER
from atom.core import clock


def is_silent(node: Node) -> bool:
    """Return whether the machine has stopped answering; one that never beat has just joined."""
    beaten_at = node.heartbeat_at
    return beaten_at is not None and clock.now() - beaten_at > SILENT_AFTER


def is_this_machine(node: Node) -> bool:
    """Return whether the node is the machine of this process; `node.cluster` should be fetched."""
    return node.cluster.name == LOCAL and node.name == this_machine().name


def is_elsewhere(node: Node | None) -> bool:
    """Return whether another machine has to look after what runs on the node."""
    return node is not None and node.name != this_machine().name
