"""Folders and variables that a job finds on this machine."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from atom.cache.backends.local.paths import job_view, mounted_folder
from atom.clusters.models import Reservation
from atom.jobs.deliveries import MOUNT, STREAM, variable_of
from atom.jobs.executors.base import Surroundings
from atom.jobs.models import Attempt, Run, RunInput
from atom.jobs.runtimes.actions import runtimes
from atom.jobs.runtimes.pipelines.interpreter import library_path


def surroundings_of(attempt: Attempt) -> Surroundings:
    """Return the attempt's environment, GPUs and datasets on this machine."""
    return Surroundings(_environment(attempt.run), _devices(attempt), _datasets(attempt))


def _environment(run: Run) -> dict[str, str]:
    """Return the variables by which the job finds its runtime."""
    if run.runtime is None:
        return {}
    path = runtimes.path_of(run.runtime)
    return {
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
