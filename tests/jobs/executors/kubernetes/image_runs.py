"""Runs whose environments become images of a stand-in registry."""

from __future__ import annotations

import json
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.registration.actions.profiles import ProfileSettings, change_profile
from atom.core import storage
from atom.jobs import reconcile, states
from atom.jobs.executors import environments_in, start_build
from atom.jobs.models import EnvironmentBuild, Run, Runtime
from atom.jobs.runtimes.actions import build_results, cluster_builds
from atom_sdk.runner.archive import pack
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run
from tests.fakes.registry import Registry
from tests.jobs.executors.kubernetes.world import World

Json = dict[str, Any]
BASE = "team/python"


def push_to(world: World, registry: Registry, credentials: str | None = None) -> None:
    """Let an administrator name the repository of a cluster's images."""
    chosen = ProfileSettings(
        image_repository=f"{registry.host}/envs", image_credentials=credentials
    )
    change_profile(world.cluster, chosen, make_user(f"chooser-{registry.host}", is_superuser=True))


def queued(project: Project, world: World, image: str, **more: Any) -> Run:
    """Return a queued run with a requirement."""
    requirements = more.pop("requirements", "atom-pinned\n")
    runtime = environments_in(world.cluster).ensure(requirements, image, project)
    options = {"cluster": world.cluster, "state": states.QUEUED, "command": ["true"], **more}
    return make_run(project, image=image, runtime=runtime, **options)


def begin(run: Run) -> EnvironmentBuild:
    """Let a run wait for its environment, and its registry and cluster be asked."""
    reconcile.advance(run.pk)
    build = EnvironmentBuild.objects.get(runtime=run.runtime, ended_at=None)
    again(build)
    return EnvironmentBuild.objects.get(pk=build.pk)


def again(build: EnvironmentBuild) -> None:
    """Ask once more, whoever claims the build."""
    Runtime.objects.filter(pk=build.runtime_id).update(claimed_until=None)
    start_build(build.pk)


def packed(folder: Path) -> bytes:
    """Return the archive of a small environment."""
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "bin" / "tool").write_text("#!/atom/env/bin/python\n")
    archive = folder / "archive.tar.gz"
    pack(folder / "env", archive)
    return archive.read_bytes()


def report(token: str, name: str, body: Json) -> Any:
    """Send a report as the pod of a build."""
    headers = {"Authorization": f"Bearer {token}"}
    path = f"/api/v1/runner/environments/{name}/"
    return APIClient().post(path, body, format="json", headers=headers)


def send(build: EnvironmentBuild, world: World, content: bytes, **changed: Any) -> None:
    """Let the pod of a build send an archive."""
    token = world.join(build, world.pod(build)).json()["token"]
    storage.objects().put(cluster_builds.staging_key(build), content)
    described = {
        "sha256": sha256(content).hexdigest(),
        "archive_bytes": len(content),
        "python": "3.12.1",
        "machine": "x86_64",
        "size_bytes": 9,
        **changed,
    }
    assert report(token, "finish", described).status_code == 200


def finish(build: EnvironmentBuild, world: World, content: bytes, **changed: Any) -> Runtime:
    """Let the pod of a build send an archive, and the image be pushed."""
    send(build, world, content, **changed)
    build_results.verify(build.pk)
    return Runtime.objects.get(pk=build.runtime_id)


def unpack(registry: Registry, image: str, folder: Path) -> tuple[tuple[str, str], ...]:
    """Pull the last layer of an image as a node does; return its folders and their places."""
    name, _, digest = image.removeprefix(f"{registry.host}/").partition("@")
    _, manifest = registry.store.manifest(name, digest)
    layer = registry.store.blob(name, json.loads(manifest)["layers"][-1]["digest"])
    with tarfile.open(fileobj=BytesIO(layer)) as tar:
        tar.extractall(folder, filter="fully_trusted")
    return tuple((str(one), f"/atom/{one.name}") for one in sorted((folder / "atom").iterdir()))
