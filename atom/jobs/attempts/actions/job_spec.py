"""The description of a job that its runner gets: `job.json` and `GET runner/job/`."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from atom.cache.backends.local.paths import job_view, mounted_folder
from atom.clusters.models import Reservation
from atom.core import storage
from atom.jobs.artifacts.actions import outputs
from atom.jobs.deliveries import MOUNT, STREAM, variable_of
from atom.jobs.models import Attempt, Run, RunInput
from atom.jobs.runtimes.actions import runtimes
from atom.jobs.runtimes.pipelines.interpreter import library_path
from atom.jobs.secrets.actions import secrets

URL_EXPIRES_S = 24 * 3600
GRACE_S = 10


def job_of(attempt: Attempt) -> dict[str, Any]:
    """Return the job of an attempt, with fresh addresses. See the runner's README.

    Raises SecretsMissing.
    """
    run = attempt.run
    return {
        "attempt": str(attempt.pk),
        "attempt_number": attempt.number,
        "run": str(run.pk),
        "name": run.name,
        "command": run.command,
        "env": {**_environment(run), **run.env, **_devices(attempt)},
        # Apart from the other variables: the runner keeps their values out of the log.
        "secrets": secrets.values_for(run),
        "workdir": "",
        "code": _code(run),
        "inputs": _inputs(run),
        "datasets": _datasets(attempt),
        "parameters": run.parameters,
        "resources": {
            "cpus": run.cpus,
            "memory_bytes": run.memory_bytes,
            "gpus": run.gpus,
        },
        "timeout_s": run.timeout_s,
        "resume": _resume(run),
        "limits": {"grace_s": GRACE_S},
    }


def _environment(run: Run) -> dict[str, str]:
    """Return the variables by which the job finds its runtime and does not use more than it has."""
    threads = str(run.cpus)
    environment = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONUNBUFFERED": "1"}
    if run.trace_parent:
        environment["TRACEPARENT"] = run.trace_parent
    if run.runtime is None:
        return environment
    path = runtimes.path_of(run.runtime)
    return {
        **environment,
        **library_path(runtimes.job_python()),
        "VIRTUAL_ENV": str(path),
        "PATH": f"{path / 'bin'}:/usr/local/bin:/usr/bin:/bin",
    }


def _devices(attempt: Attempt) -> dict[str, str]:
    """Return what shows a job the GPUs that it holds, and hides those of others."""
    held = Reservation.objects.select_related("node").filter(attempt_id=attempt.pk).first()
    if held is None or not held.node.gpu_ids:
        return {}
    ids = ",".join(held.gpu_ids)
    return {"CUDA_VISIBLE_DEVICES": ids, "NVIDIA_VISIBLE_DEVICES": ids or "void"}


def _code(run: Run) -> dict[str, Any] | None:
    if run.code is None:
        return None
    return {
        "url": storage.objects().presign_get(run.code.key, URL_EXPIRES_S),
        "digest": run.code.digest,
        # The runner has no BLAKE3 of its own.
        "sha256": run.code.sha256,
        "size_bytes": run.code.size_bytes,
    }


def _inputs(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "path": file.path,
            "url": storage.objects().presign_get(file.artifact.key, URL_EXPIRES_S),
            "sha256": file.artifact.sha256,
            "size_bytes": file.artifact.size_bytes,
        }
        for file in run.files.select_related("artifact")
    ]


def _datasets(attempt: Attempt) -> list[dict[str, Any]]:
    views: list[dict[str, Any]] = []
    for one in attempt.run.inputs.select_related("version__dataset"):
        view = job_view(attempt.pk, one.alias)
        views.append(
            {
                "alias": one.alias,
                "index_path": str(view.index_path),
                "pack_dir": str(view.pack_dir),
                "reference": f"{one.version.dataset.name}@{one.version.ref}",
                "delivery": one.delivery,
                **_extras(attempt, one),
            }
        )
    return views


def _extras(attempt: Attempt, one: RunInput) -> dict[str, Any]:
    if one.delivery == MOUNT:
        folder = str(mounted_folder(attempt.pk, one.alias))
        return {"folder": folder, "variable": variable_of(one.alias)}
    if one.delivery == STREAM:
        return {"cache_bytes": settings.ATOM_STREAM_CACHE_BYTES}
    return {}


def _resume(run: Run) -> dict[str, Any] | None:
    checkpoint = outputs.latest_checkpoint(run)
    if checkpoint is None:
        return None
    return {
        "step": checkpoint.step,
        "files": [
            {
                "path": file.path,
                "url": storage.objects().presign_get(file.key, URL_EXPIRES_S),
                "sha256": file.sha256,
                "size_bytes": file.size_bytes,
            }
            for file in checkpoint.files
        ],
    }
