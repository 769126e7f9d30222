"""`atom notifications`: lists notifications, and sets which ones come and how."""

from __future__ import annotations

from functools import wraps
from itertools import islice
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from atom_sdk.cli.conflict_options import Decorated
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import path_text, print_table
from atom_sdk.client.errors import NotificationNotFoundError

# As the server has them.
TOPICS = (
    "run_failed", "run_finished", "run_waiting", "mention", "labeling", "audit", "data_failed",
    "data_finished", "membership", "webhook", "security",
)  # fmt: skip
MAILS = ("now", "daily", "never")
# One request has at most this many: a page of the list, and ids that are marked.
_AT_ONCE = 200


def _filters(command: Decorated) -> Decorated:
    """Add --unread, --topic and --limit; the command gets them as `filters`."""

    @click.option("--unread", is_flag=True, help="Only what was not read.")
    @click.option("--topic", metavar="TOPIC", type=click.Choice(TOPICS), help="Only of this one.")
    @click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1))
    @wraps(command)
    def filtered(*args: Any, **filters: Any) -> Any:
        return command(*args, filters=filters)

    return filtered


@click.group(invoke_without_command=True)
@_filters
@pass_context
def notifications(context: Context, filters: dict[str, Any]) -> None:
    """List your notifications, newest first; mark them, and choose which ones come and how.

    \b
    atom notifications --unread --topic run_failed
    atom notifications read --all
    atom notifications settings run_finished --mail daily

    'atom notifications settings' lists the topics. Times are UTC.
    """  # noqa: D301  # click wants the character itself before lines that it keeps apart
    present = click.get_current_context()
    if present.invoked_subcommand is None:
        _list(context, **filters)
    elif any(present.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in filters):
        raise click.UsageError(
            f"Give what is to be listed without '{present.invoked_subcommand}', or after it."
        )


@notifications.command(name="ls")
@_filters
@pass_context
def list_(context: Context, filters: dict[str, Any]) -> None:
    """List your notifications, newest first; the same without `ls`."""
    _list(context, **filters)


def _list(context: Context, unread: bool, topic: str | None, limit: int) -> None:
    only = {"unread": "true" if unread else None, "topic": topic, "limit": min(limit, _AT_ONCE)}
    rows = list(islice(context.client.http.pages("notifications/", **only), limit))
    cells = [
        (
            r["id"],
            r["at"][:16],
            "read" if r["read_at"] else "unread",
            r["topic"],
            r["project"]["slug"] if r["project"] else "",
            path_text(r["title"]),
        )
        for r in rows
    ]
    columns = ("id", "when", "state", "topic", "project", "what happened")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@notifications.command()
@click.argument("ids", metavar="[ID...]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that you were told until now.")
@click.option(
    "--topic", metavar="TOPIC", type=click.Choice(TOPICS), help="With --all: of this one only."
)
@pass_context
def read(context: Context, ids: tuple[str, ...], everything: bool, topic: str | None) -> None:
    """Mark notifications as read; what is read already stays so."""
    if bool(ids) == everything:
        raise click.UsageError("Give at least one ID, or --all, one of the two.")
    if topic and not everything:
        raise click.UsageError("--topic goes with --all.")
    if everything:
        _print_changed(context, _read_all(context, topic), "read")
    else:
        _mark(context, "read", ids)


@notifications.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@pass_context
def unread(context: Context, ids: tuple[str, ...]) -> None:
    """Mark notifications as unread again."""
    _mark(context, "unread", ids)


def _read_all(context: Context, topic: str | None) -> dict[str, Any]:
    """Mark up to the newest as read; what comes meanwhile stays unread."""
    http = context.client.http
    newest = http.get("notifications/", unread="true", topic=topic, limit=1)["results"]
    if not newest:
        return {"changed": 0, "unknown": []}
    until = {"until": newest[0]["id"], **({"topic": topic} if topic else {})}
    answer: dict[str, Any] = http.post("notifications/read/", until)
    return answer


def _mark(context: Context, how: str, ids: tuple[str, ...]) -> None:
    """Mark them. Raises NotificationNotFoundError, after the others, for ids that name none."""
    found: dict[str, Any] = {"changed": 0, "unknown": []}
    for start in range(0, len(ids), _AT_ONCE):
        some = {"ids": ids[start : start + _AT_ONCE]}
        answer = context.client.http.post(f"notifications/{how}/", some)
        found["changed"] += answer["changed"]
        found["unknown"] += answer["unknown"]
    _print_changed(context, found, how)
    if found["unknown"]:
        raise NotificationNotFoundError(f"You have no notification {', '.join(found['unknown'])}.")


def _print_changed(context: Context, found: dict[str, Any], how: str) -> None:
    said = f"{found['changed']} marked as {how}"
    context.emit(found, lambda out: out.print(said, markup=False))


@notifications.command()
@click.argument("topic", metavar="[TOPIC]", required=False, type=click.Choice(TOPICS))
@click.option("--mail", type=click.Choice(MAILS), help="E-mails about TOPIC.")
@click.option("--in-app/--no-in-app", default=None, help="Show TOPIC in the portal, or not.")
@click.option(
    "--time-zone",
    metavar="NAME",
    help="The time zone of the daily mail: Europe/Berlin, for instance.",
)
@click.option(
    "--hour", type=click.IntRange(0, 23), help="The hour of the daily mail, in its time zone."
)
@pass_context
def settings(  # one parameter per option
    context: Context,
    topic: str | None,
    mail: str | None,
    in_app: bool | None,
    time_zone: str | None,
    hour: int | None,
) -> None:
    """Show how you are notified, about TOPIC or everything, or change it.

    \b
    atom notifications settings run_finished --mail daily --no-in-app
    atom notifications settings --time-zone Europe/Berlin --hour 7
    """  # noqa: D301  # click wants the character itself before lines that it keeps apart
    chosen = _set_options(mail=mail, in_app=in_app)
    if chosen and not topic:
        raise click.UsageError("Name the TOPIC that --mail or --in-app is for.")
    change: dict[str, Any] = {"topics": [{"topic": topic, **chosen}]} if chosen else {}
    if daily := _set_options(time_zone=time_zone, hour=hour):
        change["daily"] = daily
    found = context.client.http.request(
        "PATCH" if change else "GET", "notifications/preferences/", json=change or None
    )
    if topic:
        found["topics"] = [one for one in found["topics"] if one["topic"] == topic]
    context.emit(found, lambda out: _print_settings(out, found))


def _set_options(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _print_settings(out: Console, found: dict[str, Any]) -> None:
    cells = [
        (
            one["topic"],
            "yes" if one["in_app"] else "no",
            one["mail"],
            "always" if one["is_fixed"] else "",
        )
        for one in found["topics"]
    ]
    print_table(out, ("topic", "in the portal", "by e-mail", ""), cells)
    daily = found["daily"]
    if not found["sends_mail"]:
        note = "this installation sends no e-mail"
    elif not found["has_address"]:
        note = "your account has no e-mail address"
    else:
        note = f"the next one is due {daily['next_at'][:16]} UTC"
    when = f"{daily['hour']:02d}:00, {daily['time_zone']}"
    out.print(f"Daily mail at {when}; {note}", markup=False)
