"""Clusters and their findings, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.render import print_table
from atom_sdk.client.errors import NotFoundError

Row = dict[str, Any]


def failed(findings: list[Row] | None) -> bool:
    """Whether a finding has the level fail."""
    return any(finding["level"] == "fail" for finding in findings or ())


def missing_rights(name: str, findings: list[Row] | None) -> str:
    """Return the YAML that grants what is missing; "" for nothing. Raises NotFoundError."""
    for finding in findings or ():
        if finding["code"] == "permissions":
            return str(finding["evidence"].get("yaml", ""))
    raise NotFoundError(
        f"No check of the rights on {name} is there.",
        "Administrators of the installation see it after: atom cluster check NAME",
    )


def print_clusters(out: Console, rows: list[Row]) -> None:
    """Print one line a cluster."""
    cells = [
        (
            row["name"],
            row["kind"],
            row["state"],
            len(row["nodes"]),
            _totals(row["nodes"]),
            (row["heartbeat_at"] or "never")[:16],
        )
        for row in rows
    ]
    print_table(out, ("name", "kind", "state", "nodes", "accelerators", "last answer"), cells)


def print_choices(out: Console, rows: Sequence[Row]) -> None:
    """Print one line for each cluster that a run could choose."""
    cells = [
        (
            row["name"],
            row["fits"],
            ", ".join(map(_free_text, row["accelerators"])),
            ", ".join(
                f"{one['kind']} {one['per_hour']} {one['currency']}" for one in row["prices"]
            ),
            (row["reason"] or {}).get("sentence", ""),
        )
        for row in rows
    ]
    print_table(out, ("name", "fits", "free accelerators", "price per hour", "reason"), cells)


def _free_text(one: Row) -> str:
    free = "?" if one["free"] is None else one["free"]
    return f"{free} of {one['total']} {one['kind']}"


def print_cluster(out: Console, row: Row) -> None:
    """Print a cluster: its nodes by accelerators, and what administrators see besides."""
    version = f", {row['version']}" if row["version"] else ""
    out.print(f"{row['name']}: {row['kind']}{version}, {row['state']}", markup=False)
    if row["server"]:
        projects = "all projects" if row["projects"] is None else ", ".join(row["projects"])
        place = f"{row['server']}, namespace {row['namespace']}, for {projects or 'no project'}"
        out.print(place, markup=False)
    if row["problem"]:
        out.print(f"The last check failed: {row['problem']['detail']}", markup=False)
    if row["nodes"]:
        _print_nodes(out, row["nodes"])
    print_findings(out, row["findings"])
    _print_unknown_jobs(out, row.get("unknown_jobs") or [])


def _print_unknown_jobs(out: Console, jobs: list[Row]) -> None:
    if not jobs:
        return
    out.print(
        f"\nUnknown Jobs: {len(jobs)}. They belong to no run that Atom knows, as after a restored "
        "backup. Atom leaves them alone.",
        markup=False,
    )
    cells = [(job["namespace"], job["name"], job["made_at"] or "–", job["pods"]) for job in jobs]
    print_table(out, ("namespace", "job", "made", "pods"), cells)
    out.print("\nThese commands delete them, with their pods:", markup=False)
    for job in jobs:
        out.print(job["command"], markup=False, soft_wrap=True)


def print_findings(out: Console, findings: list[Row] | None) -> None:
    """Print findings, and then the YAML that grants the missing rights."""
    if not findings:
        return
    cells = [(one["level"], one["code"], one["detail"]) for one in findings]
    print_table(out, ("level", "check", "finding"), cells)
    for finding in findings:
        if granting := finding["evidence"].get("yaml"):
            out.print("\nThis grants the missing rights (--yaml prints it alone):", markup=False)
            out.print(granting, markup=False, end="")


def _print_nodes(out: Console, nodes: list[Row]) -> None:
    found = [_free_accelerators(node) for node in nodes]
    kinds = sorted({kind for counts in found for kind in counts})
    cells = [
        (
            node["name"],
            "yes" if node["schedulable"] else "no",
            f"{node['cpu_count'] - node['used']['cpus']}/{node['cpu_count']}",
            f"{_gib(node['memory_bytes'] - node['used']['memory_bytes'])}"
            f"/{_gib(node['memory_bytes'])}",
            *(counts.get(kind, "–") for kind in kinds),
        )
        for node, counts in zip(nodes, found, strict=True)
    ]
    heads = ("node", "takes runs", "free CPUs", "free GiB", *(f"free {kind}" for kind in kinds))
    print_table(out, heads, cells)


def _gib(memory_bytes: int) -> str:
    return f"{memory_bytes / 2**30:.1f}"


def _free_accelerators(node: Row) -> dict[str, str]:
    """Return what is free of each kind; a server of an older version does not say it."""
    if not node["accelerators"]:
        free = node["gpu_count"] - node["used"]["gpus"]
        return {kind: f"{free}/{count}" for kind, count in _accelerators(node).items()}
    used = {row["kind"]: row.get("used") for row in node["accelerators"]}
    return {
        kind: f"{'?' if used[kind] is None else count - used[kind]}/{count}"
        for kind, count in _accelerators(node).items()
    }


def _totals(nodes: list[Row]) -> str:
    totals: dict[str, int] = {}
    for node in nodes:
        for kind, count in _accelerators(node).items():
            totals[kind] = totals.get(kind, 0) + count
    return ", ".join(f"{totals[kind]} {kind}" for kind in sorted(totals)) or "–"


def _accelerators(node: Row) -> dict[str, int]:
    """Return counts by kind; the machine itself has its model only."""
    rows = {row["kind"]: int(row["count"]) for row in node["accelerators"]}
    if rows or not node["gpu_count"]:
        return rows
    return {node["gpu_model"] or "GPU": node["gpu_count"]}


def state_text(row: Row) -> str:
    """Return the state in a sentence, with how many checks failed."""
    count = sum(one["level"] == "fail" for one in row["findings"] or ())
    said = f"; {counted(count, 'check')} failed" if count else ""
    return f"{row['name']} is {row['state']}{said}"
