"""`atom model …`: the model registry."""

from __future__ import annotations

from pathlib import Path

import click

from atom_sdk.amounts import size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.group()
def model() -> None:
    """Register, name and download models."""


@model.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the models."""
    rows = list(context.client.models.list())
    cells = [
        (
            r["name"],
            (r.get("latest") or {}).get("number", "–"),
            ", ".join(f"{a['name']}→{a['version']}" for a in r.get("aliases", [])),
            r["created_at"][:16],
        )
        for r in rows
    ]
    context.emit(
        rows, lambda out: print_table(out, ("model", "latest", "aliases", "created"), cells)
    )


@model.command()
@click.argument("name")
@pass_context
def show(context: Context, name: str) -> None:
    """Show the versions of a model."""
    rows = list(context.client.models.versions(name))
    cells = [
        (
            r["number"],
            r["digest"][:12],
            size_text(r["size_bytes"]),
            ", ".join(a if isinstance(a, str) else a["name"] for a in r.get("aliases", [])),
            r["created_at"][:16],
        )
        for r in rows
    ]
    columns = ("version", "digest", "size", "aliases", "created")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@model.command()
@click.argument("name")
@click.argument("run")
@click.option("--path", "artifact_path", default="model/", show_default=True)
@click.option("-m", "--description", default="")
@pass_context
def register(context: Context, name: str, run: str, artifact_path: str, description: str) -> None:
    """Make a version of NAME from the files that RUN left."""
    run_id = context.client.runs.resolve(run)
    version = context.client.models.register(name, run_id, artifact_path, description)
    context.emit(version, lambda out: out.print(f"{name} version {version['number']}"))


@model.command()
@click.argument("name")
@click.argument("alias_name", metavar="ALIAS")
@click.argument("number", type=int)
@pass_context
def alias(context: Context, name: str, alias_name: str, number: int) -> None:
    """Point ALIAS at version NUMBER of NAME."""
    answer = context.client.models.alias(name, alias_name, number)
    context.emit(answer, lambda out: out.print(f"{name}@{alias_name} → version {number}"))


@model.command()
@click.argument("name")
@click.argument("version")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@pass_context
def download(context: Context, name: str, version: str, folder: Path) -> None:
    """Write the files of VERSION (a number or an alias) below FOLDER, verified."""
    paths = [str(path) for path in context.client.models.download(name, version, folder)]
    context.emit(paths, lambda out: out.print("\n".join(paths), markup=False))
