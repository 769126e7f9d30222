"""`atom compare`: runs beside each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import duration_text, print_table

Row = tuple[str, list[str]]


@click.command()
@click.argument("run_names", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("--metric", "metrics", multiple=True, help="Only this metric; can be repeated.")
@click.option(
    "--value",
    type=click.Choice(["last", "min", "max"]),
    default="last",
    show_default=True,
    help="Which value of a metric counts.",
)
@click.option("--only-differences", is_flag=True, help="Leave out what is the same in all runs.")
@pass_context
def compare(
    context: Context,
    run_names: tuple[str, ...],
    metrics: tuple[str, ...],
    value: str,
    only_differences: bool,
) -> None:
    """Show 2 to 50 runs side by side; * marks the best of a metric."""
    found = context.client.runs.compare(run_names, value)
    rows = [row for row in _rows(found, metrics, value) if any(row[1])]
    if only_differences:
        rows = [row for row in rows if len({cell.removesuffix(" *") for cell in row[1]}) > 1]
    columns = ("", *(f"{run['number']} {run['name']}" for run in found["runs"]))
    cells = [(label, *texts) for label, texts in rows]
    context.emit(found, lambda out: print_table(out, columns, cells))


def _rows(found: dict[str, Any], metrics: tuple[str, ...], value: str) -> Iterator[Row]:
    runs = found["runs"]
    yield "state", [run["state"] for run in runs]
    yield "duration", [duration_text(run["duration_s"]) for run in runs]
    measured = [{one["key"]: one for one in run["metrics"]} for run in runs]
    for metric in found["metrics"]:
        key = metric["key"]
        if not metrics or key in metrics:
            numbers = [some.get(key, {}).get(value) for some in measured]
            best = [" *" if run["id"] in metric["best"] else "" for run in runs]
            yield key, [_number(one) + mark for one, mark in zip(numbers, best, strict=True)]
    for name in dict.fromkeys(name for run in runs for name in run["parameters"]):
        yield f"parameter {name}", [_shown(run["parameters"].get(name)) for run in runs]
    yield "command", [" ".join(run["command"]) for run in runs]
    yield "commit", [str(((run["code"] or {}).get("git") or {}).get("commit", "")) for run in runs]
    yield "code", [((run["code"] or {}).get("digest") or "")[:12] for run in runs]
    for alias in dict.fromkeys(one["alias"] for run in runs for one in run["datasets"]):
        yield f"data {alias}", [_input(run, alias) for run in runs]
    for name in ("cpus", "memory_bytes", "gpus"):
        yield name, [str(run["resources"][name]) for run in runs]
    yield "accelerator", [run.get("accelerator", "") for run in runs]
    yield "requirements", [(run["runtime"] or {}).get("requirements", "") for run in runs]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _input(run: dict[str, Any], alias: str) -> str:
    for one in run["datasets"]:
        if one["alias"] == alias:
            where = one["selector"].get("where", "")
            return f"{one['dataset']}@{one['ref']} {where}".strip()
    return ""
