"""Imports in two steps: a run that looks, and a run that makes the version once it is confirmed.

Only jobs open archives and annotations of strangers, since jobs have a user, limits and a disk of
their own. The server reads their report.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from atom.accounts.models import Project, User
from atom.core.errors import AtomError, NotFound
from atom.core.field_errors import SLUG_PATTERN, SLUG_RULE
from atom.core.sentences import named_reason
from atom.core.storage import objects
from atom.datasets.browsing.engines.stored_files import files_at, files_below
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.errors import DatasetDeleted
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.errors import (
    ImportNotALook,
    ImportRefused,
    ImportReportMalformed,
    ImportReportMissing,
    InvalidImport,
    InvalidParameters,
    LossNotAccepted,
)
from atom.jobs.imports.engines.import_reports import (
    FILE,
    IMPORT,
    LABELS_LOST,
    LOOK,
    MAX_BYTES,
    ImportReport,
    MalformedImportReport,
    parse_import_report,
)
from atom.jobs.models import Run
from atom.jobs.runs.actions.plan_data import resolve_dataset
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.runs.actions.runs import create_run
from atom.jobs.runs.engines.refs import BadReferenceError, parse_reference
from atom.jobs.workflows.engines.parameters import WrongValueError
from atom_sdk.importers.effects import class_loss_text, percent
from atom_sdk.importers.losses import ClassLoss
from atom_sdk.sentences import Sentence

WORKFLOW = "import-annotations"
_PARAMETER = "parameters."
# How a request calls what the workflow calls otherwise.
_FIELDS = {"dataset": "source", "file_format": "format"}


@dataclass(frozen=True)
class ImportRequest:
    """An import that a person asks for; `choices` are parameters of the workflow."""

    source: str
    output: str
    path: str = ""
    images: str = ""
    choices: dict[str, Any] = field(default_factory=dict)


def start_look(project: Project, user: User, request: ImportRequest) -> Run:
    """Start a run that reports what an import would take and lose. Raises InvalidImport."""
    version = _source(project, user, request.source)
    _check_field("path", _check_path, version, request.path)
    _check_field("images", _check_path, version, request.images)
    _check_field("output", _check_output, project, request.output)
    parameters = {
        **request.choices,
        "dataset": request.source,
        "output": request.output,
        "path": request.path,
        "images": request.images,
    }
    return _create(project, user, LOOK, parameters)


def confirm(run: Run, user: User, accepted_loss: float | None) -> Run:
    """Start the import that a look reported; it refuses to lose more than a person accepted.

    `accepted_loss` is a share of objects and labels, 0 to 1; None accepts what the look allowed.
    The run checks it once more, against the files that it reads. Raises ImportReportMissing,
    ImportReportMalformed, ImportNotALook, ImportRefused, LossNotAccepted.
    """
    report = report_of(run)
    if not report.is_look or run.parameters.get("step") != LOOK:
        raise ImportNotALook
    refusal = report.refusal
    if refusal is not None and refusal["code"] != LABELS_LOST:
        raise ImportRefused(refusal["detail"], reason=refusal["code"])
    allowed = run.parameters["allowed_loss"] if accepted_loss is None else accepted_loss
    if above := report.above(allowed):
        raise LossNotAccepted(
            Sentence(
                "jobs.import_loses_too_much",
                "The import would lose {loss}; {accepted} was accepted.",
                loss=_loss_text(above[0]),
                accepted=percent(allowed),
            ),
            accepted_loss=allowed,
            losses=above,
        )
    values = {**run.parameters, "allowed_loss": allowed}
    if accepted_loss is not None:
        # The accepted share of a small class would allow more losses in the whole than reported.
        values["most_lost"] = report.lost
    return _create(run.project, user, IMPORT, values)


def _loss_text(loss: dict[str, Any]) -> Sentence:
    counts = ClassLoss(loss["kind"], loss.get("label"), loss["source"], loss["lost"])
    return class_loss_text(counts)


def report_of(run: Run) -> ImportReport:
    """Return the report that a run left. Raises ImportReportMissing, ImportReportMalformed."""
    # Any command may write a file of that name.
    if run.workflow is None or run.workflow.slug != WORKFLOW or run.workflow.project_id:
        raise ImportReportMissing
    stored = run.artifacts.filter(path=FILE, state=states.PERSISTED)
    artifact = stored.order_by("-attempt__number", "-created_at").first()
    if artifact is None:
        raise ImportReportMissing
    if artifact.size_bytes > MAX_BYTES:
        raise ImportReportMalformed
    try:
        return parse_import_report(objects().get(artifact.key))
    except MalformedImportReport as error:
        raise ImportReportMalformed(named_reason(FILE, error)) from error


def _create(project: Project, user: User, step: str, parameters: dict[str, Any]) -> Run:
    source = parameters["dataset"]
    name = f"Import {source}" if step == IMPORT else f"Look at {source} before an import"
    request = RunRequest(name=name, workflow=WORKFLOW, parameters={**parameters, "step": step})
    try:
        return create_run(project, user, request)
    except InvalidParameters as error:
        raise InvalidImport(errors={_field(key): said for key, said in error.errors.items()}) from (
            error
        )


def _field(key: str) -> str:
    name = key.removeprefix(_PARAMETER)
    return _FIELDS.get(name, name)


def _source(project: Project, user: User, text: str) -> Version:
    try:
        return resolve_dataset(project, user, text)
    except (BadReferenceError, AtomError) as error:
        raise InvalidImport(errors={"source": [str(error)]}) from error


def _check_field(name: str, check: Callable[..., None], *values: Any) -> None:
    """Raise InvalidImport for a value that the check refuses."""
    try:
        check(*values)
    except (WrongValueError, BadReferenceError, DatasetDeleted) as error:
        raise InvalidImport(errors={name: [str(error)]}) from error


def _check_path(version: Version, path: str) -> None:
    """Raise WrongValueError for a path that the version does not have."""
    wanted, browser = path.strip("/"), open_version(version)
    if not wanted or next(files_at(browser, [wanted]), None):
        return
    if not files_below(browser, f"{wanted}/", "", 1):
        raise WrongValueError(
            Sentence(
                "jobs.path_not_in_version", "The version has no file and no folder at this path."
            )
        )


def _check_output(project: Project, output: str) -> None:
    """Raise WrongValueError, BadReferenceError or DatasetDeleted if no version can be added."""
    reference = parse_reference(output)
    if reference.project not in (None, project.slug) or reference.view:
        raise WrongValueError(
            Sentence(
                "jobs.name_a_dataset",
                "Name a dataset of this project, and perhaps a branch: pets@main.",
            )
        )
    if not re.fullmatch(SLUG_PATTERN, reference.name):
        raise WrongValueError(SLUG_RULE)
    try:
        dataset = find_dataset(project, reference.name)
    except DatasetDeleted:
        raise
    except NotFound:
        if reference.ref == "main":
            return
        raise WrongValueError(
            Sentence(
                "jobs.dataset_new_without_branch",
                "There is no such dataset yet: name it without a branch.",
            )
        ) from None
    if not dataset.branches.filter(name=reference.ref).exists():
        raise WrongValueError(
            Sentence("jobs.dataset_lacks_branch", "The dataset has no branch of this name.")
        )
