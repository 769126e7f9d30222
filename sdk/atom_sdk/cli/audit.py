"""`atom audit …`: who did what, for an archive or another program."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.client.transport.http import download

# Bytes up to this number wait in memory, further ones on the disk.
_IN_MEMORY_BYTES = 1 << 20


@click.group()
def audit() -> None:
    """Read the audit log, as an administrator of projects or of the installation."""


@audit.command()
@click.option(
    "--format", "form", type=click.Choice(["csv", "jsonl"]), default="csv", show_default=True
)
@click.option("--from", "since", metavar="TIME", help="Not before it: 2026-01-31T08:00:00Z.")
@click.option("--to", "until", metavar="TIME", help="Before it.")
@click.option("--actor", help="User name of who did it.")
@click.option("--verb", help="The action, for instance token.created, or token for all of them.")
@click.option("--object", "thing", help="Kind or id of what it was done to.")
@click.option("--only", "slug", metavar="PROJECT", help="Events of one project; else of all yours.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file to write."
)
@pass_context
def export(  # one parameter per option
    context: Context,
    form: str,
    since: str | None,
    until: str | None,
    actor: str | None,
    verb: str | None,
    thing: str | None,
    slug: str | None,
    output: Path | None,
) -> None:
    """Write the events, newest first, to standard output or a file.

    A file appears when it is whole: what ends before is an error, and leaves none.
    """
    wanted = {
        "as": form, "from": since, "to": until, "actor": actor, "verb": verb, "object": thing,
        "project": slug,
    }  # fmt: skip
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as whole:
        for block in download(context.client.http, "audit/export/", wanted):
            whole.write(block)
        whole.seek(0)
        if output is None:
            shutil.copyfileobj(whole, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        _write(whole, output)
    context.emit({"written": str(output)}, lambda out: out.print(f"wrote {output}", markup=False))


def _write(whole: tempfile.SpooledTemporaryFile[bytes], output: Path) -> None:
    part = output.with_name(f".{output.name}.part")
    try:
        with part.open("wb") as file:
            shutil.copyfileobj(whole, file)
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
