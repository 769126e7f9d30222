"""Backends of the cache: each holds versions on one node behind `CacheBackend`."""

from __future__ import annotations

from atom.cache.backends.base import CacheBackend
from atom.cache.backends.local.backend import LocalBackend
from atom.cache.errors import NodeOutOfReach
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from atom.clusters.node_health import is_this_machine
from atom_sdk.sentences import Sentence


def backend_of(node: Node) -> CacheBackend:
    """Return what holds versions on the node; `node.cluster` should be fetched already.

    Raises NodeOutOfReach if nothing does.
    """
    if is_this_machine(node):
        return LocalBackend(node)
    raise NodeOutOfReach(
        Sentence(
            "cache.node_out_of_reach", "No cache backend reaches the node {node}.", node=node.name
        )
    )


def local_backend() -> CacheBackend:
    """Return the backend of this machine."""
    return LocalBackend(ensure_local_node())
