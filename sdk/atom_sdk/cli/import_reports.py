"""An import's report on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.render import path_text, print_table

if TYPE_CHECKING:
    from atom_sdk.importers import Report
    from atom_sdk.importers.errors import ImportFailedError

_SHOWN_LABELS = 20
_SHOWN_PROBLEMS = 10
_SHOWN_CLASSES = 10


def print_look(out: Console, report: Report, refusal: ImportFailedError | None) -> None:
    """Say what an import would take and lose, and whether it would be refused."""
    out.print(f"{report.source} is {report.importer}: {report.why}.", markup=False)
    _print_counts(out, report)
    rows = [
        (path_text(row["path"]), size_text(row["size_bytes"]), row["label"], row["split"])
        for row in report.first
    ]
    print_table(out, ("first files", "size", "label", "split"), rows)
    _print_losses(out, report)
    _print_problems(out, report)
    if refusal is not None:
        out.print(f"This import would be refused: {path_text(str(refusal))}", markup=False)
        out.print(f"  {refusal.hint}", markup=False)


def print_import(out: Console, result: Any) -> None:
    """Say what was imported and what was lost."""
    push, report = result.push, result.report
    ref = f"{push.dataset}@{push.version['ref']}"
    if push.unchanged:
        out.print(f"{ref} has all of it already; nothing was sent.")
    else:
        files, packs = counted(push.files_total, "file"), counted(push.packs_sent, "pack")
        sent = f"{push.files_sent} sent ({size_text(push.bytes_sent)} in {packs})"
        out.print(f"{ref}  {files} imported as {report.importer}, {sent}")
    _print_counts(out, report)
    _print_losses(out, report)
    _print_problems(out, report)


def _print_counts(out: Console, report: Report) -> None:
    parts = [f"{counted(report.files, 'file')}, {size_text(report.size_bytes)}"]
    if report.links:
        parts.append(counted(report.links, "link"))
    if report.objects:
        parts.append(counted(report.objects, "object"))
    if report.labels:
        named = report.labels.most_common(_SHOWN_LABELS)
        more = len(report.labels) - len(named)
        text = ", ".join(f"{path_text(label)} {count}" for label, count in named)
        labels = counted(len(report.labels), "label")
        parts.append(f"{labels} ({text}{f' and {more} more' if more else ''})")
    if report.splits:
        parts.append(", ".join(f"{name} {count}" for name, count in sorted(report.splits.items())))
    out.print("; ".join(parts), markup=False)


def _print_losses(out: Console, report: Report) -> None:
    """Print effects, shares of the whole and of classes, near misses, and gaps of the lists."""
    from atom_sdk.importers.effects import coverage, effects, loss_text

    lines = effects(report)
    for line in lines:
        out.print(path_text(f"{line}."), markup=False)
    if lost := [one for one in report.losses() if one.lost]:
        classes = report.class_losses()
        named = ", ".join(
            f"{path_text(one.name or '')} {one.lost} of {one.source}"
            for one in classes[:_SHOWN_CLASSES]
        )
        more = len(classes) - _SHOWN_CLASSES
        ending = f" and {more} more" if more > 0 else ""
        out.print(f"  {loss_text(lost)}; by class: {named}{ending}", markup=False)
    for line in coverage(report):
        out.print(path_text(f"{line}."), markup=False)


def _print_problems(out: Console, report: Report) -> None:
    for note in report.notes:
        out.print(f"{note}.", markup=False)
    if report.litter:
        out.print(f"{counted(report.litter, 'file')} of operating systems ignored.")
    for reason, count in report.skipped.most_common():
        out.print(f"left out: {count} because {reason}", markup=False)
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        out.print(f"  {path_text(problem.subject)}: {problem.reason}", markup=False)
