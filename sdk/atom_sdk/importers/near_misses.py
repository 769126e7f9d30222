"""Files that were close to another reading than the one that the import chose.

A person who imports `labels.csv` beside pictures wants the labels; a plain file is a loss. Each
kind of file has an explainer, which says why its format did not take it.
"""

from __future__ import annotations

from collections.abc import Callable

from atom_sdk.importers import csv_rows, hf_folder, parquet_rows
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

Explainer = Callable[[Tree, str], str | None]
_MOST_FILES = 200


EXPLAINERS: dict[str, Explainer] = {
    ".csv": csv_rows.explain,
    ".tsv": csv_rows.explain,
    ".jsonl": hf_folder.explain,
    ".parquet": parquet_rows.explain,
}
"""By suffix: why a file of this kind was not read as annotations, None where it is no near miss."""


def find_near_misses(tree: Tree, report: Report) -> None:
    """Report the files that no reader took, and that look like annotations."""
    seen = 0
    named = {miss.subject for miss in report.near_misses}
    for path in tree.annotation_paths():
        explain = EXPLAINERS.get(_suffix(path))
        if explain is None or path in report.annotations or path in named:
            continue
        seen += 1
        if seen > _MOST_FILES:
            report.note(
                f"only the first {_MOST_FILES} files that may be annotations were looked at"
            )
            return
        if (reason := explain(tree, path)) is not None:
            report.near_miss(path, reason)


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""
