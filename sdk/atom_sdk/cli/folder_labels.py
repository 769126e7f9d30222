"""Labels from class folders: `atom data folder-labels`, and the hint after a push without them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from atom_sdk.amounts import first_named
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import Bars, path_text
from atom_sdk.client.refs import parse_ref

if TYPE_CHECKING:
    from atom_sdk.client.push.push import PushResult

# The folders of a larger push are not looked at again.
MAX_FILES = 200_000


@click.command(name="folder-labels")
@click.argument("dataset")
@click.option("-m", "--message", default="", help="Why the labels are taken.")
@pass_context
def folder_labels(context: Context, dataset: str, message: str) -> None:
    """Label the files of DATASET[@branch] by their folders in a new version; no bytes are sent.

    The last folder above a file is its label: circle/1.png becomes circle. Labels that people gave
    stay.
    """
    with Bars(context.err, not context.as_json) as bars:
        version = context.client.datasets.label_by_folder(dataset, message, bars)
    name = parse_ref(dataset).dataset
    context.emit(version, lambda out: out.print(f"{name}@{version['ref']} has these labels."))


def print_class_folders(context: Context, folder: Path, result: PushResult) -> None:
    """Say that folders look like classes, where no file of the version has a label."""
    is_labelled = any(layer["kind"] == "classification" for layer in result.version["layers"])
    if is_labelled or result.unchanged or result.files_total > MAX_FILES:
        return
    from atom_sdk.manifests.layers.class_folders import folder_shape

    files = (path for path in folder.rglob("*") if path.is_file())
    classes = folder_shape(path.relative_to(folder).as_posix() for path in files).classes
    if classes:
        names = first_named([path_text(name) for name in classes])
        text = (
            f"{len(classes)} folders look like classes ({names}), but no file has a label. Take "
            f"the labels with: atom data folder-labels {result.dataset}"
        )
        context.err.print(text, markup=False, highlight=False)
