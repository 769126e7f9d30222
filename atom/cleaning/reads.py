"""Reads of findings."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom.cleaning import states
from atom.cleaning.engines.findings import of_kind, read_findings
from atom.cleaning.errors import ReportNotReady
from atom.cleaning.models import CleaningReport
from atom.core.storage import project_store
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom_sdk.sentences import Sentence

# As many as one removal or one label task takes.
MAX_SELECTED = 10_000
_CACHE_BYTES = 64 << 20
_tables: ByteCache[pa.Table] = ByteCache(_CACHE_BYTES, lambda table: int(table.nbytes) + 256)


def findings_of(report: CleaningReport) -> pa.Table:
    """Return all findings of a report. Raises ReportNotReady."""
    if report.state != states.READY:
        raise ReportNotReady(Sentence("core.state_is", "It is {state}.", state=report.state))
    store = project_store(report.version.dataset.project)
    return _tables.get(report.pk, lambda: read_findings(store.get(report.findings_key)))


def page(report: CleaningReport, kind: str, start: int, limit: int) -> tuple[list[Any], int]:
    """Return some findings of a kind, the worst first, and how many there are."""
    rows = of_kind(findings_of(report), kind)
    return rows.slice(start, limit).to_pylist(), len(rows)


def selected_paths(report: CleaningReport, kind: str, start: int) -> tuple[list[str], int]:
    """Return some files of a kind that should go, each once, and how many there are."""
    rows = of_kind(findings_of(report), kind)
    paths = list(dict.fromkeys(rows.filter(_leaves(rows))["path"].to_pylist()))
    return paths[start : start + MAX_SELECTED], len(paths)


def _leaves(rows: pa.Table) -> pa.ChunkedArray:
    return pc.invert(rows["stays"])
