"""The order for the objects of an attempt in a cluster."""

from __future__ import annotations

import hashlib
import os
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from atom.clusters.engines.documents import child
from atom.clusters.kubernetes.pod_address import pod_api_url
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.registration.engines.profiles import PodProfile
from atom.core import storage
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import InputVolume, Order
from atom.jobs.executors.kubernetes.pull_secrets import pull_secrets_of
from atom.jobs.models import Attempt, ClusterJob, DataGate, EnvironmentBuild, Placement, Run
from atom.jobs.runtimes.actions.runtimes import pip_options
from atom.jobs.runtimes.engines.requirements import has_hashes
from atom.jobs.runtimes.pipelines.builder import ensure_pip
from atom.jobs.runtimes.pipelines.runner_zip import runner_zip
from atom.jobs.runtimes.pipelines.sdk_wheel import ensure_wheel
from atom_sdk.runner.build import bootstrap_source

_ARCHIVE_EXPIRES_S = 24 * 3600
# pip unpacks and compiles large libraries, and the archive is packed and sent.
BUILD_CPUS = 1
BUILD_MEMORY_BYTES = 4 << 30
# zip's oldest date: the same pip gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def is_of(placement: ClusterJob, job: object) -> bool:
    """Return whether a Job is that of the placement, by its labels."""
    labels = child(job, "metadata", "labels")
    ours = {names.PLACEMENT: str(placement.pk), names.INSTALLATION: installation()}
    return all(labels.get(name) == value for name, value in ours.items())


@lru_cache(maxsize=1)
def pip_layer() -> tuple[Path, str]:
    """Return the server's pip as a zip that Python runs, and its SHA-256 (hex)."""
    home = Path(settings.ATOM_HOME)
    source = ensure_pip(home)
    path = home / "layers" / f"pip-{source.parent.name}.zip"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(one for one in source.rglob("*") if one.is_file()):
                info = zipfile.ZipInfo(f"pip/{file.relative_to(source).as_posix()}", _DATE)
                archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED)
        half.replace(path)
    return path, _sha256(path)


@lru_cache(maxsize=1)
def sdk_layer() -> tuple[Path, str]:
    """Return the wheel of the SDK, and its SHA-256 (hex)."""
    path = ensure_wheel(Path(settings.ATOM_HOME))
    return path, _sha256(path)


def layer_of(sha256: str) -> Path | None:
    """Return the program with this SHA-256 that pods may fetch, None if there is none."""
    for layer in (runner_zip, pip_layer, sdk_layer):
        path, digest = layer()
        if digest == sha256:
            return path
    return None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _layer_url(digest: str) -> str:
    return f"{pod_api_url()}/api/v1/runner/layers/{digest}/"


def archive_of(run: Run) -> dict[str, Any] | None:
    """Return where the run's environment is: packed, or in its image. None without one."""
    runtime = run.runtime
    if runtime is not None and runtime.pushed_image:
        return {"in_image": True}
    if runtime is None or not runtime.archive_key:
        return None
    return {
        "url": storage.objects().presign_get(runtime.archive_key, _ARCHIVE_EXPIRES_S),
        "sha256": runtime.archive_sha256,
        "size_bytes": runtime.archive_bytes,
    }


def build_spec(build: EnvironmentBuild) -> dict[str, Any]:
    """Return what the pod of a build asks for: it is in no object of the cluster."""
    files = {"pip": pip_layer(), "wheel": sdk_layer()}
    return {
        "requirements": build.runtime.requirements,
        "has_hashes": has_hashes(build.runtime.requirements),
        "pip_options": list(pip_options()),
        **{
            name: {"path": path.name, "url": _layer_url(digest), "sha256": digest}
            for name, (path, digest) in files.items()
        },
    }


def build_order(build: EnvironmentBuild) -> Order:
    """Return the order for the Job that builds an environment; its runtime is fetched."""
    _, digest = runner_zip()
    return Order(
        placement=str(build.pk),
        run="",
        project=build.project.slug,
        installation=installation(),
        namespace=build.namespace,
        name=build.job_name,
        image=build.base_image or build.runtime.image,
        api_url=pod_api_url(),
        runner_url=_layer_url(digest),
        runner_sha256=digest,
        bootstrap=bootstrap_source(),
        cpus=BUILD_CPUS,
        memory_bytes=BUILD_MEMORY_BYTES,
        image_pull_secrets=pull_secrets_of(build.project.slug),
        verb="build-environment",
        has_environment=True,
        deadline_s=settings.ATOM_RUNTIME_BUILD_TIMEOUT_S,
        profile=PodProfile.from_json(build.pod_profile),
    )


def order_of(attempt: Attempt, placement: Placement) -> Order:
    """Return the order for a placement's objects."""
    run = attempt.run
    _, digest = runner_zip()
    return Order(
        placement=str(placement.pk),
        run=str(run.pk),
        project=run.project.slug,
        installation=installation(),
        namespace=placement.namespace,
        name=placement.job_name,
        image=image_of(run),
        api_url=pod_api_url(),
        runner_url=_layer_url(digest),
        runner_sha256=digest,
        bootstrap=bootstrap_source(),
        cpus=run.cpus,
        memory_bytes=run.memory_bytes,
        accelerators=placement.accelerators,
        node_selector=placement.node_selector,
        preferred_nodes=tuple((name, weight) for name, weight in placement.preferred_nodes),
        ranks=run.nodes,
        image_pull_secrets=pull_secrets_of(run.project.slug),
        has_environment=run.runtime is not None and not run.runtime.pushed_image,
        has_runner=run.runtime is not None and run.runtime.pushed_runner == digest,
        profile=PodProfile.from_json(placement.pod_profile),
        inputs=input_volumes(run) if placement.has_volumes else (),
        queue=placement.queue,
        cluster_queue=placement.cluster_queue,
        is_gated=placement.has_gate and _waits_for_data(attempt),
    )


def _waits_for_data(attempt: Attempt) -> bool:
    return DataGate.objects.filter(attempt=attempt, opened_at=None).exists()


def input_volumes(run: Run) -> tuple[InputVolume, ...]:
    """Return a volume for each input of a run, by their aliases."""
    rows = run.inputs.order_by("alias").values_list("alias", "version_id")
    return tuple(
        InputVolume(names.volume_of(number), alias, str(version))
        for number, (alias, version) in enumerate(rows)
    )


def image_of(run: Run) -> str:
    """Return the image of a run's pods: that of its environment, if it has one."""
    if run.runtime is not None and run.runtime.pushed_image:
        return run.runtime.pushed_image
    built_in = run.runtime.image if run.runtime is not None else ""
    return run.image or built_in or str(settings.ATOM_POD_IMAGE)
