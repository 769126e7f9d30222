"""The description of a job that its runner gets: `job.json` and `GET runner/job/`."""

from __future__ import annotations

from typing import Any

from atom.core import storage
from atom.jobs.artifacts.actions import outputs
from atom.jobs.attempts.actions.gangs import gang_of, is_gang
from atom.jobs.attempts.engines import ranks
from atom.jobs.executors import executor_of
from atom.jobs.models import Attempt, Run
from atom.jobs.secrets.actions import secrets

URL_EXPIRES_S = 24 * 3600
GRACE_S = 10


def job_of(attempt: Attempt, rank: int = 0) -> dict[str, Any]:
    """Return the job of a rank, with fresh addresses. See the runner's README.

    Raises SecretsMissing.
    """
    job = _job_of(attempt)
    if is_gang(attempt.run):
        gang = gang_of(attempt)
        job["command"] = ranks.command_of(gang, rank, job["command"])
        job["env"] |= ranks.environment_of(gang, rank)
        job["ranks"] = {"table": ranks.table_of(gang), "hostfile": ranks.hostfile_of(gang)}
    return job


def _job_of(attempt: Attempt) -> dict[str, Any]:
    run = attempt.run
    around = executor_of(attempt).surroundings(attempt)
    return {
        "attempt": str(attempt.pk),
        "attempt_number": attempt.number,
        "run": str(run.pk),
        "name": run.name,
        "command": run.command,
        "env": {**_environment(run), **around.environment, **run.env, **around.devices},
        # Apart from the other variables: the runner keeps their values out of the log.
        "secrets": secrets.values_for(run),
        "workdir": "",
        "code": _code(run),
        "environment": around.archive,
        "inputs": _inputs(run),
        "datasets": around.datasets,
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
    """Return the variables by which the job does not use more than it has, and is traced."""
    threads = str(run.cpus)
    environment = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONUNBUFFERED": "1"}
    if run.trace_parent:
        environment["TRACEPARENT"] = run.trace_parent
    return environment


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
