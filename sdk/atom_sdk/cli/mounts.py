"""`atom mount` and `atom unmount`: a version as a folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import Bars, path_text, print_table
from atom_sdk.client.config import cache_path
from atom_sdk.mount.names import WAYS

_WORDS = {
    "erofs": "the kernel reads the packs as they are (EROFS)",
    "loop": "the kernel reads the packs through loop devices (EROFS)",
    "hardlinks": "hard links to files that were unpacked in the cache",
    "fuse": "a process of this user reads the packs (FUSE)",
}


@click.command()
@click.argument("ref", required=False)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--how", type=click.Choice(list(WAYS)), help="Only this way; the best by default.")
@click.option(
    "--direct-io",
    is_flag=True,
    help="Read packs past the page cache: for data that is larger than the memory.",
)
@click.option("--verify-all", is_flag=True, help="Check every file, not one of each pack.")
@click.option("--unsafe-links", is_flag=True, help="Show links that lead out of the version, too.")
@pass_context
def mount(
    context: Context,
    ref: str | None,
    folder: Path | None,
    how: str | None,
    direct_io: bool,
    verify_all: bool,
    unsafe_links: bool,
) -> None:
    """Show the files of REF (digits@v3) as the read-only folder FOLDER.

    Without arguments: list what is mounted. The first way that works is taken: erofs, loop,
    hardlinks, fuse. FOLDER must be empty or new; 'atom unmount FOLDER' takes it away again.
    """
    if ref is None:
        _list(context)
        return
    if folder is None:
        raise click.UsageError("Give the FOLDER, too: atom mount digits@v3 ./digits")
    from atom_sdk.mount import MountOptions

    options = MountOptions(how, direct_io, verify_all, unsafe_links=unsafe_links)
    with Bars(context.err, not context.as_json) as bars:
        record = context.client.datasets.mount(ref, folder, options, bars)

    def human(out: Console) -> None:
        shown = counted(record.files, "file")
        if record.links:
            shown += f" and {counted(record.links, 'link')}"
        size = size_text(record.size_bytes)
        out.print(f"{record.reference} on {record.folder}: {shown}, {size}")
        out.print(f"How: {_WORDS[record.how]}; {counted(record.verified_files, 'file')} verified.")
        for name, reason in record.skipped:
            out.print(f"  not {name}: {reason}", markup=False)
        if record.links_left_out:
            links = counted(record.links_left_out, "link")
            out.print(f"Not shown: {links} out of the version. To show them: --unsafe-links.")

    context.emit(asdict(record), human)


def _list(context: Context) -> None:
    from atom_sdk.mount import mounts

    found = mounts(cache_path())
    rows = [{**asdict(record), "is_there": there} for record, there in found]
    cells = [
        (
            path_text(record.folder),
            record.reference,
            record.how,
            record.files,
            size_text(record.size_bytes),
            record.mounted_at[:16],
            record.state if there else "gone",
        )
        for record, there in found
    ]
    columns = ("folder", "version", "how", "files", "size", "since", "state")

    def human(out: Console) -> None:
        if cells:
            print_table(out, columns, cells)
        else:
            out.print("Nothing is mounted. Mount a version: atom mount digits@v3 ./digits")

    context.emit(rows, human)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@pass_context
def unmount(context: Context, folder: Path) -> None:
    """Take away the folder that 'atom mount' made, and nothing else."""
    from atom_sdk.mount import unmount as take_away

    record, left = take_away(folder, cache_path())

    def human(out: Console) -> None:
        out.print(f"{record.folder} does not show {record.reference} any more.")
        for path in left:
            out.print(f"  left alone, not ours: {path_text(path)}", markup=False)

    context.emit({"folder": record.folder, "reference": record.reference, "left": left}, human)


COMMANDS = (mount, unmount)
