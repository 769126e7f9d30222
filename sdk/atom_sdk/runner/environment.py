"""The environment of a user's command: little of ours, all of theirs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .config import AttemptPaths, Job, write_bytes, write_json

_KEPT = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE"})
_KEPT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_", "NCCL_", "OMP_")
_NEVER = ("ATOM_TOKEN", "ATOM_RUNNER_URL", "ATOM_API_URL", "ATOM_PLACEMENT", "ATOM_POD_TOKEN_FILE")


def build_environment(job: Job, paths: AttemptPaths) -> dict[str, str]:
    """Return the command's environment; write the files that it names."""
    env = _base(os.environ, job.inherit_env)
    env["HOME"] = str(paths.root / "home")
    env["TMPDIR"] = str(paths.root / "tmp")
    if job.environment:
        env["VIRTUAL_ENV"] = job.environment_dir
        env["PATH"] = f"{job.environment_dir}/bin:{env.get('PATH') or os.defpath}"
    env.update(job.env)
    env.update(job.secrets)
    env.update(_atom(job, paths))
    # A line that waits in the command's buffer is not live.
    env.setdefault("PYTHONUNBUFFERED", "1")
    # Threads that spin while they wait are many times slower on a machine that others use as well.
    env.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return env


def _base(ours: Mapping[str, str], inherit: bool) -> dict[str, str]:
    return {
        name: value
        for name, value in ours.items()
        if name not in _NEVER and (inherit or name in _KEPT or name.startswith(_KEPT_PREFIXES))
    }


def _ranks(ranks: Mapping[str, Any], paths: AttemptPaths) -> dict[str, str]:
    """Write the table of all ranks and the file of their hosts; return where they are."""
    table, hostfile = paths.root / "ranks.json", paths.root / "hostfile"
    write_json(table, ranks.get("table") or [])
    write_bytes(hostfile, str(ranks.get("hostfile") or "").encode("utf-8"))
    return {"ATOM_RANKS": str(table), "ATOM_HOSTFILE": str(hostfile)}


def _atom(job: Job, paths: AttemptPaths) -> dict[str, str]:
    parameters, datasets = paths.root / "parameters.json", paths.root / "datasets.json"
    write_json(parameters, job.parameters)
    write_json(datasets, {entry["alias"]: entry for entry in job.datasets})
    paths.metrics.touch()
    env = {
        "ATOM_RUN_ID": job.run,
        "ATOM_ATTEMPT": job.attempt,
        "ATOM_RUN_DIR": str(paths.root),
        "ATOM_OUTPUT_DIR": str(paths.outputs),
        "ATOM_CHECKPOINT_DIR": str(paths.checkpoints),
        "ATOM_INPUT_DIR": str(paths.inputs),
        "ATOM_METRICS_FILE": str(paths.metrics),
        "ATOM_PARAMETERS": str(parameters),
        "ATOM_DATASETS": str(datasets),
    }
    env.update(
        (str(entry["variable"]), str(entry["folder"]))
        for entry in job.datasets
        if entry.get("folder") and entry.get("variable")
    )
    if job.ranks:
        env.update(_ranks(job.ranks, paths))
    if job.resume:
        env["ATOM_RESUME_DIR"] = str(paths.resume)
        env["ATOM_RESUME_STEP"] = json.dumps(job.resume.get("step"))
    return env
