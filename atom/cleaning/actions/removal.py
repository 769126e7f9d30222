"""Removing findings from a branch, as one commit that names the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom.accounts.models import User
from atom.cleaning.errors import FindingsOutdated, NotAFinding
from atom.cleaning.models import CleaningReport
from atom.cleaning.reads import findings_of
from atom.datasets.catalog.reads import open_root
from atom.datasets.catalog.stores import version_store
from atom.datasets.errors import BranchEmpty, RefNotFound
from atom.datasets.models import CommitRequest, Version
from atom.datasets.operations.actions.operations import NewOperation, request_operation
from atom.datasets.operations.engines.operations import EditArguments, EditStepArguments, Source
from atom.datasets.operations.engines.selections import changed_between
from atom.datasets.sentences import branch_unknown
from atom_sdk.amounts import counted, first_named
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Removal:
    """Which files to remove from which branch, and why."""

    branch: str
    paths: Sequence[str]
    message: str = ""


def request_removal(report: CleaningReport, removal: Removal, user: User) -> CommitRequest:
    """Ask a worker to remove files that the report found and that are still the same.

    The branch may move on before the worker comes: it looks at the files once more.
    Raises ReportNotReady, NotAFinding, FindingsOutdated, RefNotFound, BranchEmpty.
    """
    found = pc.unique(findings_of(report)["path"])
    paths = sorted(set(removal.paths))
    is_found = pc.is_in(pa.array(paths, pa.string()), value_set=found).to_pylist()
    if strangers := [path for path, yes in zip(paths, is_found, strict=True) if not yes]:
        raise NotAFinding(
            errors={
                "paths": [
                    Sentence(
                        "cleaning.not_a_finding",
                        "The report did not find {paths}.",
                        paths=first_named(strangers),
                    )
                ]
            }
        )
    head = _head(report, removal.branch)
    _require_unchanged(report.version, head, paths)
    many = counted(len(paths), "file")
    message = f"Remove {many} that a cleaning report of {report.version.ref} found"
    arguments = EditArguments(
        (EditStepArguments("remove", tuple(paths)),),
        {"cleaning_report": str(report.pk)},
        Source(report.version.ref, report.version.commit),
    )
    operation = NewOperation("edit", removal.branch, arguments, message=removal.message or message)
    return request_operation(report.version.dataset, operation, user)


def _head(report: CleaningReport, name: str) -> Version:
    dataset = report.version.dataset
    branch = dataset.branches.select_related("head").filter(name=name).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, name))
    if branch.head is None:
        raise BranchEmpty(
            Sentence(
                "cleaning.branch_has_no_version",
                "The branch {branch} has no version yet.",
                branch=name,
            )
        )
    branch.head.dataset = dataset
    return branch.head


def _require_unchanged(seen: Version, head: Version, paths: list[str]) -> None:
    """Raise FindingsOutdated unless the head has every file as it was seen."""
    if seen.content_digest == head.content_digest:
        return
    store = version_store(seen.dataset.project).store
    others, gone = changed_between(open_root(seen), open_root(head), paths, store)
    if changed := sorted(others + gone):
        raise FindingsOutdated(
            Sentence(
                "datasets.files_differ",
                "{version} has other files at {paths}.",
                version=head.ref,
                paths=first_named(changed),
            ),
            paths=changed[:100],
        )
