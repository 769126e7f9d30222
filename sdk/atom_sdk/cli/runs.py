"""Runs from the command line: `atom run`, `get`, `logs`, `why`, `cancel`, `wait`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.log_search import print_matches, wanted_of, with_searching
from atom_sdk.cli.placements import print_kept
from atom_sdk.cli.render import duration_text, path_text, print_table
from atom_sdk.cli.run_again import COMMANDS as RUN_AGAIN
from atom_sdk.cli.run_lists import amounts_text, version_text
from atom_sdk.cli.run_options import (
    check_awaiting,
    request_of,
    with_awaiting,
    with_settings,
)
from atom_sdk.cli.run_ranks import ALL_RANKS, RankName, nodes_rows, print_ranks
from atom_sdk.cli.run_watching import awaited, follow_ranks, follow_run, print_log, started
from atom_sdk.cli.start_option import start_rows
from atom_sdk.cli.workflows import workflow
from atom_sdk.client.code.git import fetch_code
from atom_sdk.client.code.snapshot import send_snapshot, take_snapshot

_LINKS_NAMED = 5


# Arguments after the command's first word belong to the command, also those that look like ours.
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
@click.option(
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter to find and compare the run by; COMMAND reads it from atom_sdk.run.params.",
)
@with_settings
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
@click.option(
    "--code-snapshot",
    metavar="ID",
    default="",
    help="A snapshot that the project has already, instead of a folder.",
)
@click.option("--ref", "git_ref", default="", help="With --git: a branch, a tag or a commit.")
@click.option(
    "--git-secret",
    default="",
    metavar="NAME",
    help="With --git: the secret with the token (https) or the private key (ssh).",
)
@with_awaiting
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@pass_context
def run(context: Context, /, command: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND on the cluster with a snapshot of the code: atom run -- python train.py."""
    check_awaiting(options)
    body = request_of(command, options)
    body["code_snapshot"] = _code(context, options)
    return started(context, context.client.runs.create(**body), options)


def _code(context: Context, options: Mapping[str, Any]) -> str:
    """Return the id of a snapshot: a named one, of the folder, or of a commit to be fetched."""
    client = context.client
    if options["code_snapshot"]:
        if options["git_url"] or options["git_ref"] or options["git_secret"]:
            raise click.UsageError("--code-snapshot and --git exclude each other.")
        return str(options["code_snapshot"])
    if not options["git_url"]:
        if options["git_ref"] or options["git_secret"]:
            raise click.UsageError("--ref and --git-secret go with --git URL.")
        return _send_folder(context, options["code"])
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


def _send_folder(context: Context, folder: Path) -> str:
    snapshot = take_snapshot(folder)
    if links := snapshot.links_left_out:
        named = ", ".join(map(path_text, links[:_LINKS_NAMED]))
        more = ", …" if len(links) > _LINKS_NAMED else ""
        said = f"without {counted(len(links), 'link')} that the run could not follow: {named}{more}"
        context.err.print(said, markup=False)
    return send_snapshot(context.client.http, context.client.project, snapshot)


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def get(context: Context, run_name: str) -> None:
    """Show one run by id, number or name."""
    found = context.client.runs.get(run_name)
    context.emit(found, lambda out: _print_run(out, found))


def _input_text(one: dict[str, Any]) -> str:
    text = f"{one['alias']}={version_text(one)}"
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
        ("cluster", found.get("cluster") or ""),
        ("image", found.get("image") or ""),
        ("resources", amounts_text(found)),
        *nodes_rows(found),
        *start_rows(found),
        ("duration", duration_text(found["duration_s"])),
        ("metrics", json.dumps(found["metrics_summary"], ensure_ascii=False)),
        ("tags", " ".join(found["tags"])),
        ("notes", found["notes"]),
    ]
    if found["failure_class"]:
        rows += [
            ("failure", f"{found['failure_class']}: {found['failure_reason']}"),
            ("try", found["suggestion"]),
        ]
    print_table(out, ("", ""), rows)
    print_ranks(out, found)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("-f", "--follow", is_flag=True, help="Go on until the run has ended; exit like it.")
@click.option("--attempt", type=int, help="An earlier attempt.")
@click.option(
    "--rank",
    type=RankName(),
    help="The number of a rank, 0 without it; all: the lines of all ranks by their times.",
)
@with_searching
@pass_context
def logs(
    context: Context,
    /,
    run_name: str,
    follow: bool,
    attempt: int | None,
    rank: int | None,
    **options: Any,
) -> int:
    """Print the log of RUN; with --json, a line of JSON for each piece.

    Lines of stdout and stderr come whole, in the order in which they end; --stream keeps one of
    the two. With --search or --errors only the lines that match, with their numbers; exit code 1
    when there are none.
    """
    wanted = wanted_of(options, follow)
    stream = options["stream"]
    if rank == ALL_RANKS and wanted:
        raise click.UsageError("A search looks at one rank: give --rank its number.")
    runs = context.client.runs
    run_id = runs.resolve(run_name)
    if rank == ALL_RANKS:
        return follow_ranks(context, run_id, follow, attempt, stream)
    if wanted:
        matches = runs.search_log(run_id, attempt=attempt, rank=rank, **wanted)
        return print_matches(context, matches)
    if follow:
        return follow_run(context, run_id, attempt, stream, rank)
    print_log(context, runs.frames(run_id, attempt=attempt, stream=stream, rank=rank))
    return 0


@click.command()
@click.argument("run_name", metavar="RUN")
@pass_context
def why(context: Context, run_name: str) -> None:
    """Say in plain words why RUN is not running, why it failed, and why it is where it is."""
    explanation = context.client.runs.explain(run_name)
    decision = context.client.runs.get(run_name)["placement_decision"]
    answer = {**explanation, "placement_decision": decision}
    context.emit(answer, lambda out: _print_why(out, answer))


def _print_why(out: Console, answer: dict[str, Any]) -> None:
    reasons = (f"- {reason['text']} {reason['action']}".rstrip() for reason in answer["reasons"])
    out.print("\n".join([answer["answer"], *reasons]), markup=False)
    if answer["placement_decision"] is not None:
        out.print()
        print_kept(out, answer["placement_decision"])


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
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0), help="Give up after so many seconds."
)
@pass_context
def wait(context: Context, run_name: str, timeout_s: float | None) -> int:
    """Wait for RUN to end.

    Exit code 0 when it succeeded, 1 when it failed, 6 when it was cancelled, 124 when the time was
    up first (the run goes on).
    """
    return awaited(context, run_name, timeout_s)


COMMANDS = (run, get, logs, why, advice, cancel, *RUN_AGAIN, wait, workflow)
