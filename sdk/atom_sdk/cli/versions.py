"""`atom data branch|tag|merge|revert|pick`: what git can do, with versions of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.conflict_options import commit_options
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import Bars, path_text, print_table, without_zeros
from atom_sdk.client.errors import MergeConflictError
from atom_sdk.client.operations import Operations
from atom_sdk.client.refs import parse_ref

_MOVED = {
    "voc_corrected": "boxes of VOC counted from 1 were corrected",
    "superseded": "objects of the layer stay, those of attributes are removed",
    "cut": "an earlier import kept only the counts of its objects; import it again",
    "left": "objects that cannot be moved stay in the attributes",
}
_SHOWN = 20


def branch_of(text: str, dataset: str) -> str:
    """Return the branch that `main` or `digits@main` means."""
    if "@" not in text:
        return text
    ref = parse_ref(text)
    if ref.dataset != dataset:
        raise click.UsageError(f"Both must be of one dataset: {dataset} and {ref.dataset}.")
    return ref.ref


def run(context: Context, work: Callable[[], dict[str, Any]], dataset: str) -> None:
    """Carry out an operation and print its version; conflicts are listed before they fail it."""
    try:
        request = work()
    except MergeConflictError as error:
        if not context.as_json:
            print_conflicts(context.err, error.conflicts, error.total)
        raise
    context.emit(request, lambda out: _print_version(out, dataset, request))


def run_operation(
    context: Context, work: Callable[[Operations], dict[str, Any]], dataset: str
) -> None:
    """Do what `run` does, showing how far the server is; Ctrl-C cancels the operation."""

    def watched() -> dict[str, Any]:
        with Bars(context.err, not context.as_json) as bars:
            return work(context.client.operations.watched(bars))

    run(context, watched, dataset)


def _print_version(out: Console, dataset: str, request: dict[str, Any]) -> None:
    version = request["version"]
    name = f"{dataset}@{version['ref']}"
    if request["unchanged"]:
        out.print(f"{name} has all of it already; nothing was done.")
        return
    counts = f"+{version['added']} -{version['removed']} ~{version['changed']}"
    title = version["message"].split("\n")[0]
    out.print(f"{name}  {counts}  {title}", markup=False)
    out.print(f"content {version['content_digest']}")
    for line in _moved_objects((version.get("provenance") or {}).get("moved_objects", {})):
        out.print(line, markup=False)


def _moved_objects(counts: dict[str, Any]) -> Iterator[str]:
    """Yield what a move of objects did, and what it left."""
    if not counts:
        return
    objects, pictures = (counts.get(name, 0) for name in ("objects", "pictures"))
    yield f"{counted(objects, 'object')} of {counted(pictures, 'picture')} moved to their layer"
    for name, text in _MOVED.items():
        if count := counts.get(name):
            yield f"{counted(count, 'picture')}: {text}"
    if first := counts.get("first"):
        yield f"not moved: {', '.join(map(path_text, first))}"


def print_conflicts(out: Console, conflicts: list[dict[str, Any]], total: int) -> None:
    """Print what both sides changed, one a line."""
    for row in conflicts[:_SHOWN]:
        named = ": ".join(filter(None, (row["layer"], row["field"])))
        what = f" ({named})" if named else ""
        sides = f"here {row['ours']}, there {row['theirs']}"
        if named and (row["our_value"] or row["their_value"]):
            sides = f"here {row['our_value'] or '-'}, there {row['their_value'] or '-'}"
        out.print(f"! {path_text(row['path'])}{what}: {sides}", markup=False)
    if total > _SHOWN:
        out.print(f"… {total} in all")


@click.command()
@click.argument("dataset")
@click.argument("name", required=False)
@click.option("--at", default="main", show_default=True, help="The version that it begins at.")
@click.option("--delete", is_flag=True, help="Remove the branch; its versions stay.")
@pass_context
def branch(context: Context, dataset: str, name: str | None, at: str, delete: bool) -> None:
    """List the branches and tags of DATASET; or make the branch NAME, or delete it."""
    operations = context.client.operations
    if name is None:
        if delete:
            raise click.UsageError("Say which branch to delete.")
        rows = {"branches": operations.branches(dataset), "tags": operations.tags(dataset)}
        context.emit(rows, lambda out: _print_refs(out, rows))
    elif delete:
        gone = operations.delete_branch(dataset, name)
        said = f"Deleted {name}, which was at {gone['head']['ref']}. To have it again:"
        again = f"atom data branch {dataset} {name} --at {gone['head']['commit'][:16]}"
        context.emit(gone, lambda out: out.print(f"{said} {again}"))
    else:
        made = operations.create_branch(dataset, name, parse_ref(f"{dataset}@{at}").ref)
        context.emit(made, lambda out: out.print(f"{dataset}@{name} is at {made['head']['ref']}."))


def _print_refs(out: Console, rows: dict[str, list[dict[str, Any]]]) -> None:
    refs = [("branch", row, row["head"]) for row in rows["branches"]]
    refs += [("tag", row, row["version"]) for row in rows["tags"]]
    cells = [
        (
            kind,
            row["name"],
            at["ref"],
            _distance(row),
            at["file_count"],
            at.get("link_count", 0),
            at["message"].split("\n")[0],
        )
        if at
        else (kind, row["name"], "–", "", 0, 0, "")
        for kind, row, at in refs
    ]
    columns = ("kind", "name", "at", "from main", "files", "links", "message")
    print_table(out, *without_zeros(columns, cells, "links"))


def _distance(row: dict[str, Any]) -> str:
    """How many versions the branch has that main has not, and the other way round."""
    if row["name"] == "main" or row.get("ahead") is None:
        return ""
    return f"+{row['ahead']} -{row['behind']}"


@click.command()
@click.argument("name")
@click.argument("ref")
@click.option("--delete", is_flag=True, help="Take the tag away; for administrators.")
@pass_context
def tag(context: Context, name: str, ref: str, delete: bool) -> None:
    """Give REF (digits@v3) the name NAME, which never moves."""
    if delete:
        context.client.operations.delete_tag(ref, name)
        context.emit({"name": name, "deleted": True}, lambda out: out.print(f"Deleted {name}."))
        return
    made = context.client.operations.create_tag(ref, name)
    dataset = parse_ref(ref).dataset
    context.emit(
        made, lambda out: out.print(f"{dataset}@{name} is {dataset}@{made['version']['ref']}.")
    )


@click.command()
@click.argument("source")
@click.argument("into", default="main")
@commit_options
@click.option("--preview", is_flag=True, help="Only say what would change and what conflicts.")
@pass_context
def merge(
    context: Context, source: str, into: str, message: str, preview: bool, settling: dict[str, Any]
) -> None:
    """Merge SOURCE (digits@fix) into the branch INTO.

    Files merge by path, labels by file and field. Conflicts fail the merge with exit code 4 and are
    listed, unless --take or --resolutions say whose side counts there, or --ours or --theirs for
    all others. Ctrl-C cancels it on the server.
    """
    dataset = parse_ref(source).dataset
    options = {"message": message, **settling}
    target = branch_of(into, dataset)
    if preview:
        found = context.client.operations.preview_merge(source, target, **options)
        context.emit(found, lambda out: _print_preview(out, found))
        return
    run_operation(context, lambda found: found.merge(source, target, **options), dataset)


def _print_preview(out: Console, found: dict[str, Any]) -> None:
    if found["contained"]:
        out.print(f"{found['head']['ref']} has all of it already.")
        return
    counts = f"+{found['added']} -{found['removed']} ~{found['changed']}"
    labels = f", {counted(found['labels_changed'], 'label')}" if found["labels_changed"] else ""
    settled = f", {found['settled']} settled" if found.get("settled") else ""
    conflicts = counted(found["conflicts_total"], "conflict") + settled
    out.print(f"On {found['head']['ref']}: {counts}{labels}, {conflicts}")
    print_conflicts(out, found["conflicts"], found["conflicts_total"])


@click.command()
@click.argument("ref")
@click.option("--onto", default="main", show_default=True, help="The branch to undo it on.")
@commit_options
@pass_context
def revert(context: Context, ref: str, onto: str, message: str, settling: dict[str, Any]) -> None:
    """Undo what the version REF (digits@v3) changed, as a new version."""
    dataset = parse_ref(ref).dataset
    options = {"message": message, **settling}
    target = branch_of(onto, dataset)
    run_operation(context, lambda found: found.revert(ref, target, **options), dataset)


@click.command()
@click.argument("ref")
@click.argument("paths", nargs=-1)
@click.option("--onto", default="main", show_default=True, help="The branch to bring them to.")
@click.option("--changes", is_flag=True, help="Only what REF itself changed, in PATHS or in all.")
@commit_options
@pass_context
def pick(
    context: Context,
    ref: str,
    paths: tuple[str, ...],
    onto: str,
    changes: bool,
    message: str,
    settling: dict[str, Any],
) -> None:
    """Make PATHS of a branch what they are in REF (digits@fix).

    A path is a file or a folder. With --changes, what REF changed since its parent is repeated.
    """
    if not paths and not changes:
        raise click.UsageError("Give at least one PATH, or --changes.")
    dataset = parse_ref(ref).dataset
    target = branch_of(onto, dataset)
    options = {"message": message, "changes_only": changes, **settling}
    run_operation(context, lambda found: found.pick(ref, paths, target, **options), dataset)


COMMANDS = (branch, tag, merge, revert, pick)
