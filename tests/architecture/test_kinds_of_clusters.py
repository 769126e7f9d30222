"""Only executors, cache backends and the door to Kubernetes ask of which kind a cluster is."""

from __future__ import annotations

import ast
from pathlib import Path

from atom.settings.environment import BASE_DIR

_MAY_ASK = ("atom/jobs/executors/", "atom/cache/backends/", "atom/clusters/kubernetes/")
_KINDS = {"kubernetes", "local"}
_CONSTANTS = {"KUBERNETES", "LOCAL"}


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
            # A constant may name a cluster as well as its kind.
            if not any(_name_of(side).endswith("kind") for side in sides):
                return any(isinstance(side, ast.Constant) and _is_kind(side) for side in sides)
        case ast.MatchValue(value=value):
            sides = [value]
        case ast.keyword(arg=str(name), value=value) if _asks(name):
            sides = [value]
        case _:
            return False
    return any(_is_kind(side) for side in sides)


def _name_of(side: ast.expr) -> str:
    match side:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _asks(keyword: str) -> bool:
    """Return whether a keyword filters by a kind, such as `cluster__kind__in`."""
    return keyword.removesuffix("__in").endswith("kind")


def _is_kind(side: ast.expr) -> bool:
    """Return whether a value is a kind, or the constant of one."""
    match side:
        case ast.Constant(value=value):
            return value in _KINDS
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _CONSTANTS
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
            return any(_is_kind(value) for value in values)
    return False


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
        "rows.exclude(kind=LOCAL)",
        "rows.filter(cluster__kind__in=[actions.LOCAL])",
        "if kind == KUBERNETES: pass",
    ]
    assert [bool(asks_for_the_kind(one)) for one in asking] == [True] * len(asking)
    assert asks_for_the_kind("if event.kind == 'ended': pass") == []
