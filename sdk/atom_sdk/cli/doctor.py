"""`atom doctor`: what is wrong with this client or its installation, and what to do."""

from __future__ import annotations

import sys

import click

from atom_sdk.cli.context import Context, pass_context


@click.command()
@pass_context
def doctor(context: Context) -> int:
    """Look at configuration, server, token, object store, disk and machine; say what to do.

    Exit code 1 if anything is an error; warnings leave 0. Administrators of the installation see
    the server's health, too. On a server's machine: python -m atom.dev doctor.
    """
    # Here and not above: it looks at much that no other command needs.
    from atom_sdk.doctor import checks
    from atom_sdk.doctor.client import ClientDoctor

    seen: list[checks.Check] = []
    for check in ClientDoctor(context.project).checks():
        seen.append(check)
        if not context.as_json:
            # At once: a server that does not answer takes its time.
            sys.stdout.write("".join(f"{line}\n" for line in checks.lines([check])))
            sys.stdout.flush()
    if context.as_json:
        context.emit(checks.as_json(seen))
    return checks.exit_code(seen)
