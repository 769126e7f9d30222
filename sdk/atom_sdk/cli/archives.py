"""`atom data archive …`, `copy-to`: datasets with their history, in a folder or to a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.options import not_blank
from atom_sdk.cli.render import Bars
from atom_sdk.client import Client

if TYPE_CHECKING:
    from atom_sdk.archive import CheckReport
    from atom_sdk.client.archives.external_objects import BroughtIn, SourceChoice
    from atom_sdk.client.archives.load import LoadResult
    from atom_sdk.client.archives.save import SaveResult

_folder = click.Path(file_okay=False, path_type=Path)
_there = click.Path(exists=True, file_okay=False, path_type=Path)
_refs = click.option(
    "--ref",
    "refs",
    multiple=True,
    metavar="REF",
    help="Only the files of this version; repeatable.",
)
_with_sources = click.option(
    "--with-sources",
    is_flag=True,
    help="Bring in files that stay at a source: read, checked, packed. Their versions get other "
    "digests.",
)
_leave_out = click.option(
    "--leave-out-changed",
    is_flag=True,
    help="Versions whose files changed at their source come without files, not a refusal.",
)


@click.group()
def archive() -> None:
    """Save datasets with their history into a folder, check it offline, load it elsewhere."""


@archive.command()
@click.argument("dataset")
@click.argument("folder", type=_folder)
@_refs
@click.option("--all-history", is_flag=True, help="The files of all versions (the default).")
@click.option("--as", "name", metavar="NAME", callback=not_blank, help="Name in the folder.")
@_with_sources
@_leave_out
@pass_context
def save(
    context: Context,
    dataset: str,
    folder: Path,
    refs: tuple[str, ...],
    all_history: bool,
    name: str | None,
    with_sources: bool,
    leave_out_changed: bool,
) -> None:
    """Save DATASET with its whole history into FOLDER.

    Files of the archive that are right are skipped, so a save that was cut off goes on, and a later
    one adds new files. Several datasets can share a folder and its packs.
    """
    from atom_sdk.client.archives.save import SaveOptions

    if refs and all_history:
        raise click.UsageError("Give either --ref or --all-history.")
    with Bars(context.err, not context.as_json) as bars:
        options = SaveOptions(refs, name, _choice(with_sources, leave_out_changed))
        result = context.client.archives.save(dataset, folder, options, bars)
    context.emit(result.as_json(), lambda out: _print_save(out, folder, result))


def _print_save(out: Console, folder: Path, result: SaveResult) -> None:
    out.print(
        f"{result.dataset} in {folder}: {_versions(result)}, "
        f"{result.versions_with_files} with their files; {result.objects_written} of "
        f"{counted(result.objects, 'object')} written ({size_text(result.bytes_written)})"
    )
    _print_brought_in(out, result.brought_in)


def _versions(result: SaveResult | LoadResult) -> str:
    """Return both numbers: `atom data log` lists the versions of one branch."""
    return (
        f"{counted(result.versions, 'version')} on {counted(result.branches, 'branch', 'branches')}"
    )


def _print_brought_in(out: Console, brought_in: BroughtIn | None) -> None:
    if brought_in is None:
        return
    if brought_in.files:
        size = size_text(brought_in.bytes)
        out.print(
            f"{counted(brought_in.files, 'file')} ({size}) brought in from the source; versions "
            "with such files, and later ones, have other digests now."
        )
    for one in brought_in.left_out:
        named = ", ".join(map(repr, one["paths"]))
        said = f"{one['version']} is without files: {one['files']} changed at the source: {named}"
        out.print(said, markup=False)


def _choice(with_sources: bool, leave_out_changed: bool) -> SourceChoice:
    from atom_sdk.client.archives.external_objects import SourceChoice

    if leave_out_changed and not with_sources:
        raise click.UsageError("--leave-out-changed goes with --with-sources.")
    return SourceChoice(with_sources, leave_out_changed)


@archive.command()
@click.argument("folder", type=_there)
@click.argument("dataset", required=False)
@pass_context
def check(context: Context, folder: Path, dataset: str | None) -> int:
    """Verify every byte of FOLDER, offline: of one DATASET, or of all."""
    from atom_sdk.archive import ArchiveFolder, check_archive

    with Bars(context.err, not context.as_json) as bars:
        report = check_archive(ArchiveFolder(folder), dataset, bars)
    context.emit(report.as_json(), lambda out: _print_report(out, report))
    return EXIT_FAILED if report.problems else 0


def _print_report(out: Console, report: CheckReport) -> None:
    for problem in report.problems:
        out.print(f"wrong: {problem}", markup=False)
    names, objects = ", ".join(report.datasets), counted(report.objects, "object")
    found = counted(len(report.problems), "problem") if report.problems else "all of it is right"
    out.print(f"{names}: {objects}, {size_text(report.size_bytes)}; {found}")


@archive.command()
@click.argument("folder", type=_there)
@click.argument("dataset", required=False)
@click.option(
    "--name",
    metavar="NAME",
    callback=not_blank,
    help="Name in this project, if not the saved one.",
)
@pass_context
def load(context: Context, folder: Path, dataset: str | None, name: str | None) -> None:
    """Load a saved DATASET of FOLDER (or its only one) into the project.

    Versions appear when all of it is sent and checked. Packs that the project has are not sent; a
    load that was cut off goes on when it is run again.
    """
    with Bars(context.err, not context.as_json) as bars:
        result = context.client.archives.load(folder, dataset, name, bars)
    context.emit(result.as_json(), lambda out: _print_load(out, result))


def _print_load(out: Console, result: LoadResult) -> None:
    if result.unchanged:
        out.print(f"{result.dataset} has this history already; nothing was changed.")
        return
    newest = f"{result.head['ref']} is the newest on main" if result.head else "main has none"
    out.print(f"{result.dataset}: {_versions(result)}, {newest}")
    _print_brought_in(out, result.brought_in)


@click.command("copy-to")
@click.argument("dataset")
@click.argument("url")
@click.argument("target", metavar="PROJECT[/NAME]")
@click.option(
    "--token-env",
    default="ATOM_TARGET_TOKEN",
    show_default=True,
    metavar="VARIABLE",
    help="Environment variable with the token for URL; your login's, if URL is its server.",
)
@_refs
@_with_sources
@_leave_out
@pass_context
def copy_to(
    context: Context,
    dataset: str,
    url: str,
    target: str,
    token_env: str,
    refs: tuple[str, ...],
    with_sources: bool,
    leave_out_changed: bool,
) -> None:
    """Copy DATASET with its whole history into a project of the Atom at URL.

    The bytes go through this machine and are not kept on it. Versions appear when all of it is
    there and checked; a copy that was cut off goes on when it is run again, and a later one adds
    what is new.
    """
    choice = _choice(with_sources, leave_out_changed)
    project, _, name = target.partition("/")
    if not project or "/" in name:
        raise click.BadParameter("Give PROJECT or PROJECT/NAME.", param_hint="PROJECT[/NAME]")
    with (
        _client_of(context, url.rstrip("/"), token_env, project) as other,
        Bars(context.err, not context.as_json) as bars,
    ):
        result = context.client.archives.copy_to(other, dataset, name or None, refs, bars, choice)
    context.emit(result.as_json(), lambda out: _print_load(out, result))


def _client_of(context: Context, url: str, token_env: str, project: str) -> Client:
    """Return a client of another server; only to our own it gives the login's token."""
    ours = context.client.config
    token = os.environ.get(token_env) or (ours.token if url == ours.url else "")
    if not token:
        said = f"There is no token for {url}: put one into the variable {token_env}."
        raise click.UsageError(said)
    return Client(url, token, project)


COMMANDS: tuple[click.Command, ...] = (archive, copy_to)
