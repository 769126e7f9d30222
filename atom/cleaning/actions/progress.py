"""Carrying a report on: measure what is new on a node, then compare here.

PENDING → MEASURING (a run of the workflow measure-images) → COMPARING → READY. Images are known by
their digests: the run is given what the dataset's last report knew, and is left out where that
covers the whole version. Every step may be done again.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pyarrow as pa
import structlog
from django.db import transaction
from django.db.models import F

from atom.cleaning import states
from atom.cleaning.actions.transitions import transition
from atom.cleaning.engines import findings
from atom.cleaning.engines.features import (
    FILE,
    MalformedFeatures,
    image_entries,
    is_all_known,
    joined,
    parse_features,
)
from atom.cleaning.errors import CleaningGivenUp, FeaturesMalformed, MeasuringFailed
from atom.cleaning.models import CleaningReport, FindingCount
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.core.storage import objects, project_store
from atom.datasets.catalog.reads import open_root
from atom.datasets.models import Version
from atom.jobs import states as job_states
from atom.jobs.models import Artifact
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.runs.actions.runs import create_run
from atom_sdk.manifests.joined import LayerJoin, iter_ranges
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

WORKFLOW = "measure-images"
_KNOWN = f"known/{FILE}"
_MAX_TRIES = 5


def open_reports(unchanged_since: datetime) -> list[str]:
    """Return the reports that may have something to do: none that moved a moment ago."""
    rows = CleaningReport.objects.filter(state__in=states.OPEN, updated_at__lt=unchanged_since)
    return [str(pk) for pk in rows.order_by("created_at").values_list("pk", flat=True)[:100]]


def advance(report_id: UUID | str) -> None:
    """Carry a report as far as it can go now; quietly nothing if another worker does."""
    with only_worker(report_id) as mine:
        report = CleaningReport.objects.for_display().filter(pk=report_id).first()
        if not mine or report is None or report.state not in states.OPEN:
            return
        try:
            _count_try(report)
            _advance(report)
        except AtomError as exc:
            log.warning("cleaning_report_failed", report_id=str(report_id), code=exc.code)
            transition(report, states.FAILED, error_code=exc.code, error_detail=str(exc))


def _advance(report: CleaningReport) -> None:
    if report.state == states.PENDING:
        _begin(report)
    if report.state == states.MEASURING:
        _look_at_run(report)
    if report.state == states.COMPARING:
        _compare(report)


def _count_try(report: CleaningReport) -> None:
    """Give up on a report that kills its worker each time. Waiting for a run is no try."""
    if report.state == states.MEASURING:
        return
    if report.tries >= _MAX_TRIES:
        raise CleaningGivenUp(
            Sentence("core.workers_gave_up", "{tries} workers have tried.", tries=_MAX_TRIES)
        )
    CleaningReport.objects.filter(pk=report.pk).update(tries=F("tries") + 1)


def _begin(report: CleaningReport) -> None:
    """Start the run, or do without one. Raises what creating a run raises."""
    last = CleaningReport.objects.measured(report.version.dataset).first()
    known = last.features if last is not None else None
    if known is not None and is_all_known(_entries(report.version), _features(known)):
        transition(report, states.COMPARING, features=known)
        return
    if report.created_by is None:
        raise MeasuringFailed(
            Sentence(
                "cleaning.report_owner_gone",
                (
                    "The account that asked for the report no longer exists, so its run has no "
                    "owner."
                ),
            )
        )
    version = report.version
    request = RunRequest(
        name=f"Measure images of {version.dataset.name}@{version.ref}",
        workflow=WORKFLOW,
        parameters={"dataset": f"{version.dataset.name}@{version.ref}"},
        files={_KNOWN: known} if known is not None else {},
    )
    with transaction.atomic():
        run = create_run(version.dataset.project, report.created_by, request)
        if not transition(report, states.MEASURING, run=run):
            # Cancelled meanwhile: no run is to be left behind.
            transaction.set_rollback(True)


def _look_at_run(report: CleaningReport) -> None:
    run = report.run
    if run is None:
        raise MeasuringFailed(Sentence("cleaning.run_deleted", "Its run was deleted."))
    if run.state in (job_states.FAILED, job_states.CANCELLED):
        raise MeasuringFailed(f"Run {run.number} is {run.state}. {run.failure_reason}".strip())
    if run.state != job_states.SUCCEEDED:
        return
    stored = run.artifacts.filter(path=FILE, state=job_states.PERSISTED)
    artifact = stored.order_by("-attempt__number", "-created_at").first()
    if artifact is None:
        raise FeaturesMalformed(
            Sentence(
                "cleaning.run_left_no_file", "Run {run} left no {file}.", run=run.number, file=FILE
            )
        )
    transition(report, states.COMPARING, features=artifact, tries=0)


def _compare(report: CleaningReport) -> None:
    """Compute the findings and store them; repeating it gives the same rows."""
    if report.features is None:
        raise FeaturesMalformed(
            Sentence("cleaning.measurement_gone", "The measurement is no longer stored.")
        )
    # Features that another version was measured for are known by digest only.
    table = joined(
        _entries(report.version), _features(report.features), by_path=report.run is not None
    )
    found = findings.find(table, report.thresholds)
    store = project_store(report.version.dataset.project)
    store.put(report.findings_key, findings.write_findings(found.table))
    with transaction.atomic():
        FindingCount.objects.filter(report=report).delete()
        FindingCount.objects.bulk_create(
            FindingCount(report=report, kind=one.kind, items=one.items, groups=one.groups)
            for one in findings.counts(found.table)
        )
        transition(report, states.READY, image_count=found.images, is_partial=found.is_partial)


def _features(artifact: Artifact) -> pa.Table:
    try:
        return parse_features(objects().get(artifact.key))
    except MalformedFeatures as exc:
        raise FeaturesMalformed(str(exc)) from exc


def _entries(version: Version) -> pa.Table:
    root, store = open_root(version), project_store(version.dataset.project)
    join = LayerJoin(root, store)
    return image_entries(join.join(table) for table in iter_ranges(root, store))
