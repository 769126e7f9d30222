"""Runs from the command line: `atom run`, `ls`, `get`, `logs`, `why`, `cancel`, `retry`, `wait`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.render import duration_text, print_table
from atom_sdk.client.snapshot import send_snapshot, take_snapshot

_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(text: str) -> int:
    """Return bytes for `2g`, `512M`, `1GiB` or a plain number."""
    lowered = text.lower().removesuffix("b").removesuffix("i")
    factor = _SIZES.get(lowered[-1:], 1)
    number = lowered[:-1] if factor > 1 else lowered
    try:
        return int(float(number) * factor)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a size like 2g or 512m") from None


def _pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    found = {}
    for text in values:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{text!r}: write NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def _resources(cpus: int | None, memory: str | None, gpus: int | None) -> dict[str, int]:
    given = {"cpus": cpus, "memory_bytes": parse_size(memory) if memory else None, "gpus": gpus}
    return {name: value for name, value in given.items() if value is not None}


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--name", help="A name to find the run by.")
@click.option("--data", multiple=True, metavar="ALIAS=REF", help="A dataset version to read.")
@click.option("--cpus", type=click.IntRange(1))
@click.option("--memory", metavar="SIZE", help="For instance 2g.")
@click.option("--gpus", type=click.IntRange(0))
@click.option("--req", multiple=True, metavar="SPEC", help="A pip requirement, e.g. torch==2.13.0.")
@click.option("-r", "requirements_file", type=click.Path(exists=True, path_type=Path))
@click.option("--env", multiple=True, metavar="K=V", help="An environment variable.")
@click.option("--tag", multiple=True)
@click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Seconds.")
@click.option(
    "--code",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Folder to send as the code; the present one by default.",
)
@click.option("--follow", is_flag=True, help="Show the log; exit like the run.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@pass_context
def run(context: Context, /, command: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND on the cluster with a snapshot of the code: atom run -- python train.py."""
    client = context.client
    snapshot = send_snapshot(client.http, client.project, take_snapshot(options["code"]))
    file = options["requirements_file"]
    requirements = [*(file.read_text().splitlines() if file else []), *options["req"]]
    body: dict[str, Any] = {
        "command": list(command),
        "code_snapshot": snapshot,
        "requirements": "\n".join(requirements),
        "datasets": _pairs(options["data"], "--data"),
        "env": _pairs(options["env"], "--env"),
        "tags": list(options["tag"]),
        "resources": _resources(options["cpus"], options["memory"], options["gpus"]),
    }
    body |= {k: options[k] for k in ("name", "timeout_s") if options[k] is not None}
    return _started(context, client.runs.create(**body), options["follow"])


def _started(context: Context, started: dict[str, Any], follow: bool) -> int:
    if not follow:
        context.emit(
            started,
            lambda out: out.print(f"run {started['number']} ({started['id']}) {started['state']}"),
        )
        return 0
    context.err.print(f"run {started['number']} ({started['id']})")
    return _follow(context, started["id"])


def _follow(context: Context, run_id: str) -> int:
    for text in context.client.runs.log(run_id, follow=True):
        sys.stdout.write(text)
        sys.stdout.flush()
    return _finish(context, context.client.runs.wait(run_id))


def _finish(context: Context, found: dict[str, Any]) -> int:
    took = duration_text(found.get("duration_s"))
    context.err.print(f"run {found['number']} {found['state']} after {took}")
    if found["state"] != "failed":
        return 0 if found["state"] == "succeeded" else EXIT_FAILED
    context.err.print(f"{found['failure_class']}: {found['failure_reason']}", markup=False)
    if found.get("suggestion"):
        context.err.print(found["suggestion"], markup=False)
    return EXIT_FAILED


@click.command(name="ls")
@click.option("--state", help="For instance running or failed.")
@click.option("-q", "query", help="Part of the name.")
@click.option("-n", "limit", default=20, show_default=True)
@pass_context
def list_(context: Context, state: str | None, query: str | None, limit: int) -> None:
    """List runs, newest first."""
    found = context.client.runs.list(state=state, q=query)
    rows = [row for _, row in zip(range(limit), found, strict=False)]
    cells = [
        (
            r["number"],
            r["name"],
            r["state"],
            f"{100 * r['progress']:.0f} %",
            " ".join(f"{d['dataset']}@{d['ref']}" for d in r["datasets"]),
            (r["created_by"] or {}).get("username", ""),
            duration_text(r["duration_s"]),
        )
        for r in rows
    ]
    columns = ("run", "name", "state", "done", "data", "who", "duration")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def get(context: Context, run_name: str) -> None:
    """Show one run by id, number or name."""
    found = context.client.runs.get(run_name)
    context.emit(found, lambda out: _print_run(out, found))


