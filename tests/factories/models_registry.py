"""Finished runs with stored files, as a training run leaves them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from blake3 import blake3

from atom.core.storage import objects
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.models import Artifact, Attempt, Run, RunInput
from tests.factories.jobs import make_attempt, make_run

WEIGHTS = b"weights" * 100
DESCRIBED = {"framework": "pytorch", "metrics": {"accuracy": 0.75}, "signature": {"input": "8x8"}}
EVALUATION = {
    "split": "test",
    "n": 4,
    "accuracy": 0.75,
    "labels": ["cat", "dog"],
    "matrix": [[2, 0], [1, 1]],
}


def store_file(attempt: Attempt, path: str, data: bytes, **fields: Any) -> Artifact:
    """Return a persisted artifact whose bytes are in the object store."""
    key = f"p/{attempt.run.project_id}/runs/{attempt.run_id}/outputs/{attempt.pk}/{path}"
    objects().put(key, data)
    defaults = {
        "size_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "digest": blake3(data).hexdigest(),
        "kind": "model" if path.startswith("model/") else "output",
        "state": states.PERSISTED,
        "key": key,
    }
    return Artifact.objects.create(
        run=attempt.run, attempt=attempt, path=path, **{**defaults, **fields}
    )


def make_trained_run(
    *, dataset_version: Version | None = None, evaluation: Any = None, **fields: Any
) -> Run:
    """Return a succeeded run with `model/` and, if given, `evaluation.json`."""
    run = make_run(**fields)
    attempt = make_attempt(run, states.SUCCEEDED)
    store_file(attempt, "model/weights.pt", WEIGHTS)
    store_file(attempt, "model/atom.json", json.dumps(DESCRIBED).encode())
    if evaluation is not None:
        store_file(attempt, "evaluation.json", json.dumps(evaluation).encode())
    if dataset_version is not None:
        RunInput.objects.create(run=run, alias="dataset", version=dataset_version)
    return run
