"""Files that were close to another reading than the one that the import chose.

A person who imports `labels.csv` beside pictures wants the labels; a plain file is a loss. Each
kind of file has an explainer, which says why its format did not take it.
"""

from __future__ import annotations

from collections.abc import Callable

from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

Explainer = Callable[[Tree, str], str | None]
_MOST_FILES = 200


def _table(tree: Tree, path: str) -> str | None:
    return "a table was found and not understood: its first line names no column of files"


def _parquet(tree: Tree, path: str) -> str | None:
    return "a Parquet file was found and not read: it has no column with the bytes of pictures"


EXPLAINERS: dict[str, Explainer] = {
    ".csv": _table,
    ".tsv": _table,
    ".parquet": _parquet,
}
"""By suffix: why a file of this kind was not read as annotations, None where it is no near miss."""


def find_near_misses(tree: Tree, report: Report) -> None:
    """Report the files that no reader took, and that look like annotations."""
    seen = 0
    for path in tree.files:
        explain = EXPLAINERS.get(_suffix(path))
        if explain is None or path in report.annotations:
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
