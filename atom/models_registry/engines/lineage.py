"""A lineage graph: what a thing was made from, and what was made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Node:
    """One thing; `key` is `kind:id`, `url` is the portal's path or None, digests are hex."""

    kind: str
    id: str
    title: str
    subtitle: str = ""
    url: str | None = None
    digest: str | None = None
    # Values in the English title or subtitle, for pages in another language.
    facts: dict[str, int | float | str] = field(default_factory=dict, compare=False)

    @property
    def key(self) -> str:
        """The id within a graph."""
        return f"{self.kind}:{self.id}"


@dataclass
class Graph:
    """Nodes by key and edges (from, to, label); adding one again changes nothing."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], None] = field(default_factory=dict)

    def add(self, node: Node) -> Node:
        """Add a node and return the one that the graph has under its key."""
        return self.nodes.setdefault(node.key, node)

    def link(self, source: Node, target: Node, label: str) -> None:
        """Add both nodes and an edge from the older thing to the newer one."""
        edge = (self.add(source).key, self.add(target).key, label)
        self.edges[edge] = None

    def has(self, source: Node, target: Node, label: str) -> bool:
        """Return whether the edge is there."""
        return (source.key, target.key, label) in self.edges

    def as_json(self) -> dict[str, Any]:
        """Return the graph as the API gives it."""
        nodes = [
            {
                "id": node.key,
                "kind": node.kind,
                "title": node.title,
                "subtitle": node.subtitle,
                "url": node.url,
                "digest": node.digest,
                "facts": node.facts,
            }
            for node in self.nodes.values()
        ]
        edges = [{"from": a, "to": b, "label": label} for a, b, label in self.edges]
        return {"nodes": nodes, "edges": edges}
