"""Options of commands that may meet conflicts: whose side counts, for all or for single ones."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorated = Callable[..., Any]
Resolution = dict[str, str]
# The other members of a conflict in a preview are for the reader.
_NAMES = ("path", "layer", "field", "take")


def commit_options(command: Decorated) -> Decorated:
    """Add `--message` and the choices of side to a command, which is given them as `settling`."""

    @functools.wraps(command)
    def settled(
        *args: Any,
        on_conflict: str | None,
        takes: tuple[Resolution, ...],
        resolutions: list[Resolution] | None,
        **options: Any,
    ) -> Any:
        settling: dict[str, Any] = {"on_conflict": on_conflict or "fail"}
        if named := [*takes, *(resolutions or ())]:
            settling["resolutions"] = named
        return command(*args, settling=settling, **options)

    options = (
        click.option("-m", "--message", default="", help="Why; a sentence is made if left."),
        click.option(
            "--ours", "on_conflict", flag_value="ours",
            help="Where both changed, keep the branch's.",
        ),
        click.option(
            "--theirs", "on_conflict", flag_value="theirs",
            help="Where both changed, take the other's.",
        ),
        click.option(
            "--take", "takes", multiple=True, metavar="SIDE:PATH", callback=_takes,
            help="Where both changed PATH or its labels, take ours or theirs. May be repeated.",
        ),
        click.option(
            "--resolutions", callback=_resolutions,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="A JSON list of conflicts, as --preview --json tells them, each with a member "
            "'take': ours or theirs.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        settled = option(settled)
    return settled


def _takes(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> list[Resolution]:
    found = []
    for text in given:
        side, colon, path = text.partition(":")
        if side not in {"ours", "theirs"} or not colon or not path:
            raise click.BadParameter(f"Write ours:PATH or theirs:PATH instead of {text!r}.")
        found.append({"path": path, "take": side})
    return found


def _resolutions(
    _context: click.Context, _option: click.Parameter, given: Path | None
) -> list[Resolution] | None:
    if given is None:
        return None
    try:
        rows = json.loads(given.read_bytes())
    except ValueError as error:
        raise click.BadParameter(f"The file is not JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise click.BadParameter("The file must hold a JSON list of objects.")
    for row in rows:
        if not {"path", "take"} <= row.keys():
            shown = json.dumps(row, ensure_ascii=False)[:100]
            raise click.BadParameter(f"Each object needs 'path' and 'take', which misses: {shown}")
    return [{name: row[name] for name in _NAMES if name in row} for row in rows]
