"""Entry point: global options, login, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys

import click
import httpx

from atom_sdk.block_pandas import leave_pandas_out
from atom_sdk.cli import (
    activity,
    archives,
    audit,
    cleaning,
    clusters,
    compare,
    data,
    doctor,
    edits,
    importing,
    labels,
    machines,
    members,
    models,
    mounts,
    notifications,
    placements,
    projects,
    retention,
    run_lists,
    run_retention,
    runs,
    s3_keys,
    secrets,
    service_accounts,
    sharing,
    sources,
    stores,
    tokens,
    transfers,
    units,
    versions,
    views,
    webhooks,
    writers,
)
from atom_sdk.cli.context import (
    EXIT_INTERRUPTED,
    EXIT_UNREAD,
    Context,
    exit_code_of,
    explain,
    pass_context,
    print_problem,
)
from atom_sdk.cli.options import accept_json_anywhere
from atom_sdk.client import Client, config
from atom_sdk.client.errors import LocalFileError, NetworkError
from atom_sdk.errors import AtomError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--project", envvar="ATOM_PROJECT", help="Project to work in.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.version_option(package_name="atom-sdk", prog_name="atom")
@pass_context
def cli(context: Context, project: str | None, as_json: bool) -> None:
    """Atom: versioned datasets, labels, training runs and models.

    \b
    First steps:
      atom login http://127.0.0.1:8000 --token …   (make one in the portal, under Access tokens)
      atom data push ./images digits -m "first"    (a folder becomes digits@v1)
      atom run --data digits=digits@v1 --follow -- python train.py

    With --json, before or after the command's name, answers are JSON; logs are JSON lines, and
    with --follow the last line is the run. Failures are JSON on standard error.

    Exit codes: 0 done, 1 failed, 2 usage, 3 not found or not allowed, 4 conflict, 5 network,
    6 the run was cancelled, 124 timed out while waiting.
    """  # noqa: D301  # click wants the character itself before lines that it keeps apart
    context.project, context.as_json = project, as_json


@cli.command()
@click.argument("url")
@click.option("--token", help="API token; asked for when left out, or read from a pipe.")
@click.option("--project", help="Default project.")
@pass_context
def login(context: Context, url: str, token: str | None, project: str | None) -> None:
    """Remember a server and a token for the next commands."""
    secret = token or _asked_token()
    with Client(url, secret, project or context.project) as client:
        me = client.me()
        found = config.Config(client.config.url, secret, _project_of(client))
    path = config.save(found)
    answer = {"username": me["username"], "url": found.url, "project": found.project}
    where = f"project {found.project}" if found.project else "no project yet: atom project add NAME"
    text = f"Signed in to {found.url} as {me['username']}, {where} ({path})."
    context.emit(answer, lambda out: out.print(text))


def _project_of(client: Client) -> str:
    """Return the project to remember; "" for somebody who sees none yet."""
    if not client.config.project and not client.projects.list():
        return ""
    return client.project


def _asked_token() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("API token", hide_input=True, err=True))
    if given := sys.stdin.readline().strip():
        return given
    raise click.UsageError("Give --token, or the token on standard input.")


@cli.command()
@pass_context
def whoami(context: Context) -> None:
    """Show who the token belongs to."""
    me = {
        **context.client.me(),
        "project": context.client.project,
        "url": context.client.config.url,
    }
    context.emit(
        me, lambda out: out.print(f"{me['username']} on {me['url']}, project {me['project']}")
    )


cli.add_command(data.data)
for command in (*retention.COMMANDS, *archives.COMMANDS):
    data.data.add_command(command)
cli.add_command(labels.labels)
cli.add_command(machines.machines)
cli.add_command(clusters.cluster)
cli.add_command(placements.placements)
cli.add_command(members.member)
cli.add_command(units.unit)
cli.add_command(projects.project)
cli.add_command(service_accounts.service_account)
cli.add_command(activity.activity)
cli.add_command(doctor.doctor)
cli.add_command(audit.audit)
cli.add_command(models.model)
cli.add_command(sources.source)
cli.add_command(stores.stores)
cli.add_command(tokens.token)
cli.add_command(s3_keys.s3_key)
cli.add_command(secrets.secret)
cli.add_command(webhooks.webhook)
cli.add_command(notifications.notifications)
cli.add_command(compare.compare)
for command in (
    *versions.COMMANDS,
    *edits.COMMANDS,
    *views.COMMANDS,
    *writers.COMMANDS,
    *importing.COMMANDS,
    *transfers.COMMANDS,
    *cleaning.COMMANDS,
):
    data.data.add_command(command)
for command in (
    *runs.COMMANDS,
    *run_lists.COMMANDS,
    *run_retention.COMMANDS,
    *sharing.COMMANDS,
    *mounts.COMMANDS,
):
    cli.add_command(command)


accept_json_anywhere(cli)


def main() -> None:
    """Run the command line; every known failure is a sentence and an exit code."""
    leave_pandas_out()
    sys.exit(_run(Context()))


def _run(context: Context) -> int:
    try:
        code = cli.main(standalone_mode=False, obj=context)
        sys.stdout.flush()
    except click.ClickException as exc:
        _show_usage(exc, context)
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # By the latter click ends us when nobody reads what was said.
        _write_no_more()
        return EXIT_UNREAD
    except (AtomError, OSError, httpx.HTTPError) as exc:
        error = _as_ours(exc)
        explain(error, context)
        return exit_code_of(error)
    finally:
        context.close()
    return code if isinstance(code, int) else 0


def _write_no_more() -> None:
    """Drop what is left, or Python would complain of it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _as_ours(exc: Exception) -> AtomError:
    if isinstance(exc, AtomError):
        return exc
    if isinstance(exc, OSError):
        where = f": {exc.filename}" if exc.filename else ""
        return LocalFileError(f"{exc.strerror or exc}{where}")
    return NetworkError(f"The connection broke: {exc}.")


def _show_usage(exc: click.ClickException, context: Context) -> None:
    if context.as_json:
        print_problem({"code": "usage", "detail": exc.format_message()})
    else:
        exc.show()
