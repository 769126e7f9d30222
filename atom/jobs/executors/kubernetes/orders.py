"""The order for the objects of an attempt in a cluster."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from atom.jobs.executors.kubernetes.engines.manifests import Order
from atom.jobs.models import Attempt, Placement
from atom_sdk.runner.build import bootstrap_source, build_runner

_GPU = "nvidia.com/gpu"


def installation() -> str:
    """Return the id by which clusters know this installation: the same for its restored backup."""
    return hashlib.sha256(b"atom installation " + settings.SECRET_KEY.encode()).hexdigest()[:16]


def pod_api_url() -> str:
    """Return Atom's address as pods reach it."""
    return str(settings.ATOM_POD_API_URL or settings.ATOM_PUBLIC_URL).rstrip("/")


@lru_cache(maxsize=1)
def runner_layer() -> tuple[Path, str]:
    """Return the runner that pods fetch, and its SHA-256 (hex)."""
    path = build_runner(Path(settings.ATOM_HOME) / "runner")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def order_of(attempt: Attempt, placement: Placement) -> Order:
    """Return the order for a placement's objects."""
    run = attempt.run
    _, digest = runner_layer()
    return Order(
        placement=str(placement.pk),
        run=str(run.pk),
        project=run.project.slug,
        installation=installation(),
        namespace=placement.namespace,
        name=placement.job_name,
        image=run.image or settings.ATOM_POD_IMAGE,
        api_url=pod_api_url(),
        runner_url=f"{pod_api_url()}/api/v1/runner/layers/{digest}/",
        runner_sha256=digest,
        bootstrap=bootstrap_source(),
        cpus=run.cpus,
        memory_bytes=run.memory_bytes,
        accelerators={_GPU: run.gpus} if run.gpus else {},
    )
