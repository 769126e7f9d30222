"""`atom data diff`: files, labels and objects that differ between two versions."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import path_text
from atom_sdk.client.refs import parse_ref

MARKS = {"added": "+", "removed": "-", "changed": "~", "renamed": ">", "labels_changed": "#"}
_COUNTED = ("added", "removed", "changed")


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("-v", "--verbose", is_flag=True, help="Name the objects that differ, 100 a file.")
@pass_context
def diff(context: Context, old: str, new: str, *, verbose: bool) -> None:
    """Compare two versions: atom data diff digits@v1 digits@v2.

    Marks: + added, - removed, ~ changed, > renamed, # other labels or objects only.
    """
    if parse_ref(old).dataset != parse_ref(new).dataset:
        raise click.UsageError("Both versions must be of one dataset.")
    answer = context.client.datasets.diff(old, new)
    context.emit(answer, lambda out: _print_diff(out, answer, verbose=verbose))


def _print_diff(out: Console, answer: dict[str, Any], *, verbose: bool) -> None:
    summary = answer["summary"]
    out.print(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in summary.items()))
    # A server from before they were counted tells nothing of objects.
    objects = answer.get("objects")
    if objects and any(objects.values()):
        out.print(f"objects: {', '.join(f'{objects[name]} {name}' for name in _COUNTED)}")
    for row in answer["results"]:
        source = f"{path_text(row['old_path'])} → " if row.get("old_path") else ""
        path = path_text(row["path"])
        _line(out, f"{MARKS.get(row['kind'], '?')} {source}{path}{_relabelled(row)}{_counts(row)}")
        if verbose:
            _print_objects(out, row.get("objects"))
    if answer["next"]:
        out.print(f"… and {answer['total'] - len(answer['results'])} more")


def _line(out: Console, text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def _relabelled(row: dict[str, Any]) -> str:
    """Return which label of a file became which, where both sides have the file."""
    old, new = row.get("old"), row.get("new")
    if not old or not new or old["label"] == new["label"]:
        return ""
    before, after = (
        path_text(side["label"]) if side["label"] else "no label" for side in (old, new)
    )
    return f"  ({before} → {after})"


def _counts(row: dict[str, Any]) -> str:
    """Return how many objects of a file differ, by mark."""
    objects = row.get("objects")
    if not objects:
        return ""
    return "  objects " + " ".join(f"{MARKS[name]}{objects[name]}" for name in _COUNTED)


def _print_objects(out: Console, objects: dict[str, Any] | None) -> None:
    if not objects:
        return
    for each in objects["changes"]:
        fields = f"  ({', '.join(each['fields'])})" if each["fields"] else ""
        # A server from before names ids alone.
        names = [path_text(each[name]) for name in ("label", "kind") if name in each]
        _line(out, " ".join([f"    {MARKS[each['change']]}", *names, each["id"]]) + fields)
    left = sum(objects[name] for name in _COUNTED) - len(objects["changes"])
    if left:
        out.print(f"    … and {left} more objects of this file")