def _print_run(out: Console, found: dict[str, Any]) -> None:
    rows = [
        ("run", f"{found['number']} {found['name']}"),
        ("id", found["id"]),
        ("state", f"{found['state']} {found['progress_text']}"),
        ("command", " ".join(found["command"])),
        ("data", " ".join(f"{d['alias']}={d['dataset']}@{d['ref']}" for d in found["datasets"])),
        ("duration", duration_text(found["duration_s"])),
        ("metrics", json.dumps(found["metrics_summary"])),
    ]
    if found["failure_class"]:
        rows += [
            ("failure", f"{found['failure_class']}: {found['failure_reason']}"),
            ("try", found["suggestion"]),
        ]
    print_table(out, ("", ""), rows)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("-f", "--follow", is_flag=True, help="Go on until the run has ended; exit like it.")
@click.option("--attempt", type=int, help="An earlier attempt.")
@pass_context
def logs(context: Context, run_name: str, follow: bool, attempt: int | None) -> int:
    """Print the log of RUN."""
    for text in context.client.runs.log(run_name, follow=follow, attempt=attempt):
        sys.stdout.write(text)
        sys.stdout.flush()
    return _finish(context, context.client.runs.wait(run_name)) if follow else 0


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def why(context: Context, run_name: str) -> None:
    """Say in plain words why RUN is not running, or why it failed."""
    found = context.client.runs.explain(run_name)
    lines = [found["answer"], *(f"- {r['text']} {r['action']}" for r in found["reasons"])]
    context.emit(found, lambda out: out.print("\n".join(lines), markup=False))


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def cancel(context: Context, run_name: str) -> None:
    """Ask RUN to stop; it gets ten seconds to save its work."""
    found = context.client.runs.cancel(run_name)
    context.emit(found, lambda out: out.print(f"run {found['number']} {found['state']}"))


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--follow", is_flag=True)
@pass_context
def retry(context: Context, run_name: str, follow: bool) -> int:
    """Start RUN again from its last durable checkpoint."""
    return _started(context, context.client.runs.retry(run_name), follow)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--timeout", "timeout_s", type=float, help="Give up after so many seconds.")
@pass_context
def wait(context: Context, run_name: str, timeout_s: float | None) -> int:
    """Wait for RUN to end: exit 0 when it succeeded, 1 otherwise."""
    try:
        return _finish(context, context.client.runs.wait(run_name, timeout_s))
    except TimeoutError as exc:
        raise click.ClickException(str(exc)) from exc


@click.group()
def workflow() -> None:
    """Predefined jobs: parameters, resources, go."""


@workflow.command(name="ls")
@pass_context
def workflow_list(context: Context) -> None:
    """List the workflows."""
    rows = context.client.workflows.list()
    cells = [(r["slug"], r["title"], r["description"].split("\n")[0]) for r in rows]
    context.emit(rows, lambda out: print_table(out, ("workflow", "title", "description"), cells))


@workflow.command(name="show")
@click.argument("slug")
@pass_context
def workflow_show(context: Context, slug: str) -> None:
    """Show the parameters of a workflow."""
    found = context.client.workflows.get(slug)
    cells = [
        (p["name"], p["type"], p.get("default"), p.get("help", "")) for p in found["parameters"]
    ]
    columns = ("parameter", "type", "default", "help")
    context.emit(found, lambda out: print_table(out, columns, cells))


@workflow.command(name="run")
@click.argument("slug")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE")
@click.option("--name")
@click.option("--cpus", type=click.IntRange(1))
@click.option("--memory", metavar="SIZE")
@click.option("--gpus", type=click.IntRange(0))
@click.option("--follow", is_flag=True)
@pass_context
def workflow_run(
    context: Context, /, slug: str, parameters: tuple[str, ...], follow: bool, **options: Any
) -> int:
    """Start a workflow: atom workflow run image-classification -p dataset=digits@v3."""
    resources = _resources(options["cpus"], options["memory"], options["gpus"])
    values = {name: _typed(text) for name, text in _pairs(parameters, "-p").items()}
    body: dict[str, Any] = {"workflow": slug, "parameters": values, "resources": resources}
    if options["name"]:
        body["name"] = options["name"]
    return _started(context, context.client.runs.create(**body), follow)


def _typed(text: str) -> Any:
    """Read numbers and booleans as JSON does; everything else is a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


COMMANDS = (run, list_, get, logs, why, cancel, retry, wait, workflow)
