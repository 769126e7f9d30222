"""`atom webhook …`: programs that are notified of events in the project."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.client.errors import NotFoundError
from atom_sdk.client.transport.polling import pauses, sleep_until

_TEST_S = 60.0


@click.group(name="webhook")
def webhook() -> None:
    """List, add, try and remove webhooks of the project (docs/webhooks.md)."""


def _base(context: Context) -> str:
    return f"projects/{context.client.project}/webhooks/"


def _find(context: Context, name: str) -> dict[str, Any]:
    """Return a webhook by its name or id. Raises NotFoundError."""
    for row in context.client.http.pages(_base(context)):
        if name in {row["id"], row["name"]}:
            return row
    said = f"The project {context.client.project} has no webhook {name!r}."
    raise NotFoundError(said, "List them: atom webhook ls")


@webhook.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the webhooks."""
    rows = list(context.client.http.pages(_base(context)))
    cells = [
        (
            r["name"],
            "on" if r["active"] else f"off ({r['off_reason']})",
            " ".join(r["events"]),
            (r["last_success_at"] or "never")[:16],
            r["url"],
        )
        for r in rows
    ]
    columns = ("name", "state", "events", "last accepted", "url")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@webhook.command()
@click.argument("name")
@click.argument("url")
@click.option(
    "-e", "--event", "events", multiple=True, required=True, help="For instance run.failed."
)
@pass_context
def create(context: Context, name: str, url: str, events: tuple[str, ...]) -> None:
    """Add a webhook; the secret that requests are signed with is shown once."""
    body = {"name": name, "url": url, "events": list(events)}
    new = context.client.http.post(_base(context), body)
    context.emit(new, lambda out: _print_secret(out, new))


def _print_secret(out: Console, new: dict[str, Any]) -> None:
    out.print(f"webhook {new['name']} ({new['id']})", markup=False)
    out.print(f"secret {new['secret']}", markup=False)


@webhook.command()
@click.argument("name")
@pass_context
def test(context: Context, name: str) -> int:
    """Send a made-up event; exit code 1 when it is not accepted."""
    http, base = context.client.http, f"{_base(context)}{_find(context, name)['id']}/"
    found = http.post(f"{base}test/")
    for _ in sleep_until(_TEST_S, pauses()):
        if found["state"] != "pending":
            break
        found = http.get(f"{base}deliveries/{found['id']}/")
    said = f"{found['state']} {found['status_code'] or ''} {found['error']}".strip()
    context.emit(found, lambda out: out.print(said, markup=False))
    return 0 if found["state"] == "delivered" else EXIT_FAILED


@webhook.command(name="rm")
@click.argument("name")
@pass_context
def remove(context: Context, name: str) -> None:
    """Remove a webhook with its deliveries."""
    found = _find(context, name)
    context.client.http.delete(f"{_base(context)}{found['id']}/")
    said = f"removed {found['name']}"
    context.emit({"removed": found["id"]}, lambda out: out.print(said, markup=False))
