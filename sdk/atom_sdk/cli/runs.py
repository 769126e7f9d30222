"""Runs from the command line: `atom run`, `ls`, `get`, `logs`, `why`, `cancel`, `retry`, `wait`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import click
from rich.console import Console

from atom_sdk.cli.context import (
    EXIT_CANCELLED,
    EXIT_FAILED,
    EXIT_TIMED_OUT,
    Context,
    pass_context,
    tell_json,
)
from atom_sdk.cli.options import Size, not_blank
from atom_sdk.cli.render import duration_text, print_table
from atom_sdk.client.git import fetch_code
from atom_sdk.client.snapshot import send_snapshot, take_snapshot
from atom_sdk.manifests.query import QueryError, parse_query

_EXIT_BY_STATE = {"succeeded": 0, "failed": EXIT_FAILED, "cancelled": EXIT_CANCELLED}
DELIVERIES = ("packs", "mount", "stream")


def _pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    found = {}
    for text in values:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{text!r}: write NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def _inputs(values: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the references and the deliveries of `digits=digits@v3:mount`, by alias."""
    references = _pairs(values, "--data")
    deliveries = {}
    for alias, text in references.items():
        reference, colon, how = text.rpartition(":")
        # `atom://project/dataset` has a colon of its own.
        if not colon or "/" in how:
            continue
        if how not in DELIVERIES:
            known = ", ".join(DELIVERIES)
            said = f"{text!r}: after the colon comes one of {known}"
            raise click.BadParameter(said, param_hint="--data")
        references[alias], deliveries[alias] = reference, how
    return references, deliveries


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every kind of run has; `_settings_of` reads them."""
    options = (
        click.option("--name", callback=not_blank, help="A name to find the run by."),
        click.option("--cpus", type=click.IntRange(1)),
        click.option("--memory", type=Size(), help="For instance 2g."),
        click.option("--gpus", type=click.IntRange(0)),
        click.option("--env", multiple=True, metavar="K=V", help="An environment variable."),
        click.option(
            "--secret",
            multiple=True,
            metavar="NAME",
            help="A secret of the project, as a variable: atom secret ls.",
        ),
        click.option("--tag", multiple=True),
        click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Seconds."),
        click.option(
            "--retries",
            "max_retries",
            type=click.IntRange(0),
            help="How often it is tried again by itself, after a failure that is not the code's.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _awaiting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of what starts a run; `_started` reads them."""
    options = (
        click.option("--follow", is_flag=True, help="Show the log; exit like the run."),
        click.option("--wait", "wait", is_flag=True, help="Wait silently; exit like the run."),
        click.option(
            "--wait-timeout",
            "wait_s",
            type=click.IntRange(0),
            metavar="SECONDS",
            help="With --wait: give up after so long, with exit code 124; the run goes on.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    resources = {
        "cpus": options["cpus"],
        "memory_bytes": options["memory"],
        "gpus": options["gpus"],
    }
    given = {name: options[name] for name in ("name", "timeout_s", "max_retries")}
    return {
        "env": _pairs(options["env"], "--env"),
        **({"secrets": list(options["secret"])} if options["secret"] else {}),
        "tags": list(options["tag"]),
        "resources": {name: value for name, value in resources.items() if value is not None},
        **{name: value for name, value in given.items() if value is not None},
    }


# What follows the command's first word is the command's own, also what looks like ours.
@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--data",
    multiple=True,
    metavar="ALIAS=REF[:HOW]",
    help="A dataset version to read, or a saved view of it: d=digits@v3?view=cats. HOW it gets "
    "there: packs (read by the SDK; the default), mount (a folder at $ATOM_INPUT_<ALIAS>) or "
    "stream (start at once, fetch what is read).",
)
@click.option(
    "--where",
    multiple=True,
    metavar="ALIAS=QUERY",
    help="Only files that match: --where d=\"label = 'cat'\".",
)
@_settings
@click.option("--req", multiple=True, metavar="SPEC", help="A pip requirement, e.g. torch==2.13.0.")
@click.option(
    "-r", "requirements_file", type=click.File(encoding="utf-8"), help="A pip requirements file."
)
@click.option(
    "--may-write",
    is_flag=True,
    help="Let it write the project's datasets with your rights: atom_sdk.run.writer, atom://.",
)
@click.option(
    "--code",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Folder to send as the code; the present one by default.",
)
@click.option(
    "--git",
    "git_url",
    metavar="URL",
    help="Code from a repository instead of a folder: https://host/path or git@host:path.",
)
@click.option("--ref", "git_ref", default="", help="With --git: a branch, a tag or a commit.")
@click.option(
    "--git-secret",
    default="",
    metavar="NAME",
    help="With --git: the secret with the token (https) or the private key (ssh).",
)
@_awaiting
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@pass_context
def run(context: Context, /, command: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND on the cluster with a snapshot of the code: atom run -- python train.py."""
    _check_awaiting(options)
    body = request_of(command, options)
    body["code_snapshot"] = _code(context, options)
    return _started(context, context.client.runs.create(**body), options)


def _code(context: Context, options: Mapping[str, Any]) -> str:
    """Return the id of a snapshot of the folder, or of a commit that the server fetches."""
    client = context.client
    if not options["git_url"]:
        if options["git_ref"] or options["git_secret"]:
            raise click.UsageError("--ref and --git-secret go with --git URL.")
        return send_snapshot(client.http, client.project, take_snapshot(options["code"]))
    found = fetch_code(
        client.http, client.project, options["git_url"], options["git_ref"], options["git_secret"]
    )
    if not context.as_json:
        context.err.print(f"commit {found['commit'][:10]} {found['message']}", markup=False)
        for name in found["submodules"]:
            context.err.print(f"without the submodule {name}", markup=False)
        for name in found["lfs"]:
            context.err.print(f"only the Git LFS pointer of {name}", markup=False)
    return str(found["code_snapshot"])


def request_of(command: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked of the server, but for the code. Raises click.BadParameter."""
    datasets, deliveries = _inputs(options["data"])
    requirements = [*_lines_of(options["requirements_file"]), *options["req"]]
    body: dict[str, Any] = {
        "command": list(command),
        "requirements": "\n".join(requirements),
        "datasets": datasets,
        "deliveries": deliveries,
        "selectors": _selectors(options["where"]),
        **_settings_of(options),
    }
    if options["may_write"]:
        body["may_write"] = True
    return body


def _selectors(where: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Check the queries here: a wrong one would be refused only after the code was sent."""
    found = _pairs(where, "--where")
    for text in found.values():
        try:
            parse_query(text)
        except QueryError as error:
            raise click.BadParameter(str(error), param_hint="--where") from error
    return {alias: {"where": text} for alias, text in found.items()}


def _lines_of(file: TextIO | None) -> list[str]:
    try:
        return file.read().splitlines() if file else []
    except UnicodeDecodeError as exc:
        raise click.BadParameter("the file is not text in UTF-8", param_hint="-r") from exc


def _check_awaiting(options: Mapping[str, Any]) -> None:
    if options["follow"] and options["wait"]:
        raise click.UsageError("Give --follow or --wait, not both.")
    if options["wait_s"] is not None and not options["wait"]:
        raise click.UsageError("--wait-timeout needs --wait.")


def _started(context: Context, started: dict[str, Any], options: Mapping[str, Any]) -> int:
    if options["wait"]:
        if not context.as_json:
            context.err.print(f"run {started['number']} ({started['id']})")
        return _awaited(context, started["id"], options["wait_s"])
    if not options["follow"]:
        context.emit(
            started,
            lambda out: out.print(f"run {started['number']} ({started['id']}) {started['state']}"),
        )
        return 0
    if not context.as_json:
        context.err.print(f"run {started['number']} ({started['id']})")
    return _follow(context, started["id"])


def _follow(context: Context, run_id: str, attempt: int | None = None) -> int:
    _print_log(context, context.client.runs.frames(run_id, follow=True, attempt=attempt))
    found = context.client.runs.wait(run_id)
    if context.as_json:
        context.emit_line(found)
    return _finish(context, found)


def _print_log(context: Context, frames: Iterable[dict[str, Any]]) -> None:
    for frame in frames:
        if context.as_json:
            context.emit_line(frame)
        else:
            sys.stdout.write(frame["text"])
            sys.stdout.flush()


def _awaited(context: Context, run_name: str, timeout_s: float | None) -> int:
    """Wait silently for the end of a run."""
    try:
        found = context.client.runs.wait(run_name, timeout_s)
    except TimeoutError as exc:
        if context.as_json:
            tell_json({"code": "timed_out", "detail": str(exc)})
        else:
            context.err.print(f"{exc}; it goes on", markup=False)
        return EXIT_TIMED_OUT
    if context.as_json:
        context.emit(found)
    return _finish(context, found)


def _finish(context: Context, found: dict[str, Any]) -> int:
    """Tell people how the run ended, and scripts by the exit code."""
    if not context.as_json:
        _print_end(context.err, found)
    return _EXIT_BY_STATE.get(found["state"], EXIT_FAILED)


def _print_end(err: Console, found: dict[str, Any]) -> None:
    err.print(f"run {found['number']} {found['state']} after {duration_text(found['duration_s'])}")
    if found["state"] == "failed":
        err.print(f"{found['failure_class']}: {found['failure_reason']}", markup=False)
        if found.get("suggestion"):
            err.print(found["suggestion"], markup=False)


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
            " ".join(map(_version_text, r["datasets"])),
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


def _version_text(one: dict[str, Any]) -> str:
    view = f"?view={one['view']}" if one["view"] else ""
    return f"{one['dataset']}@{one['ref']}{view}"


def _input_text(one: dict[str, Any]) -> str:
    text = f"{one['alias']}={_version_text(one)}"
    if one["mounted_by"]:
        return f"{text}:{one['delivery']} ({one['mounted_by']})"
    return text if one["delivery"] == "packs" else f"{text}:{one['delivery']}"


def _print_run(out: Console, found: dict[str, Any]) -> None:
    rows = [
        ("run", f"{found['number']} {found['name']}"),
        ("id", found["id"]),
        ("state", f"{found['state']} {found['progress_text']}"),
        ("command", " ".join(found["command"])),
        ("data", " ".join(map(_input_text, found["datasets"]))),
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
    """Print the log of RUN; with --json, a line of JSON for each piece."""
    run_id = context.client.runs.resolve(run_name)
    if follow:
        return _follow(context, run_id, attempt)
    _print_log(context, context.client.runs.frames(run_id, attempt=attempt))
    return 0


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
def advice(context: Context, run_name: str) -> None:
    """Say whether RUN waited for its data, why, and what to do about it."""
    found = context.client.runs.advice(run_name)
    context.emit(found, lambda out: _print_advice(out, found))


def _print_advice(out: Console, found: Iterable[dict[str, Any]]) -> None:
    for one in found:
        out.print(one["text"], markup=False)
        if one["action"]:
            out.print(f"  {one['action']}", markup=False)


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def cancel(context: Context, run_name: str) -> None:
    """Ask RUN to stop; it gets ten seconds to save its work."""
    found = context.client.runs.cancel(run_name)
    ended = found["state"] == "cancelled"
    said = "cancelled" if ended else f"is asked to stop ({found['state']} now)"
    context.emit(found, lambda out: out.print(f"run {found['number']} {said}"))


@click.command()
@click.argument("run_name", metavar="RUN")
@_awaiting
@pass_context
def retry(context: Context, /, run_name: str, **options: Any) -> int:
    """Start RUN again from its last durable checkpoint."""
    _check_awaiting(options)
    return _started(context, context.client.runs.retry(run_name), options)


@click.command()
@click.argument("run_name", metavar="RUN")
@_awaiting
@pass_context
def clone(context: Context, /, run_name: str, **options: Any) -> int:
    """Start a new run of the same code, data, parameters and resources as RUN."""
    _check_awaiting(options)
    return _started(context, context.client.runs.clone(run_name), options)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0), help="Give up after so many seconds."
)
@pass_context
def wait(context: Context, run_name: str, timeout_s: float | None) -> int:
    """Wait for RUN to end.

    Exit code 0 when it succeeded, 1 when it failed, 6 when it was cancelled, 124 when the time was
    up first (the run goes on).
    """
    return _awaited(context, run_name, timeout_s)


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
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=QUERY",
    help="Only files that match, of a dataset that the workflow lets you narrow.",
)
@click.option(
    "--delivery",
    multiple=True,
    metavar="NAME=HOW",
    help="How a dataset parameter's data gets there: packs, mount or stream.",
)
@_settings
@_awaiting
@pass_context
def workflow_run(
    context: Context, /, slug: str, parameters: tuple[str, ...], **options: Any
) -> int:
    """Start a workflow: atom workflow run image-classification -p dataset=digits@v3."""
    _check_awaiting(options)
    values = {name: _typed(text) for name, text in _pairs(parameters, "-p").items()}
    body: dict[str, Any] = {"workflow": slug, "parameters": values, **_settings_of(options)}
    if selectors := _selectors(options["where"]):
        body["selectors"] = selectors
    if options["delivery"]:
        body["deliveries"] = _pairs(options["delivery"], "--delivery")
    return _started(context, context.client.runs.create(**body), options)


def _typed(text: str) -> Any:
    """Read numbers and booleans as JSON does; everything else is a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


COMMANDS = (run, list_, get, logs, why, advice, cancel, retry, clone, wait, workflow)
