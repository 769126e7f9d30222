"""Elements of XML files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass
class Node:
    """An element with its attributes, its text and the elements in it."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Node] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Node]:
        """Yield the elements in it that have a name."""
        return (child for child in self.children if child.name == name)

    def child(self, name: str) -> Node | None:
        """Return the first element of a name."""
        return next(self.all(name), None)

    def get(self, name: str) -> str:
        """Return the text of the first element of a name, "" without one."""
        child = self.child(name)
        return child.text.strip() if child is not None else ""
