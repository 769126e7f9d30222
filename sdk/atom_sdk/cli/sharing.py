"""`atom share`: links that show one run to people without an account."""

from __future__ import annotations

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option(
    "--days", type=click.IntRange(1, 90), help="For so many days from now; 30 unless it is given."
)
@click.option("--note", help="Whom it is for; only members of the project read it.")
@click.option("--with-log", is_flag=True, help="Show the log too.")
@click.option("--list", "wants_list", is_flag=True, help="List the links that work.")
@click.option("--end", "ended", metavar="ID", type=click.UUID, help="End a link at once.")
@pass_context
def share(context: Context, /, run_name: str, **options: object) -> None:
    """Make a link that shows RUN to whoever has it, without an account.

    Its state, parameters, curves and notes, and with --with-log its log; never its outputs, code,
    environment or secrets. The link is printed once.
    """
    made_with = {name: options[name] for name in ("days", "note", "with_log") if options[name]}
    modes = (bool(made_with), bool(options["wants_list"]), options["ended"] is not None)
    if sum(modes) > 1:
        raise click.UsageError("--list and --end go with no other option.")
    if options["wants_list"]:
        _list(context, run_name)
    elif options["ended"] is not None:
        share_id = str(options["ended"])
        context.client.runs.end_share(run_name, share_id)
        context.emit({"ended": share_id}, lambda out: out.print("ended"))
    else:
        made = context.client.runs.share(run_name, **made_with)
        context.emit(made, lambda out: out.print(made["link"], markup=False, soft_wrap=True))


def _list(context: Context, run_name: str) -> None:
    found = context.client.runs.shares(run_name)
    cells = [
        (
            one["id"],
            one["note"],
            one["created_by"]["username"] if one["created_by"] else "–",
            one["expires_at"][:16],
            (one["last_seen_at"] or "never")[:16],
            "yes" if one["with_log"] else "no",
        )
        for one in found["results"]
    ]
    columns = ("id", "for", "made by", "until", "last seen", "with log")
    context.emit(found, lambda out: print_table(out, columns, cells))
    if not found["enabled"] and not context.as_json:
        context.err.print("No link works: this installation has switched them off.")


COMMANDS = (share,)
