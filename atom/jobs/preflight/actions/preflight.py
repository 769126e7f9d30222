"""Looks at the datasets of a planned run before it is started; writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom.core.storage import ObjectMissing
from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.data_counts import DataCounts, count_data, selected_digests
from atom.datasets.browsing.engines.object_counts import ObjectCounts, count_objects
from atom.datasets.browsing.picture_samples import unreadable_among
from atom.datasets.browsing.queries import query_of
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.history import branch_of
from atom.datasets.catalog.reads import quarantined_among
from atom.datasets.catalog.stores import version_store
from atom.datasets.errors import DatasetDeleted, VersionExpired
from atom.datasets.models import Version
from atom.jobs.preflight.engines.preflight import Check, DatasetSelection, check_data
from atom.jobs.runs.actions.plan import RunPlan
from atom.jobs.runs.model_resolver import TrainingInput
from atom.jobs.workflows.engines.data_needs import DataNeeds
from atom_sdk.errors import ManifestError, ObjectNotFoundError


@dataclass(frozen=True)
class DatasetPreflight:
    """One dataset of the run: what it would read, and what fits or does not."""

    alias: str
    reference: str
    dataset: str
    ref: str
    # Where a remedy makes the next version.
    branch: str
    counts: DataCounts
    checks: list[Check]


def preflight(plan: RunPlan) -> list[DatasetPreflight]:
    """Return a look at each dataset that could be found; of a command, only that files are there.

    Raises VersionExpired and what reading a manifest raises.
    """
    definition = plan.workflow.definition if plan.workflow is not None else {}
    declared = definition.get("needs") or {}
    return [
        _look_at(plan, alias, version, DataNeeds(**declared.get(alias, {})))
        for alias, version in plan.inputs.items()
        if alias in plan.selectors or plan.workflow is None
    ]


def _look_at(plan: RunPlan, alias: str, version: Version, needs: DataNeeds) -> DatasetPreflight:
    selector = plan.selectors.get(alias, {})
    splits, where = selector.get("split"), query_of(selector.get("where", ""))
    browser = open_version(version)
    counts = count_data(browser, splits, where, needs.media)
    reference = f"{version.dataset.name}@{version.ref}"
    project = version.dataset.project
    model = next(iter(plan.models.values()), None)
    seen = _seen(browser, selector, model.trained_on) if model else _Seen()
    selected = DatasetSelection(
        reference=reference,
        counts=counts,
        splits=splits,
        is_narrowed=where is not None,
        undecodable=_undecodable(version, counts) if needs.media == "image" else {},
        quarantined_packs=len(quarantined_among(project, sorted(counts.packs))),
        trained_on=seen.files,
        unread_training=seen.unread,
        model=model.reference if model else "",
        drawn=_drawn(version, browser, selector) if needs.objects else ObjectCounts(),
    )
    return DatasetPreflight(
        alias,
        reference,
        version.dataset.name,
        version.ref,
        branch_of(version),
        counts,
        check_data(needs, selected),
    )


def _drawn(version: Version, browser: VersionBrowser, selector: dict[str, object]) -> ObjectCounts:
    split, where = selector.get("split"), query_of(str(selector.get("where") or ""))
    store = version_store(version.dataset.project).store
    return count_objects(browser, store, split if isinstance(split, list) else None, where)


def _undecodable(version: Version, counts: DataCounts) -> dict[str, str]:
    try:
        return unreadable_among(version.dataset.project, counts.sample)
    except ObjectMissing:
        # A pack is missing: the run's own warm-up reports that better.
        return {}


@dataclass(frozen=True)
class _Seen:
    """Files that a model was trained on (None: not counted), and versions that were not read."""

    files: int | None = None
    unread: tuple[str, ...] = ()


def _seen(
    browser: VersionBrowser, selector: dict[str, object], training: Sequence[TrainingInput]
) -> _Seen:
    """Count the selected files that a model was trained on, by their bytes."""
    split, where = selector.get("split"), query_of(str(selector.get("where") or ""))
    digests = selected_digests(browser, split if isinstance(split, list) else None, where)
    if digests is None:
        return _Seen()
    seen, unread = 0, []
    for one in training:
        try:
            seen = max(seen, _common(digests, one))
        except (VersionExpired, DatasetDeleted, ObjectMissing, ManifestError, ObjectNotFoundError):
            unread.append(f"{one.version.dataset.name}@{one.version.ref}")
    return _Seen(seen, tuple(sorted(set(unread))))


def _common(digests: pa.Array, training: TrainingInput) -> int:
    then = query_of(training.where)
    before = selected_digests(open_version(training.version), training.splits, then)
    if before is None:
        return 0
    return pc.sum(pc.is_in(digests, value_set=before)).as_py() or 0
