"""`atom data rm|mv|cp|attr|mark|move-objects`: edits on the server, without the bytes."""

from __future__ import annotations

import json
from functools import wraps
from typing import Any

import click

from atom_sdk.cli.conflict_options import Decorated
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.versions import run_operation
from atom_sdk.client.refs import parse_ref

WHERE_HELP = "Only the files that match, e.g. \"label = 'cat' AND size > 1000\"."


Chosen = dict[str, str]


def _edit_options(command: Decorated) -> Decorated:
    """Add --where, --view and --message; the command gets the first two as `chosen`."""

    @click.option("--where", default="", help=WHERE_HELP)
    @click.option("--view", default="", metavar="NAME", help="Only the files of this saved view.")
    @click.option("-m", "--message", default="", help="Why; a sentence is made if left.")
    @wraps(command)
    def edited(*args: Any, where: str, view: str, **kwargs: Any) -> Any:
        return command(*args, chosen={"where": where, "view": view}, **kwargs)

    return edited


def _edit(context: Context, dataset: str, message: str, edit: dict[str, Any]) -> None:
    name = parse_ref(dataset).dataset
    run_operation(context, lambda found: found.edit(dataset, [edit], message=message), name)


def _require_some(paths: tuple[str, ...], chosen: Chosen) -> None:
    if not paths and not any(chosen.values()):
        raise click.UsageError("Give at least one PATH, --where or --view.")


@click.command()
@click.argument("dataset")
@click.argument("paths", nargs=-1)
@_edit_options
@pass_context
def rm(
    context: Context, dataset: str, paths: tuple[str, ...], chosen: Chosen, message: str
) -> None:
    """Remove files and folders from DATASET[@branch]; earlier versions keep them."""
    _require_some(paths, chosen)
    _edit(context, dataset, message, {"op": "remove", "paths": paths, **chosen})


@click.command()
@click.argument("dataset")
@click.argument("paths", nargs=-1, required=True)
@click.argument("to")
@_edit_options
@pass_context
def mv(
    context: Context, dataset: str, paths: tuple[str, ...], to: str, chosen: Chosen, message: str
) -> None:
    """Move files and folders of DATASET[@branch]; labels and splits go along.

    TO is the new path; a folder if it ends with a slash. `cats/` means what is in that folder.
    """
    _edit(context, dataset, message, {"op": "move", "paths": paths, "to": to, **chosen})


@click.command()
@click.argument("dataset")
@click.argument("paths", nargs=-1, required=True)
@click.argument("to")
@click.option("--from", "source", default="", metavar="REF", help="Take them from this version.")
@_edit_options
@pass_context
def cp(
    context: Context,
    dataset: str,
    paths: tuple[str, ...],
    to: str,
    source: str,
    chosen: Chosen,
    message: str,
) -> None:
    """Add files to DATASET[@branch] from another path, version or dataset of the project."""
    edit = {"op": "copy", "paths": paths, "to": to, "source": source, **chosen}
    _edit(context, dataset, message, edit)


@click.command()
@click.argument("dataset")
@click.argument("paths", nargs=-1)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="JSON or plain text.")
@click.option("--unset", multiple=True, metavar="NAME", help="Remove an attribute.")
@_edit_options
@pass_context
def attr(
    context: Context,
    dataset: str,
    paths: tuple[str, ...],
    settings: tuple[str, ...],
    unset: tuple[str, ...],
    chosen: Chosen,
    message: str,
) -> None:
    """Set attributes of files of DATASET[@branch]; others stay as they are."""
    patch: dict[str, Any] = dict.fromkeys(unset)
    patch |= dict(_setting(text) for text in settings)
    if not patch:
        raise click.UsageError("Give --set or --unset.")
    _require_some(paths, chosen)
    edit = {"op": "set", "paths": paths, "attributes": patch, **chosen}
    _edit(context, dataset, message, edit)


@click.command()
@click.argument("dataset")
@click.argument("paths", nargs=-1)
@click.option("--label", help="The class that the files show; '' takes their labels away.")
@click.option("--split", type=click.Choice(["train", "val", "test", ""]), help="'' for none.")
@_edit_options
@pass_context
def mark(
    context: Context,
    dataset: str,
    paths: tuple[str, ...],
    label: str | None,
    split: str | None,
    chosen: Chosen,
    message: str,
) -> None:
    """Set the label or the split of files of DATASET[@branch], without drawing anything.

    \b
    atom data mark pets cats/ --label cat
    atom data mark pets --where "attributes.camera = 'north'" --split test
    """  # noqa: D301  # click wants the character itself before lines that it keeps apart
    if (label is None) == (split is None):
        raise click.UsageError("Give --label or --split, one of the two.")
    _require_some(paths, chosen)
    op, value = ("label", label) if label is not None else ("split", split)
    _edit(context, dataset, message, {"op": op, "paths": paths, "value": value, **chosen})


@click.command("move-objects")
@click.argument("dataset")
@click.argument("paths", nargs=-1)
@click.option(
    "--voc-origin",
    type=click.Choice(["0", "1"]),
    default=None,
    help="Whether boxes of VOC count pixels from 0 or 1; the dataset's imports say it if left.",
)
@_edit_options
@pass_context
def move_objects(
    context: Context,
    dataset: str,
    paths: tuple[str, ...],
    voc_origin: str | None,
    chosen: Chosen,
    message: str,
) -> None:
    """Move objects that imports wrote into attributes to the layer of objects, as one version.

    Attributes named objects, object_counts and box_unit go; pictures whose objects cannot be moved
    keep theirs. Without PATHS, of all files of DATASET[@branch].
    """
    edit = {"op": "move_objects", "paths": paths or ("/",), "value": voc_origin or "", **chosen}
    _edit(context, dataset, message, edit)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r}: write NAME=VALUE", param_hint="--set")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


COMMANDS = (rm, mv, cp, attr, mark, move_objects)
