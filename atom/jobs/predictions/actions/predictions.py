"""The per-file predictions of a run, read once and kept in memory for the next pages."""

from __future__ import annotations

from atom.core.sentences import named_reason
from atom.core.storage import objects
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.errors import PredictionsMalformed, PredictionsMissing
from atom.jobs.models import Run
from atom.jobs.predictions.engines.predictions import (
    MAX_BYTES,
    MalformedPredictions,
    Predictions,
    parse_predictions,
)

FILE = "predictions.json"
_ALIAS = "dataset"
# By the digest of the file, which never changes.
_read: ByteCache[Predictions] = ByteCache(192 << 20, lambda one: one.size_bytes)


def predictions_of(run: Run) -> Predictions:
    """Return the newest stored predictions. Raises PredictionsMissing, PredictionsMalformed."""
    stored = run.artifacts.filter(path=FILE, state=states.PERSISTED)
    artifact = stored.order_by("-attempt__number", "-created_at").first()
    if artifact is None:
        raise PredictionsMissing
    if artifact.size_bytes > MAX_BYTES:
        raise PredictionsMalformed
    try:
        return _read.get(artifact.digest, lambda: parse_predictions(objects().get(artifact.key)))
    except MalformedPredictions as error:
        raise PredictionsMalformed(named_reason(FILE, error)) from error


def predicted_version(run: Run) -> Version | None:
    """Return the dataset version that the predictions are of: the input `dataset`, or the only."""
    rows = run.inputs.select_related("version__dataset__project")
    inputs = {one.alias: one.version for one in rows}
    only = next(iter(inputs.values())) if len(inputs) == 1 else None
    version: Version | None = inputs.get(_ALIAS, only)
    return version
