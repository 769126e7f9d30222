"""Only executors, cache backends and the door to Kubernetes ask of which kind a cluster is."""

from __future__ import annotations

import ast
from pathlib import Path

from atom.settings.environment import BASE_DIR

_MAY_ASK = ("atom/jobs/executors/", "atom/cache/backends/", "atom/clusters/kubernetes/")
_KINDS = {"kubernetes", "local"}


def asks_for_the_kind(source: str) -> list[int]:
    """Return the lines that read the kind of a cluster, or compare with the name of a kind."""
    found = [node for node in ast.walk(ast.parse(source)) if _reads(node) or _compares(node)]
    return sorted({_line(node) for node in found})


def _line(node: ast.AST) -> int:
    # A pattern of `match` has the line of its value.
    return int(getattr(node, "lineno", 0) or getattr(getattr(node, "value", None), "lineno", 0))


def _reads(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Attribute) and node.attr == "kind"):
        return False
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return "cluster" in name.lower()


def _compares(node: ast.AST) -> bool:
    match node:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
        case ast.MatchValue(value=value):
            sides = [value]
        case ast.keyword(arg=str(name), value=value) if name.endswith("kind"):
            sides = [value]
        case _:
            return False
    return any(isinstance(side, ast.Constant) and side.value in _KINDS for side in sides)


def test_no_other_part_branches_on_the_kind_of_a_cluster() -> None:
    asking = [
        f"{path.relative_to(BASE_DIR)}:{line}"
        for path in sorted(Path(BASE_DIR, "atom").rglob("*.py"))
        if not str(path.relative_to(BASE_DIR)).startswith(_MAY_ASK)
        for line in asks_for_the_kind(path.read_text())
    ]
    assert asking == []


def test_each_way_of_asking_is_seen() -> None:
    asking = [
        "if attempt.cluster.kind in (A, B): pass",
        "name = cluster.kind",
        "if kind == 'kubernetes': pass",
        "match kind:\n    case 'kubernetes': pass",
        "rows.filter(cluster__kind='kubernetes')",
    ]
    assert [bool(asks_for_the_kind(one)) for one in asking] == [True] * len(asking)
    assert asks_for_the_kind("if event.kind == 'ended': pass") == []
