"""`atom data clean`: what is wrong in a version, and removing it."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table

KINDS = (
    "unreadable",
    "too_large",
    "exact_duplicate",
    "near_duplicate",
    "leak",
    "tiny",
    "dark",
    "blurred",
)
# As many as one removal takes.
_AT_ONCE = 10_000


@click.command()
@click.argument("ref")
@click.option("--remove", multiple=True, type=click.Choice(KINDS), help="Remove what is found.")
@click.option("--branch", default="main", show_default=True, help="Where to remove it.")
@click.option("--near-distance", type=click.IntRange(0, 10), help="Bits of 64 that may differ.")
@click.option("--tiny-side-px", type=click.IntRange(0), help="A shorter side below it is tiny.")
@click.option("--dark-bright", type=click.FloatRange(0, 1), help="Darker highlights are dark.")
@click.option("--blur-sharpness", type=click.FloatRange(0), help="Less sharp is blurred.")
@pass_context
def clean(
    context: Context,
    ref: str,
    remove: tuple[str, ...],
    branch: str,
    near_distance: int | None,
    tiny_side_px: int | None,
    dark_bright: float | None,
    blur_sharpness: float | None,
) -> None:
    """Look for what is wrong in REF (digits@v3): duplicates, leaks, unreadable or poor images.

    With --remove, files of these kinds are removed from the branch, as a new version; of
    duplicates and leaks the best one stays. Images that were measured before are not read again.
    """
    cleaning = context.client.cleaning
    asked = {
        "near_distance": near_distance,
        "tiny_side_px": tiny_side_px,
        "dark_bright": dark_bright,
        "blur_sharpness": blur_sharpness,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    report = cleaning.wait(cleaning.start(ref, **given), _Teller(context))
    found = [path for kind in remove for path in cleaning.paths(report, kind)]
    parts = _batches(list(dict.fromkeys(found)))
    versions = [cleaning.remove(report, paths, branch)["version"] for paths in parts]
    result = {"report": report, "versions": versions}
    context.emit(result, lambda out: _print(out, report, versions))


class _Teller:
    """Says on standard error what the report waits for, once for each state."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._told = ""

    def __call__(self, report: dict[str, Any]) -> None:
        """Tell a change of state."""
        if report["state"] != self._told and not self._context.as_json:
            self._told = report["state"]
            run = f" (run {report['run']['number']})" if report["run"] else ""
            self._context.err.print(f"{self._told}{run}")


def _batches(paths: list[str]) -> list[list[str]]:
    return [paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE)]


def _print(out: Console, report: dict[str, Any], versions: list[dict[str, Any]]) -> None:
    name = f"{report['dataset']}@{report['ref']}"
    out.print(f"{name}: {counted(report['image_count'], 'image')}, report {report['id']}")
    rows = [
        (one["kind"].replace("_", " "), one["items"], one["groups"] or "–")
        for one in report["counts"]
    ]
    print_table(out, ("kind", "files", "around"), rows)
    if report["is_partial"]:
        out.print("There are more near duplicates than a report looks at: some are missing.")
    for version in versions:
        out.print(f"{report['dataset']}@{version['ref']}  -{version['removed']}", markup=False)


COMMANDS = (clean,)
