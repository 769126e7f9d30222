"""Recording how well a model version did."""

from __future__ import annotations

from atom.core.storage import objects
from atom.datasets.models import Version
from atom.jobs import states as job_states
from atom.jobs.models import Artifact, Run
from atom.models_registry.engines.evaluations import (
    MAX_BYTES,
    EvaluationResult,
    MalformedEvaluation,
    parse_evaluation,
)
from atom.models_registry.errors import ArtifactNotReady, EvaluationMalformed
from atom.models_registry.models import Evaluation, ModelVersion
from atom_sdk.sentences import Sentence

FILE = "evaluation.json"
_DATASET_ALIAS = "dataset"


def evaluation_artifact(run: Run) -> Artifact | None:
    """Return the run's newest stored `evaluation.json`.

    Raises ArtifactNotReady while one is still being checked: a run may be over before.
    """
    if run.artifacts.filter(path=FILE, state=job_states.LOCAL).exists():
        raise ArtifactNotReady(
            Sentence("models.file_not_stored", "Not stored yet: {files}.", files=FILE)
        )
    stored = run.artifacts.filter(path=FILE, state=job_states.PERSISTED)
    return stored.order_by("-attempt__number", "-created_at").first()


def record_evaluation(run: Run, version: ModelVersion) -> Evaluation | None:
    """Record the run's evaluation of `version`; None without the file or a dataset.

    Recording it again returns what there is. Raises EvaluationMalformed.
    """
    artifact, dataset_version = evaluation_artifact(run), evaluated_dataset(run)
    if artifact is None or dataset_version is None:
        return None
    result = _read(artifact)
    evaluation, _ = Evaluation.objects.get_or_create(
        model_version=version,
        run=run,
        split=result.split,
        defaults={
            "dataset_version": dataset_version,
            "n": result.n,
            "accuracy": result.accuracy,
            "metrics": result.metrics,
            "confusion": {"labels": result.labels, "matrix": result.matrix},
        },
    )
    return evaluation


def evaluated_dataset(run: Run) -> Version | None:
    """Return the dataset version that the run read: the input `dataset`, or its only one."""
    inputs = {one.alias: one.version for one in run.inputs.select_related("version")}
    if _DATASET_ALIAS in inputs:
        return inputs[_DATASET_ALIAS]
    return next(iter(inputs.values())) if len(inputs) == 1 else None


def _read(artifact: Artifact) -> EvaluationResult:
    if artifact.size_bytes > MAX_BYTES:
        raise EvaluationMalformed(
            Sentence(
                "models.evaluation_too_large",
                "evaluation.json has more than {max_bytes} bytes.",
                max_bytes=MAX_BYTES,
            )
        )
    try:
        return parse_evaluation(objects().get(artifact.key))
    except MalformedEvaluation as exc:
        raise EvaluationMalformed(str(exc)) from exc
